// Tests submission when a batch fails or a project is disabled. Every email that passes must be in its sender's row, and no other may be
// sent.
import { sql } from "kysely";
import { afterEach, expect, test, vi } from "vitest";
import { databaseErrorCode, transaction } from "../../platform/database/database.ts";
import { armFailpoints } from "../../platform/failpoints.ts";
import { createLog } from "../../platform/log.ts";
import { RECIPIENT_CHECKS } from "../../suppressions/recipients.ts";
import { OUTBOX_WAIT, useOutbox } from "../../testing/outbox-fixture.ts";
import { createDoubtBrake } from "../doubt/doubt-brake.ts";
import type { Lease } from "../lease/lease.ts";
import type { Ready } from "../rows/prepared.ts";
import { openOrCloseProjectQueues } from "../outbox/queues.ts";
import { claimEmails } from "../sending/sender-queries.ts";
import { createPreSendCheck } from "./pre-send-check.ts";
import { createInDoubtLimit } from "./in-doubt-limit.ts";
import { acceptedOutcome } from "../../testing/accepted-outcome.ts";

/** https://www.postgresql.org/docs/current/errcodes-appendix.html */
const DEADLOCK_DETECTED = "40P01";

const outbox = useOutbox();
afterEach(() => armFailpoints([]));

/** Claims emails for a sender with a lease and creates its submission check. */
async function claimed(count: number) {
  const { database, projectId } = outbox;
  const senderId = await outbox.addLiveSender();
  await outbox.enqueue(Array.from({ length: count }, () => ({ kind: "TRANSACTIONAL" as const })));
  const rows = await claimEmails(database, {
    senderId,
    projectId,
    priority: 1,
    campaignId: null,
    limit: count,
    withoutDomains: [],
  });
  const log = createLog({ level: "silent" });
  const submission = createPreSendCheck({
    database,
    lease: { senderId: () => senderId, isHeld: () => true } as Lease,
    inDoubtLimit: createInDoubtLimit(count),
    brake: createDoubtBrake({ pause: async () => undefined, log }),
    recipients: RECIPIENT_CHECKS,
    ending: new AbortController().signal,
    log,
    metrics: outbox.metrics,
  });
  return { senderId, submission, mails: rows.map((row) => ({ row, listKind: null }) as Ready) };
}

const idsOf = (mails: readonly Ready[]) => mails.map(({ row }) => row.id).toSorted();

test("records all emails that pass after a failed batch as in doubt in the sender's row", async () => {
  const { senderId, submission, mails } = await claimed(4);
  armFailpoints([{ name: "sending.before_commit", action: "throw", turn: 1 }]);
  expect(await Promise.all(mails.map((mail) => submission.ask(mail)))).toEqual([true, true, true, true]);
  const { inDoubt } = await outbox.database
    .selectFrom("senders")
    .select("inDoubt")
    .where("id", "=", senderId)
    .executeTakeFirstOrThrow();
  expect(inDoubt.toSorted()).toEqual(idsOf(mails));
});

test("stops emails of a project disabled after the claim and keeps them waiting", async () => {
  const { submission, mails } = await claimed(2);
  await transaction(outbox.database, (tx) => openOrCloseProjectQueues(tx, [outbox.projectId], false));
  expect(await Promise.all(mails.map((mail) => submission.ask(mail)))).toEqual([false, false]);
  await transaction(outbox.database, (tx) => openOrCloseProjectQueues(tx, [outbox.projectId], true));
  expect(await Promise.all(mails.map((mail) => submission.ask(mail)))).toEqual([true, true]);
});

test("records a result even if its transaction is chosen to end a deadlock", async () => {
  let found = await recordInDeadlock();
  // On a slow machine the other transaction may wait long enough to be chosen instead.
  while (found.other === DEADLOCK_DETECTED) found = await recordInDeadlock();
  expect(found).toMatchObject({ other: "committed", isRecorded: true, row: { status: "SENT", attempts: 1 } });
});

/** Records a result in a deadlock, and returns how the other transaction ended and what was recorded. */
async function recordInDeadlock() {
  const { senderId, submission, mails } = await claimed(1);
  const [id = ""] = idsOf(mails);
  await submission.ask(mails[0] as Ready);
  const { promise: recording, resolve: record } = Promise.withResolvers<boolean>();
  const other = await outbox.database
    .transaction()
    .execute(async (tx) => {
      await sql`select 1 from senders where id = ${senderId} for update`.execute(tx);
      record(submission.record(acceptedOutcome(outbox.projectId, id), senderId));
      await aLockIsAwaited();
      // The recording transaction holds the email and waits for the sender. It waits longer, so PostgreSQL cancels it.
      await sql`select 1 from emails where id = ${id} for update`.execute(tx);
      return "committed";
    })
    .catch((error: unknown) => databaseErrorCode(error));
  return { other, isRecorded: await recording, row: await outbox.row(id) };
}

async function aLockIsAwaited(): Promise<void> {
  await vi.waitFor(async () => {
    const { rows } = await sql`select 1 from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock'`.execute(outbox.database);
    expect(rows).toHaveLength(1);
  }, OUTBOX_WAIT);
}
