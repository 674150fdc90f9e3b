// The calls of /v1/send that were answered 2xx in the last minutes: those that a database forgot when a standby took over cannot be brought
// back, but they are counted and named.
import { nowMs } from "../platform/clock.ts";
import type { Log } from "../platform/log.ts";
import type { Witness } from "../platform/stamp/stamp.ts";
import { listMissingEmails } from "./queries.ts";
import type { SendAnswer } from "./send.ts";

export interface RecentSends extends Witness {
  note(call: { requestId: string; projectId: string; answer: SendAnswer }): void;
}

const REACH_MS = 5 * 60_000;
const MAX_CALLS = 20_000;
/** Ids of one line of the log. */
const NAMED = 100;

interface NotedCall {
  requestId: string;
  projectId: string;
  /** The first of the call: all of them were written together. */
  emailId: string;
  atMs: number;
}

export function createRecentSends(log: Log): RecentSends {
  /** In the order of their answers; of calls with one request id the last. */
  const calls = new Map<string, NotedCall>();

  return {
    note({ requestId, projectId, answer }) {
      const [first] = answer.emails;
      if (first === undefined) return;
      const atMs = nowMs();
      calls.delete(requestId);
      calls.set(requestId, { requestId, projectId, emailId: first.email, atMs });
      for (const [oldest, call] of calls) {
        if (call.atMs >= atMs - REACH_MS && calls.size <= MAX_CALLS) break;
        calls.delete(oldest);
      }
    },
    // Nothing is sent twice for want of these: they do not count for how far back the process remembers.
    sinceMs: () => 0,
    async putRight(database) {
      const noted = [...calls.values()];
      const missing = await listMissingEmails(database, noted);
      const lost = noted.filter(({ emailId }) => missing.has(emailId));
      for (let at = 0; at < lost.length; at += NAMED) {
        const requests = lost
          .slice(at, at + NAMED)
          .map(({ requestId, projectId, emailId }) => ({ requestId, projectId, emailId }));
        log.error(
          { count: lost.length, requests },
          "calls of /v1/send were answered and are gone with the database that failed: make them again",
        );
      }
    },
  };
}
