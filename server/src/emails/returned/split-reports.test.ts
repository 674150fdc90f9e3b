// Tests the recording of reports with a statement for each project, as on a cluster.
import { sql } from "kysely";
import { beforeEach, expect, test } from "vitest";
import { addLateSent } from "../../events/counts.ts";
import { treatAsCluster } from "../../platform/database/cluster.ts";
import { transaction } from "../../platform/database/database.ts";
import { newId } from "../../platform/ids.ts";
import { useOutbox } from "../../testing/outbox-fixture.ts";
import { findWrongCounts, readEmailCounts, recordUnsubscribed } from "../results/email-counts.ts";
import type { ReturnedStatus } from "../rows/rules.ts";
import { advanceEmails, confirmSent, lockEmails, recordSoftBounces } from "./returned-emails.ts";

const outbox = useOutbox();
beforeEach(() => treatAsCluster(outbox.database));

const at = new Date("2026-11-01T12:00:00Z");

/** Runs `work` while the database rejects statements that change emails of several projects, as a cluster does. */
async function rejectingMixedProjects(work: () => Promise<void>): Promise<void> {
  const { database } = outbox;
  await sql`
    create function reject_mixed_projects() returns trigger language plpgsql as $$ begin
      if (select count(distinct project_id) from changed) > 1 then raise exception 'emails of several projects'; end if;
      return null; end $$`.execute(database);
  await sql`
    create trigger reject_mixed_projects after update on emails referencing new table as changed
    for each statement execute function reject_mixed_projects()`.execute(database);
  try {
    await work();
  } finally {
    await sql`drop function reject_mixed_projects cascade`.execute(database);
  }
}

/** Queues an email of a campaign in each of two projects, and gives them a status. */
async function mailsOfTwoProjects(status: string) {
  const { database } = outbox;
  const projects = [outbox.projectId, await outbox.createProject()];
  const campaigns = projects.map(() => newId());
  const ids = await outbox.enqueue(
    projects.map((project, place) => ({ project, campaignId: campaigns[place] ?? "" })),
  );
  await sql`update emails set status = ${status}, attempts = 1 where id = any(${ids}::uuid[])`.execute(
    database,
  );
  if (status !== "QUEUED" && status !== "CLAIMED")
    await sql`update email_counts set ${sql.ref(status.toLowerCase())} = 1 where subject_id = any(${campaigns}::uuid[])`.execute(
      database,
    );
  const keys = ids.map((id, place) => ({ projectId: projects[place] ?? "", id }));
  const counts = async () =>
    Promise.all(
      keys.map(async ({ projectId }, place) => {
        expect(await findWrongCounts(database, projectId)).toEqual([]);
        return (await readEmailCounts(database, projectId, [campaigns[place] ?? ""]))[0];
      }),
    );
  return { keys, ids, counts };
}

const statusesOf = (ids: readonly string[]) =>
  Promise.all(ids.map(async (id) => (await outbox.row(id)).status));

test.for(["DELIVERED", "OPENED", "CLICKED", "BOUNCED", "COMPLAINED"] as const)(
  "records and counts %s of two projects with a statement for each",
  async (status: ReturnedStatus) => {
    const { keys, ids, counts } = await mailsOfTwoProjects("SENT");
    const steps = keys.toReversed().map((key) => ({ ...key, status, at }));
    await rejectingMixedProjects(async () => {
      const taken = await transaction(outbox.database, (tx) => advanceEmails(tx, steps, addLateSent));
      expect(taken).toEqual(keys.toReversed().map((key) => ({ ...key, status, isFirst: true })));
    });
    expect(await statusesOf(ids)).toEqual([status, status]);
    expect(await counts()).toMatchObject([{ [status.toLowerCase()]: 1 }, { [status.toLowerCase()]: 1 }]);
  },
);

test("records soft bounces, confirmations and opt-outs of two projects with a statement for each", async () => {
  const { keys, ids, counts } = await mailsOfTwoProjects("UNCONFIRMED");
  const steps = keys.map((key) => ({ ...key, at }));
  const contactIds = await Promise.all(ids.map(async (id) => (await outbox.row(id)).contactId ?? ""));
  await rejectingMixedProjects(async () => {
    await transaction(outbox.database, async (tx) => {
      await lockEmails(tx, keys);
      expect(await recordSoftBounces(tx, steps)).toEqual([true, true]);
      expect(await confirmSent(tx, steps, addLateSent)).toEqual([true, true]);
      await recordUnsubscribed(
        tx,
        keys.map(({ projectId }, place) => ({
          projectId,
          contactId: contactIds[place] ?? "",
          emailId: null,
        })),
      );
    });
  });
  expect(await statusesOf(ids)).toEqual(["SENT", "SENT"]);
  expect(await counts()).toMatchObject([
    { sent: 1, unsubscribed: 1 },
    { sent: 1, unsubscribed: 1 },
  ]);
});

test("a report about an email in submission moves it only if it proves acceptance", async () => {
  const { keys, ids } = await mailsOfTwoProjects("CLAIMED");
  const senderId = newId();
  await sql`insert into senders (id, lease_until, in_doubt)
    values (${senderId}, now() + interval '1 hour', ${ids}::uuid[])`.execute(outbox.database);
  await sql`update emails set sender_id = ${senderId} where id = any(${ids}::uuid[])`.execute(
    outbox.database,
  );
  const statuses = ["OPENED", "DELIVERED"] as const;
  const steps = keys.map((key, place) => ({ ...key, status: statuses[place] ?? "DELIVERED", at }));
  await transaction(outbox.database, (tx) => advanceEmails(tx, steps, addLateSent));
  expect(await statusesOf(ids)).toEqual(["SENDING", "DELIVERED"]);
});

test("a report cancels the retry of an email in doubt", async () => {
  const { keys, ids, counts } = await mailsOfTwoProjects("QUEUED");
  for (const { projectId, id } of keys)
    await sql`
      insert into email_attempts (project_id, email_id, attempt, outcome, answer, transport)
      values (${projectId}, ${id}, 1, 'uncertain', 'no reply', 'smtp')`.execute(outbox.database);
  await transaction(outbox.database, (tx) =>
    advanceEmails(
      tx,
      keys.map((key) => ({ ...key, status: "DELIVERED" as const, at })),
      addLateSent,
    ),
  );
  expect(await statusesOf(ids)).toEqual(["DELIVERED", "DELIVERED"]);
  expect(await counts()).toMatchObject([{ delivered: 1 }, { delivered: 1 }]);
});
