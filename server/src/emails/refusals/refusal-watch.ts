// Notices when a destination refuses mail of a campaign, or list mail of no campaign, for reasons of ours: more than a fifth of the last
// mails there. In memory, one per sending process; it costs a look into a map for each mail.
import { LRUCache } from "lru-cache";
import { destinationOf } from "../../transports/destinations.ts";
import type { ListKind } from "../../message/message-headers.ts";
import type { Log } from "../../platform/log.ts";
import type { Outcome } from "../../transports/transport.ts";

/** From so many refusals by policy among the last mails to one destination on. */
export const DESTINATION_REFUSAL_LIMIT = { refused: 11, last: 50 } as const;

export interface RefusedDestination {
  projectId: string;
  /** null: list mail of no campaign. */
  campaignId: string | null;
  destination: string;
  /** What the newest refused mail was told. */
  answer: string;
}

interface WatchedMail {
  row: { projectId: string; campaignId: string | null; toAddress: string };
  listKind: ListKind | null;
}

export interface RefusalWatch {
  note(mail: WatchedMail, outcome: Outcome): void;
  /** Whether its destination was paused a moment ago: what this process had in hand by then goes back and is parked. */
  isPaused(mail: WatchedMail): boolean;
}

interface State {
  /** Of the last mails, whether each was refused. */
  last: boolean[];
  isAsked: boolean;
  pausedUntilMs: number;
}

const MAX_WATCHED = 10_000;
/** By then nothing of it is claimed any more: claims leave out what is paused. */
const GIVEN_BACK_MS = 10_000;

/** Somebody waits for each of the others. */
const isWatched = ({ row, listKind }: WatchedMail) => row.campaignId !== null || listKind !== null;

const keyOf = ({ row: { projectId, campaignId, toAddress } }: WatchedMail) =>
  `${projectId} ${campaignId} ${destinationOf(toAddress)}`;

/**
 * @param pause returns whether the destination is paused now; a campaign that goes nowhere else is not paused in part.
 */
export function createRefusalWatch(
  pause: (refused: RefusedDestination) => Promise<boolean>,
  log: Pick<Log, "warn">,
  nowMs: () => number = () => performance.now(),
): RefusalWatch {
  const states = new LRUCache<string, State>({ max: MAX_WATCHED });

  async function ask(state: State, refused: RefusedDestination): Promise<void> {
    state.isAsked = true;
    const isPaused = await pause(refused).catch((error: unknown) => {
      log.warn(
        { err: error, ...refused },
        "a destination could not be paused; after as many refusals it is tried again",
      );
      return false;
    });
    if (isPaused) state.pausedUntilMs = nowMs() + GIVEN_BACK_MS;
    state.isAsked = false;
    state.last = [];
  }

  return {
    note(mail, outcome) {
      const { campaignId, projectId } = mail.row;
      if (!isWatched(mail) || (outcome.kind !== "sent" && outcome.kind !== "rejected")) return;
      const isRefused = outcome.kind === "rejected" && outcome.meaning === "policy";
      const key = keyOf(mail);
      let state = states.get(key);
      if (state === undefined) {
        // Where nobody is refused nothing is kept.
        if (!isRefused) return;
        state = { last: [], isAsked: false, pausedUntilMs: 0 };
        states.set(key, state);
      }
      state.last.push(isRefused);
      if (state.last.length > DESTINATION_REFUSAL_LIMIT.last) state.last.shift();
      const refused = state.last.filter(Boolean).length;
      if (state.isAsked || refused < DESTINATION_REFUSAL_LIMIT.refused) return;
      void ask(state, {
        projectId,
        campaignId,
        destination: destinationOf(mail.row.toAddress),
        answer: outcome.answer,
      });
    },
    isPaused: (mail) => isWatched(mail) && (states.get(keyOf(mail))?.pausedUntilMs ?? 0) > nowMs(),
  };
}
