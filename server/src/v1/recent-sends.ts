// Remembers the calls of /v1/send that succeeded in the last minutes. If a standby takes over without them, they cannot be recovered but
// are counted and logged.
import { nowMs } from "../platform/clock.ts";
import type { Log } from "../platform/log.ts";
import type { RecoveryParticipant } from "../platform/stamp/stamp.ts";
import { listMissingEmails } from "./queries.ts";
import type { SendResponse } from "./accept-sends.ts";

export interface RecentSends extends RecoveryParticipant {
  note(call: { requestId: string; projectId: string; response: Pick<SendResponse, "emails"> }): void;
}

const REACH_MS = 5 * 60_000;
const MAX_CALLS = 20_000;
/** Ids per log line. */
const NAMED = 100;

interface RecentCall {
  requestId: string;
  projectId: string;
  /** The first email of the call. All were stored together. */
  emailId: string;
  atMs: number;
}

export function createRecentSends(log: Log): RecentSends {
  /** In the order of the responses. A request id keeps only its last call. */
  const calls = new Map<string, RecentCall>();

  return {
    note({ requestId, projectId, response }) {
      const [first] = response.emails;
      if (first === undefined) return;
      const atMs = nowMs();
      calls.delete(requestId);
      calls.set(requestId, { requestId, projectId, emailId: first.email, atMs });
      for (const [oldest, call] of calls) {
        if (call.atMs >= atMs - REACH_MS && calls.size <= MAX_CALLS) break;
        calls.delete(oldest);
      }
    },
    // Losing these entries cannot cause a duplicate, so they do not extend the recovery window.
    sinceMs: () => 0,
    async reconcile(database) {
      const noted = [...calls.values()];
      const missing = await listMissingEmails(database, noted);
      const lost = noted.filter(({ emailId }) => missing.has(emailId));
      for (let at = 0; at < lost.length; at += NAMED) {
        const requests = lost
          .slice(at, at + NAMED)
          .map(({ requestId, projectId, emailId }) => ({ requestId, projectId, emailId }));
        log.error(
          { count: lost.length, requests },
          "the database failover lost accepted calls of /v1/send, send them again",
        );
      }
    },
  };
}
