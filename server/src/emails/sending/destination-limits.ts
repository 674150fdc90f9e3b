// Limits concurrent submissions per destination. The limit starts low, grows with each successful round and halves when the destination
// throttles us. One instance per sending process. Uses no clock and no database.
import { LRUCache } from "lru-cache";
import type { Outcome } from "../../transports/transport.ts";

/** What an attempt showed about its destination. `unknown` means that it ended for other reasons. */
export type Echo = "taken" | "throttled" | "unknown";

export function echoOf(outcome: Outcome): Echo {
  if (outcome.kind === "sent") return "taken";
  return outcome.kind === "deferred" && outcome.throttled === true ? "throttled" : "unknown";
}

export interface DestinationLimits {
  mayStart(destination: string): boolean;
  /** Starts an attempt. The caller must call the returned function exactly once. */
  start(destination: string): (echo: Echo) => void;
  limitOf(destination: string): number;
  /** Whether the destination's limit is below the maximum. */
  isConstrained(destination: string): boolean;
}

interface State {
  limit: number;
  active: number;
  /** Accepted attempts since the limit last changed. A round is as many as the limit. */
  takenInRound: number;
  /** The limit doubles with each round until the first throttling, and then grows by one. */
  doubles: boolean;
  /** Incremented with each halving, to ignore attempts that started before the latest one. */
  halvings: number;
}

const FIRST_LIMIT = 2;
/** Limits are kept for this many destinations and for one hour after the last email. */
const MAX_DESTINATIONS = 10_000;
const KEPT_MS = 60 * 60_000;

/** @param maximum the maximum number of connections per destination */
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
