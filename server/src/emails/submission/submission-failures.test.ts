// Tests submission when a batch fails or a project is disabled. Every email that passes must be in its sender's row, and no other may be
// sent.
import { sql } from "kysely";
import { afterEach, expect, test, vi } from "vitest";
import { transaction } from "../../platform/database/database.ts";
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
  const { senderId, submission, mails } = await claimed(1);
  const [id = ""] = idsOf(mails);
  expect(await submission.ask(mails[0] as Ready)).toBe(true);
  const recorded = await transaction(outbox.database, async (tx) => {
    await sql`select 1 from senders where id = ${senderId} for update`.execute(tx);
    const booking = submission.book(acceptedOutcome(outbox.projectId, id), senderId);
    await vi.waitFor(async () => {
      const { rows } = await sql`select 1 from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock'`.execute(outbox.database);
      expect(rows).toHaveLength(1);
    }, OUTBOX_WAIT);
    // The recording transaction holds the email and waits for the sender. It waits longer, so PostgreSQL cancels it.
    await sql`select 1 from emails where id = ${id} for update`.execute(tx);
    return { booking };
  });
  expect(await recorded.booking).toBe(true);
  expect(await outbox.row(id)).toMatchObject({ status: "SENT", attempts: 1 });
});
