// How many mails may be in handover to one destination at once: few at first, more with each round that goes well, half when it throttles
// us. One per sending process; no clock, no database.
import { LRUCache } from "lru-cache";
import type { Outcome } from "../../transports/transport.ts";

/** What an attempt said about its destination; `unknown` when it ended for other reasons. */
export type Echo = "taken" | "throttled" | "unknown";

/** What an outcome says about the destination of the mail. */
export function echoOf(outcome: Outcome): Echo {
  if (outcome.kind === "sent") return "taken";
  return outcome.kind === "deferred" && outcome.throttled === true ? "throttled" : "unknown";
}

export interface DestinationLimits {
  mayStart(destination: string): boolean;
  /** Counts an attempt in; whoever did tells its echo, exactly once. */
  start(destination: string): (echo: Echo) => void;
  limitOf(destination: string): number;
  /** Whether it takes less than it could. */
  isConstrained(destination: string): boolean;
}

interface State {
  limit: number;
  active: number;
  /** Attempts taken since the limit last changed: as many as the limit make a round. */
  takenInRound: number;
  /** Before the first throttling the limit doubles with each round, then it grows by one. */
  doubles: boolean;
  /** Grows with each halving: attempts that began before it say what is known already. */
  halvings: number;
}

const FIRST_LIMIT = 2;
/** What was learned of a destination is kept for so many of them, and so long after its last mail. */
const MAX_DESTINATIONS = 10_000;
const KEPT_MS = 60 * 60_000;

/** @param maximum the most connections one destination may have. */
export function createDestinationLimits(maximum: number): DestinationLimits {
  const states = new LRUCache<string, State>({ max: MAX_DESTINATIONS, ttl: KEPT_MS, updateAgeOnGet: true });

  function stateOf(destination: string): State {
    const known = states.get(destination);
    if (known !== undefined) return known;
    const state = {
      limit: Math.min(FIRST_LIMIT, maximum),
      active: 0,
      takenInRound: 0,
      doubles: true,
      halvings: 0,
    };
    states.set(destination, state);
    return state;
  }

  return {
    mayStart(destination) {
      const { active, limit } = stateOf(destination);
      return active < limit;
    },
    start(destination) {
      const state = stateOf(destination);
      const { halvings } = state;
      state.active += 1;
      return (echo) => {
        state.active -= 1;
        if (echo === "taken") grow(state, maximum);
        else if (echo === "throttled" && halvings === state.halvings) halve(state);
      };
    },
    limitOf: (destination) => stateOf(destination).limit,
    isConstrained: (destination) => stateOf(destination).limit < maximum,
  };
}

function grow(state: State, maximum: number): void {
  state.takenInRound += 1;
  if (state.takenInRound < state.limit) return;
  state.takenInRound = 0;
  state.limit = Math.min(maximum, state.doubles ? state.limit * 2 : state.limit + 1);
}

function halve(state: State): void {
  state.limit = Math.max(1, Math.floor(state.limit / 2));
  state.takenInRound = 0;
  state.doubles = false;
  state.halvings += 1;
}
