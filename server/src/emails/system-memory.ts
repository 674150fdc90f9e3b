// What this process handed over of the installation's own mail in the last minutes: a database that fails over to a standby may have
// forgotten it, and would have it sent again.
// Before it: system-sender.ts tells what passed and how it ended. After it: system-mail-queries.ts, when the database is another one.
import { transaction, type Database } from "../platform/database.ts";
import type { Log } from "../platform/log.ts";
import type { Witness } from "../platform/stamp/stamp.ts";
import type { Lease } from "./lease.ts";
import { createRecentHandovers } from "./recent-handovers.ts";
import { endSystemMail, takeBackSystemMails, type SystemMailEnd } from "./system-mail-queries.ts";

export interface SystemMemory {
  /** A mail passed the handover check. */
  passed(id: string): void;
  /** How that handover ended; null: it surely was none. */
  ended(id: string, end: SystemMailEnd | null): void;
  witness: Witness;
}

/** There are few: as many in five minutes are none of an installation. */
const MAX_MAILS = 10_000;

export function createSystemMemory({ lease, log }: { lease: Lease; log: Log }): SystemMemory {
  /** `end` is null until there is an answer. */
  const mails = createRecentHandovers<{ end: SystemMailEnd | null }>(MAX_MAILS);

  /**
   * Does not renew the lease: the witness of the outbox does so after this one, and only from then on do others take it that this
   * process has come by, and claim.
   */
  async function putRight(database: Database): Promise<void> {
    const senderId = lease.senderId();
    const known = mails.all().filter(([, { end }]) => mustStand(end));
    const taken = await transaction(database, async (tx) => {
      const back = await takeBackSystemMails(
        tx,
        senderId,
        known.map(([id]) => id),
      );
      for (const [id, { end }] of known)
        if (end !== null && back.has(id)) await endSystemMail(tx, senderId, end);
      return back;
    });
    if (known.length > 0)
      log.warn(
        { remembered: known.length, systemMailIds: [...taken] },
        "what the database forgot of the installation's own mail was put right",
      );
  }

  return {
    passed: (id) => mails.passed(id, { end: null }),
    ended(id, end) {
      const known = mails.get(id);
      if (known === undefined) return;
      if (end === null) mails.forget(id);
      else known.end = end;
    },
    witness: { sinceMs: mails.sinceMs, putRight },
  };
}

/** Left, or may have left: what was refused may be tried again. */
function mustStand(end: SystemMailEnd | null): boolean {
  return end === null || end.status === "SENT" || end.status === "UNCONFIRMED";
}
