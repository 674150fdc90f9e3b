// Tests that the counts of campaigns, workflow steps and templates equal a recount of the emails. The outbox fixture recounts after each test.
import { sql } from "kysely";
import { expect, test } from "vitest";
import type { Resolution } from "@postloft/contract/emails.ts";
import { onlyProject } from "../../platform/database/cluster.ts";
import { transaction, type Tx } from "../../platform/database/database.ts";
import { newId } from "../../platform/ids.ts";
import { useOutbox } from "../../testing/outbox-fixture.ts";
import { requeueFailedEmails, skipCampaignEmails } from "../outbox/campaign-queries.ts";
import { updateResolved } from "../reading/resolve-queries.ts";
import { advanceEmails, confirmSent } from "../returned/returned-emails.ts";
import { lockEmailRows } from "../rows/lock-queries.ts";
import type { OutcomeRow } from "../rows/outcome.ts";
import { RETURNED_STATUSES, type ReturnedStatus } from "../rows/rules.ts";
import { sumEmailCounts } from "./email-count-queries.ts";
import { findWrongCounts, readEmailCounts, recordUnsubscribed, recountEmails } from "./email-counts.ts";
import { updateLateSent } from "./late-queries.ts";
import { updateOutcomes } from "./outcome-queries.ts";
import { acceptedOutcome } from "../../testing/accepted-outcome.ts";

const outbox = useOutbox();
/** Queues emails of one campaign that also name a template and a workflow step. */
async function enqueue(count: number) {
  const [campaignId, templateId, stepId] = [newId(), newId(), newId()];
  const ids = await outbox.enqueue(Array.from({ length: count }, () => ({ campaignId })));
  await sql`update emails set template_id = ${templateId}, workflow_step_id = ${stepId}`.execute(
    outbox.database,
  );
  return { ids, campaignId, templateId, stepId };
}

const countsOf = async (id: string) => (await readEmailCounts(outbox.database, outbox.projectId, [id]))[0];

const at = new Date("2026-11-01T12:00:00Z");
const outcome = (id: string, status: OutcomeRow["status"]): OutcomeRow => {
  const accepted = acceptedOutcome(outbox.projectId, id);
  return status === "SENT" ? accepted : { ...accepted, status, sent: null };
};

const noted = () => Promise.resolve();
const attemptOf = (id: string) =>
  sql`(${outbox.projectId}::uuid, ${id}::uuid, 1::smallint, 'uncertain', '', now(), 'smtp')`;

/** Ends emails of which a sender has claimed and submitted the queued ones. `before` happens before the reply. */
async function end(
  tx: Tx,
  ids: readonly string[],
  status: OutcomeRow["status"],
  before: () => Promise<unknown> = noted,
) {
  const senderId = newId();
  await sql`
    insert into senders (id, lease_until, in_doubt) values (${senderId}, now() + interval '1 hour', ${ids}::uuid[])`.execute(
    tx,
  );
  await sql`
    update emails set status = 'CLAIMED', sender_id = ${senderId}
    where id = any(${ids}::uuid[]) and status = 'QUEUED'`.execute(tx);
  await before();
  await updateOutcomes(
    tx,
    senderId,
    ids.map((id) => outcome(id, status)),
  );
  if (status === "UNCONFIRMED")
    await sql`
      insert into email_attempts values ${sql.join(ids.map(attemptOf))} on conflict do nothing`.execute(tx);
}

const stepsOf = (ids: readonly string[]) => ids.map((id) => ({ projectId: outbox.projectId, id, at }));
const report = (tx: Tx, ids: readonly string[], status: ReturnedStatus) =>
  advanceEmails(
    tx,
    stepsOf(ids).map((step) => ({ ...step, status })),
    noted,
  );

const resolve = (tx: Tx, ids: readonly string[], as: Resolution) =>
  updateResolved(
    tx,
    { projectId: outbox.projectId, campaignId: null, ids },
    { as, by: null, failedReason: "no" },
    100,
  );

const late = async (tx: Tx, ids: readonly string[]) =>
  updateLateSent(
    tx,
    ids.map((id) => ({ outcome: outcome(id, "SENT"), attempt: 1 })),
    await onlyProject(tx, outbox.projectId),
  );

/** Everything that changes the counts of emails, apart from the pre-send check and batches, which the tests of the sender change. */
const CHANGES: ReadonlyArray<(tx: Tx, ids: readonly string[], campaignId: string) => Promise<unknown>> = [
  (tx, ids) => end(tx, ids, "SENT"),
  (tx, ids) => end(tx, ids, "SENT", () => report(tx, ids, "BOUNCED")),
  (tx, ids) => end(tx, ids, "FAILED"),
  (tx, ids) => end(tx, ids, "SKIPPED"),
  (tx, ids) => end(tx, ids, "UNCONFIRMED"),
  (tx, ids) => end(tx, ids, "QUEUED"),
  (tx, ids) => report(tx, ids, "DELIVERED"),
  (tx, ids) => report(tx, ids, "OPENED"),
  (tx, ids) => report(tx, ids, "CLICKED"),
  (tx, ids) => report(tx, ids, "BOUNCED"),
  (tx, ids) => report(tx, ids, "COMPLAINED"),
  (tx, ids) => resolve(tx, ids, "sent"),
  (tx, ids) => resolve(tx, ids, "failed"),
  (tx, ids) => resolve(tx, ids, "retry"),
  (tx, ids) => late(tx, ids),
  (tx, ids) => confirmSent(tx, stepsOf(ids), noted),
  (tx, _ids, campaignId) => skipCampaignEmails(tx, { projectId: outbox.projectId, campaignId }, "no", 3),
  (tx, _ids, campaignId) => requeueFailedEmails(tx, { projectId: outbox.projectId, campaignId }),
  async (tx, ids) => {
    const links = await tx
      .selectFrom("emails")
      .select(["projectId", "id as emailId", "contactId"])
      .where("id", "in", [...ids])
      .execute();
    await recordUnsubscribed(
      tx,
      links.flatMap((link) => (link.contactId === null ? [] : [{ ...link, contactId: link.contactId }])),
    );
  },
];

/** Returns the pages that the counts of a campaign with sent emails are read from. */
async function pagesOf(recipients: number): Promise<number> {
  const campaignId = newId();
  const [first = ""] = await outbox.enqueue([{ campaignId }]);
  await sql`
    insert into emails (project_id, id, content_id, priority, status, to_address, campaign_id)
    select project_id, new_id(), content_id, priority, 'SENT', '', campaign_id from emails, generate_series(2, ${recipients}::integer)
    where id = ${first}`.execute(outbox.database);
  await sql`
    update email_counts set recipients = ${recipients}, sent = ${recipients - 1} where subject_id = ${campaignId}`.execute(
    outbox.database,
  );
  const [counts] = await sumEmailCounts(outbox.database, outbox.projectId, [campaignId]);
  expect(counts).toMatchObject({ recipients, sent: recipients - 1 });
  const { rows } = await sql<{ "QUERY PLAN": Array<{ Plan: Record<string, number> }> }>`
    explain (analyze, buffers, format json)
    select sum(sent) from email_counts where project_id = ${outbox.projectId} and subject_id = ${campaignId}`.execute(
    outbox.database,
  );
  const plan = rows[0]?.["QUERY PLAN"][0]?.Plan ?? {};
  return (plan["Shared Hit Blocks"] ?? 0) + (plan["Shared Read Blocks"] ?? 0);
}

test("counts each email for its campaign, template and workflow step, once for each report", async () => {
  const { ids, campaignId, templateId, stepId } = await enqueue(10);
  await transaction(outbox.database, async (tx) => {
    for (const [place, status] of (["SENT", "FAILED", "SKIPPED", "UNCONFIRMED", "QUEUED"] as const).entries())
      await end(tx, place === 0 ? ids.slice(0, 6) : ids.slice(5 + place, 6 + place), status);
    for (let round = 0; round < 2; round++)
      for (const [place, status] of RETURNED_STATUSES.entries())
        await report(tx, ids.slice(0, 1 + place), status);
  });
  const counts = {
    sent: 6,
    failed: 1,
    skipped: 1,
    unconfirmed: 1,
    ...Object.fromEntries(RETURNED_STATUSES.map((status, place) => [status.toLowerCase(), 1 + place])),
  };
  expect(await countsOf(campaignId)).toMatchObject({ recipients: 10, ...counts });
  for (const id of [templateId, stepId])
    expect(await countsOf(id)).toMatchObject({ recipients: 0, ...counts });
});

test("equals a recount after each change of every email, in many orders", async () => {
  const { ids, campaignId } = await enqueue(12);
  const { database, projectId } = outbox;
  for (let round = 0; round < 6 * CHANGES.length; round++) {
    const change = CHANGES[(round * 7 + Math.floor(round / CHANGES.length) * 5) % CHANGES.length];
    const own = ids.filter((_id, place) => (place + round) % 3 === 0);
    await transaction(database, async (tx) => change?.(tx, own, campaignId));
    expect(await findWrongCounts(database, projectId)).toEqual([]);
  }
});

test("equals a recount after concurrent changes of which some are rolled back", async () => {
  const { ids, campaignId } = await enqueue(60);
  const { database, projectId } = outbox;
  const undone = new Error("undone");
  const workers = Array.from({ length: 8 }, async (_, worker) => {
    for (let round = 0; round < 12; round++) {
      const own = ids.filter((_id, place) => place % 8 === (worker + round) % 8);
      await transaction(database, async (tx) => {
        await lockEmailRows(
          tx,
          own.map((id) => ({ projectId, id })),
        );
        for (let step = 0; step < 3; step++)
          await CHANGES[(worker * 5 + round * 7 + step) % 16]?.(tx, own, campaignId);
        if ((worker + round) % 3 === 1) throw undone;
      }).catch((error: unknown) => {
        if (error !== undone) throw error;
      });
    }
  });
  await Promise.all(workers);
  expect(await findWrongCounts(database, projectId)).toEqual([]);
  const { rows } = await sql<{ count: number }>`
    select count(*)::integer as count from email_counts where subject_id = ${campaignId}`.execute(database);
  // One row of the snapshot, and at most one per concurrent transaction.
  expect(rows[0]?.count).toBeLessThanOrEqual(1 + workers.length);
});

test("counts while another transaction has changed the same campaign and not committed", async () => {
  const { ids, campaignId } = await enqueue(2);
  await transaction(outbox.database, async (tx) => {
    await end(tx, ids.slice(0, 1), "SENT");
    await transaction(outbox.database, (other) => end(other, ids.slice(1), "SENT"));
    expect(await countsOf(campaignId)).toMatchObject({ sent: 1 });
  });
  expect(await countsOf(campaignId)).toMatchObject({ sent: 2 });
});

test("reads as many pages for a large campaign as for a small one", async () => {
  const [small, large] = [await pagesOf(2), await pagesOf(20_000)];
  expect(large).toBe(small);
});

test("finds a wrong count by a recount and says what differs", async () => {
  const { ids, campaignId } = await enqueue(2);
  await transaction(outbox.database, (tx) => end(tx, ids.slice(0, 1), "SENT"));
  expect((await recountEmails(outbox.database, 5)).wrong).toEqual([]);
  await sql`update email_counts set sent = sent + 1 where subject_id = ${campaignId}`.execute(
    outbox.database,
  );
  const wrong = [
    { projectId: outbox.projectId, subjectId: campaignId, differences: ["sent 2 instead of 1"] },
  ];
  expect(await recountEmails(outbox.database, 5)).toMatchObject({ projects: 1, wrong });
  expect(await findWrongCounts(outbox.database, outbox.projectId, campaignId)).toEqual(wrong);
  await sql`update email_counts set sent = sent - 1 where subject_id = ${campaignId}`.execute(
    outbox.database,
  );
});
