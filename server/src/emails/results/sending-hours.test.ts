// Tests that the sending counters equal a recount of the emails, for any results in any order.
import { sql } from "kysely";
import { expect, test } from "vitest";
import { createScriptedTransport, refuseWith, TAKEN } from "../../testing/scripted-transport.ts";
import { useOutbox } from "../../testing/outbox-fixture.ts";
import { transaction } from "../../platform/database/database.ts";
import { addLateSent } from "../../events/counts.ts";
import { resolveEmails } from "../reading/resolve-emails.ts";
import { advanceEmails } from "../returned/returned-emails.ts";
import { recordLate } from "./late-replies.ts";
import { countMails, findMiscounts } from "./sending-hours.ts";

const outbox = useOutbox();

async function counted(): Promise<Record<string, number>> {
  const { rows } = await sql<Record<string, number>>`
    select sum(sent)::float8 as sent, sum(refused)::float8 as refused, sum(bounced)::float8 as bounced,
      sum(complained)::float8 as complained
    from sending_hours where project_id = ${outbox.projectId}`.execute(outbox.database);
  return rows[0] ?? {};
}

test("counts sent emails and unknown addresses but not policy rejections", async () => {
  const transport = createScriptedTransport();
  const [sent, gone, policy] = (await outbox.enqueue([{}, {}, {}])) as [string, string, string];
  transport.play = async (message, mayLeave) => {
    if (message.emailId === gone)
      return { kind: "rejected", answer: "550 5.1.1 unknown", meaning: "hard-bounce" };
    if (message.emailId === policy) return { kind: "rejected", answer: "550 5.7.1 no", meaning: "policy" };
    return (await mayLeave()) ? TAKEN : { kind: "withdrawn" };
  };
  await outbox.start(transport);
  await outbox.until(sent, "SENT");
  await outbox.until(gone, "FAILED");
  await outbox.until(policy, "FAILED");
  expect(await counted()).toEqual({ sent: 1, refused: 1, bounced: 0, complained: 0 });
  expect(await findMiscounts(outbox.database)).toEqual([]);
});

test("counts a retried email once when it is sent", async () => {
  const transport = createScriptedTransport();
  transport.play = async (message, mayLeave) =>
    message.attempt < 3
      ? { kind: "deferred", answer: "451 later", retryAfterMs: 0 }
      : (await mayLeave())
        ? TAKEN
        : { kind: "withdrawn" };
  const [id = ""] = await outbox.enqueue([{}]);
  await outbox.start(transport);
  await outbox.until(id, "SENT");
  expect(await counted()).toMatchObject({ sent: 1 });
  expect(await findMiscounts(outbox.database)).toEqual([]);
});

test("counts an email once when a report arrives before the reply", async () => {
  const transport = createScriptedTransport();
  const projectId = outbox.projectId;
  const [id = ""] = await outbox.enqueue([{}]);
  transport.play = async (_message, mayLeave) => {
    if (!(await mayLeave())) return { kind: "withdrawn" };
    const step = { projectId, id, status: "DELIVERED" as const, at: new Date() };
    await transaction(outbox.database, (tx) => advanceEmails(tx, [step], addLateSent));
    return TAKEN;
  };
  await outbox.start(transport);
  await expect.poll(async () => (await outbox.row(id)).attempts, { timeout: 30_000 }).toBe(1);
  expect([(await outbox.row(id)).status, await counted()]).toEqual([
    "DELIVERED",
    expect.objectContaining({ sent: 1 }),
  ]);
  expect(await findMiscounts(outbox.database)).toEqual([]);
});

test("does not count an email opened during a submission that fails", async () => {
  const transport = createScriptedTransport();
  const projectId = outbox.projectId;
  const [id = ""] = await outbox.enqueue([{}]);
  transport.play = async (_message, mayLeave) => {
    if (!(await mayLeave())) return { kind: "withdrawn" };
    const step = { projectId, id, status: "OPENED" as const, at: new Date() };
    await transaction(outbox.database, (tx) => advanceEmails(tx, [step], addLateSent));
    return { kind: "rejected", answer: "554 5.7.1 no", meaning: "policy" };
  };
  await outbox.start(transport);
  await outbox.until(id, "FAILED");
  expect(await findMiscounts(outbox.database)).toEqual([]);
});

test("counts feedback in a reply only once it is recorded and rejections as bounces", async () => {
  const transport = createScriptedTransport();
  transport.play = refuseWith({ kind: "rejected", answer: "550 5.1.1 unknown", meaning: "hard-bounce" });
  const ids = await outbox.enqueue([{}, {}, {}]);
  await outbox.start(transport);
  for (const id of ids) await outbox.until(id, "FAILED");
  expect(await counted()).toEqual({ sent: 0, refused: 3, bounced: 0, complained: 0 });
  expect(await findMiscounts(outbox.database)).toEqual([]);
});

test.each<[string, (id: string) => Promise<unknown>]>([
  [
    "a person resolves them as sent",
    (id) => {
      const mails = { projectId: outbox.projectId, campaignId: null, ids: [id] };
      return transaction(outbox.database, (tx) =>
        resolveEmails(tx, mails, { as: "sent", by: null }, addLateSent),
      );
    },
  ],
  [
    "their reply arrives late",
    (id) => {
      const sent = { transport: "smtp", answer: "250 ok", providerMessageId: null };
      const what = { status: "SENT" as const, reason: null, waitMs: 0, subject: null, sent };
      return recordLate(outbox.database, [
        { outcome: { projectId: outbox.projectId, id, ...what }, attempt: 1 },
      ]);
    },
  ],
])("leaves test emails in doubt out of the counts when %s", async (_when, happens) => {
  const { database } = outbox;
  const ids = await outbox.enqueue([{}, {}]);
  await sql`update emails set status = 'UNCONFIRMED', attempts = 1`.execute(database);
  await sql`update emails set is_test = true where id = ${ids[0]}`.execute(database);
  for (const id of ids) await happens(id);
  expect(await outbox.countByStatus()).toEqual({ SENT: 2 });
  expect(await counted()).toMatchObject({ sent: 1 });
  expect(await findMiscounts(database)).toEqual([]);
});

test("loses no count when a hundred transactions count the same hour concurrently", async () => {
  const { database, projectId } = outbox;
  await Promise.all(
    Array.from({ length: 100 }, () =>
      transaction(database, (tx) =>
        countMails(tx, [
          { projectId, at: null, what: "sent" },
          { projectId, at: new Date(), what: "sent" },
          { projectId, at: new Date(Date.now() - 3_600_000), what: "complained" },
        ]),
      ),
    ),
  );
  expect(await counted()).toMatchObject({ sent: 200, complained: 100 });
});

test("finds a wrong counter by a recount", async () => {
  const { database, projectId } = outbox;
  await transaction(database, (tx) => countMails(tx, [{ projectId, at: null, what: "sent" }]));
  expect(await findMiscounts(database)).toMatchObject([{ projectId, counted: [1, 0, 0, 0] }]);
  await sql`delete from sending_hours where project_id = ${projectId}`.execute(database);
});
