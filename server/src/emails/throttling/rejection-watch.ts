// Detects destinations that reject over a fifth of the latest emails for policy reasons. Counts each campaign separately, and bulk mail
// outside campaigns together. Kept in memory per sending process, at the cost of one map lookup per email.
import { LRUCache } from "lru-cache";
import { destinationOf } from "../../transports/destinations.ts";
import type { ListKind } from "../../message/message-headers.ts";
import type { Log } from "../../platform/log.ts";
import type { Outcome } from "../../transports/transport.ts";

/** Throttles a destination at this many policy rejections among its last emails. */
const DESTINATION_REJECTION_LIMIT = { refused: 11, last: 50 } as const;

export interface RefusedDestination {
  projectId: string;
  /** null: bulk mail outside campaigns. */
  campaignId: string | null;
  destination: string;
  /** The reply to the latest rejected email. */
  answer: string;
}

interface WatchedMail {
  row: { projectId: string; campaignId: string | null; toAddress: string };
  listKind: ListKind | null;
}

export interface RejectionWatch {
  note(mail: WatchedMail, outcome: Outcome): void;
  /** Returns whether the destination was just throttled. Emails claimed before that are released and deferred. */
  isPaused(mail: WatchedMail): boolean;
}

interface State {
  /** Whether each of the last emails was rejected. */
  last: boolean[];
  isAsked: boolean;
  pausedUntilMs: number;
}

const MAX_WATCHED = 10_000;
/** By then this process holds no emails for the destination, because claims exclude it. */
const GIVEN_BACK_MS = 10_000;

/** Other emails are not watched, because a person is waiting for each of them. */
const isWatched = ({ row, listKind }: WatchedMail) => row.campaignId !== null || listKind !== null;

const keyOf = ({ row: { projectId, campaignId, toAddress } }: WatchedMail) =>
  `${projectId} ${campaignId} ${destinationOf(toAddress)}`;

/** @param pause returns whether the destination is now throttled, which is false for a campaign without other destinations */
export function createRejectionMonitor(
  pause: (refused: RefusedDestination) => Promise<boolean>,
  log: Pick<Log, "warn">,
  nowMs: () => number = () => performance.now(),
): RejectionWatch {
  const states = new LRUCache<string, State>({ max: MAX_WATCHED });

  async function ask(state: State, refused: RefusedDestination): Promise<void> {
    state.isAsked = true;
    const isPaused = await pause(refused).catch((error: unknown) => {
      log.warn(
        { err: error, ...refused },
        "failed to pause a destination, retrying after the same number of rejections",
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
        // Keep no state for destinations without rejections.
        if (!isRefused) return;
        state = { last: [], isAsked: false, pausedUntilMs: 0 };
        states.set(key, state);
      }
      state.last.push(isRefused);
      if (state.last.length > DESTINATION_REJECTION_LIMIT.last) state.last.shift();
      const refused = state.last.filter(Boolean).length;
      if (state.isAsked || refused < DESTINATION_REJECTION_LIMIT.refused) return;
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
