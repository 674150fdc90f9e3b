// Tests platform email in the outbox. It is sent with the commit that causes it, by the same rules as other email, and its text is erased
// however it ends.
import { Writable } from "node:stream";
import { sql } from "kysely";
import { pino } from "pino";
import PostalMime from "postal-mime";
import { expect, test, vi } from "vitest";
import { readConfig } from "../../platform/settings/config.ts";
import { transaction } from "../../platform/database/database.ts";
import { newId } from "../../platform/ids.ts";
import type { RecoveryParticipant } from "../../platform/stamp/stamp.ts";
import { addLateSent } from "../../events/counts.ts";
import { createDeliveries } from "../../deliveries/deliveries.ts";
import { createScriptedTransport, refuseWith, TAKEN } from "../../testing/scripted-transport.ts";
import { expireLease, OUTBOX_WAIT, markInDoubt, useOutbox } from "../../testing/outbox-fixture.ts";
import { createMailboxTransport } from "../../transports/mailbox.ts";
import type { Transport } from "../../transports/transport.ts";
import { dropHeldMails, holdWaitingMails, releaseHeldMails } from "../lease/held-emails.ts";
import { recordLate } from "../results/late-replies.ts";
import { defaultSystemAddress } from "./prepare-platform-email.ts";
import { advanceEmails, lockEmails } from "../returned/returned-emails.ts";
import { findMiscounts } from "../results/sending-hours.ts";
import {
  enqueuePlatformEmails,
  listPlatformEmails,
  readPlatformEmailState,
  sweepPlatformEmails,
} from "./platform-email.ts";
import { SYSTEM_PROJECT_ID } from "../rows/system-project.ts";

const outbox = useOutbox();
const SECRET = "token-of-a-reset";
const MAIL = { to: "owner@example.net", subject: "Grüße", text: SECRET, html: `<p>${SECRET}</p>` };
const TAKEN_REPLY = "250 2.0.0 taken";
const KEY = { projectId: SYSTEM_PROJECT_ID };

const enqueue = async (count = 1) =>
  transaction(outbox.database, (tx) =>
    enqueuePlatformEmails(
      tx,
      Array.from({ length: count }, () => MAIL),
    ),
  );

const rowOf = (id: string) =>
  outbox.database.selectFrom("emails").selectAll().where("id", "=", id).executeTakeFirstOrThrow();

/** Expects that the email ended with this status. The database must no longer contain its text, except for the subject. */
async function expectErased(id: string, status: string): Promise<void> {
  await outbox.until(id, status);
  const row = await rowOf(id);
  expect(row).toMatchObject({ projectId: SYSTEM_PROJECT_ID, variables: null, subject: MAIL.subject });
  const all = await sql<{ rows: string }>`
    select concat((select json_agg(e) from emails e), (select json_agg(c) from email_contents c),
      (select json_agg(a) from email_attempts a), (select json_agg(v) from events v)) as rows`.execute(
    outbox.database,
  );
  expect(all.rows[0]?.rows).toContain(id);
  expect(all.rows[0]?.rows).not.toContain(SECRET);
}

test("sends once from the installation without tracking or unsubscribe and is then erased", async () => {
  const transport = createScriptedTransport();
  const [id = ""] = await enqueue();
  await outbox.start(transport);
  await expectErased(id, "SENT");
  expect(transport.handedOver).toHaveLength(1);
  const [message] = transport.handedOver;
  expect(message?.envelope).toEqual({ from: "post@host.example", to: ["owner@example.net"] });
  const parsed = await PostalMime.parse(message?.raw ?? "");
  expect(parsed).toMatchObject({ subject: "Grüße", text: `${SECRET}\n`, html: `<p>${SECRET}</p>\n` });
  expect(parsed.from).toEqual({ address: "post@host.example", name: "Postloft" });
  expect(parsed.headers.map(({ key }) => key).toSorted()).toEqual(
    [
      "auto-submitted",
      "content-type",
      "date",
      "from",
      "message-id",
      "mime-version",
      "subject",
      "to",
    ].toSorted(),
  );
  expect(await readPlatformEmailState(outbox.database, id)).toEqual({
    status: "SENT",
    answer: TAKEN_REPLY,
    transport: "scripted",
  });
});

test("never writes the text to the log", async () => {
  const lines: string[] = [];
  const output = new Writable({ write: (line, _encoding, done) => (lines.push(String(line)), done()) });
  const log = pino({ level: "trace" }, output);
  const transport = createScriptedTransport();
  transport.play = refuseWith({ kind: "rejected", answer: "550 no", meaning: "hard-bounce" });
  const [refused = ""] = await enqueue();
  await outbox.start(transport, { log });
  await expectErased(refused, "FAILED");
  transport.play = async () => {
    throw new Error("the transport broke");
  };
  const [id = ""] = await enqueue();
  const isNotified = () => expect(lines.join("")).toContain("the transport broke");
  await vi.waitFor(isNotified, OUTBOX_WAIT);
  transport.play = async (_message, mayLeave) => ((await mayLeave()) ? TAKEN : { kind: "withdrawn" });
  await expectErased(id, "SENT");
  expect(lines.join("")).toContain(refused);
  expect(lines.join("")).not.toContain(SECRET);
});

test("does not exist when its transaction is rolled back", async () => {
  const failing = transaction(outbox.database, async (tx) => {
    await enqueuePlatformEmails(tx, [MAIL]);
    throw new Error("no");
  });
  await expect(failing).rejects.toThrow("no");
  expect(await outbox.countByStatus()).toEqual({});
});

test("keeps its text for a retry after a temporary error and not after a permanent one", async () => {
  const transport = createScriptedTransport();
  transport.play = refuseWith({ kind: "deferred", answer: "450 later" });
  const [id = ""] = await enqueue();
  const sender = await outbox.start(transport);
  await vi.waitFor(
    async () => expect(await rowOf(id)).toMatchObject({ status: "QUEUED", attempts: 1 }),
    OUTBOX_WAIT,
  );
  expect((await rowOf(id)).variables).toMatchObject({ text: SECRET });
  expect(await readPlatformEmailState(outbox.database, id)).toMatchObject({ answer: "450 later" });
  transport.play = refuseWith({ kind: "rejected", answer: "550 no", meaning: "hard-bounce" });
  await sql`update emails set due_at = now()`.execute(outbox.database);
  sender.wake();
  await expectErased(id, "FAILED");
  expect(await readPlatformEmailState(outbox.database, id)).toMatchObject({
    status: "FAILED",
    answer: "550 no",
  });
});

test("retries once in doubt under the same Message-ID and never again", async () => {
  const transport = createScriptedTransport();
  transport.play = async (_message, mayLeave) =>
    (await mayLeave()) ? { kind: "uncertain", answer: "no reply" } : { kind: "withdrawn" };
  const [id = ""] = await enqueue();
  const sender = await outbox.start(transport);
  await vi.waitFor(
    async () => expect(await rowOf(id)).toMatchObject({ status: "QUEUED", reason: "no reply" }),
    OUTBOX_WAIT,
  );
  expect(Number((await rowOf(id)).dueAt)).toBeGreaterThan(Date.now() + 20_000);
  await sql`update emails set due_at = now()`.execute(outbox.database);
  sender.wake();
  await expectErased(id, "UNCONFIRMED");
  expect(new Set(transport.handedOver.map(({ raw }) => raw.toString())).size).toBe(1);
  expect(transport.handedOver).toHaveLength(2);
});

test.each([
  ["in hand", 0, "SENT", 1],
  ["in handover", 0, "SENT", 1],
  ["in handover", 1, "UNCONFIRMED", 0],
] as const)(
  "email that a killed process left %s after %i doubts ends as %s",
  async (left, doubts, end, submissions) => {
    const transport = createScriptedTransport();
    const [id = ""] = await enqueue();
    const dead = newId();
    await markInDoubt(outbox.database, dead, id);
    if (left === "in hand") await sql`update senders set in_doubt = '{}'`.execute(outbox.database);
    if (doubts > 0)
      await sql`
        with one as (update emails set attempts = 1 returning project_id, id)
        insert into email_attempts (project_id, email_id, attempt, outcome, answer) select project_id, id, 1, 'uncertain', '' from one`.execute(
        outbox.database,
      );
    await expireLease(outbox.database, dead);
    await outbox.start(transport);
    await expectErased(id, end);
    expect(transport.handedOver).toHaveLength(submissions);
  },
);

test("sends each email once with two processes", async () => {
  const transports = [createScriptedTransport(), createScriptedTransport()];
  const ids = await enqueue(30);
  await Promise.all(transports.map((transport) => outbox.start(transport)));
  for (const id of ids) await outbox.until(id, "SENT");
  const left = transports.flatMap(({ handedOver }) => handedOver.map(({ emailId }) => emailId));
  expect(left.toSorted()).toEqual(ids.toSorted());
});

/** Starts a sender with a memory of its submissions. Returns a function that rolls the database back and reconciles it. */
async function startRemembering(transport: Transport): Promise<() => Promise<void>> {
  const participants: RecoveryParticipant[] = [];
  await outbox.start(transport, {
    addRecoveryParticipant: (participant) => void participants.push(participant),
  });
  return async () => {
    // Not due, because no sender claims in such a database before it is reconciled.
    await sql`
      update emails set status = 'QUEUED', sender_id = null, attempts = 0, sent_at = null, answer = null, transport = null,
        due_at = now() + interval '1 hour', variables = ${JSON.stringify(MAIL)}`.execute(outbox.database);
    for (const participant of participants) await participant.reconcile(outbox.database);
  };
}

test("does not resend a sent email that the database lost, and erases it again", async () => {
  const transport = createScriptedTransport();
  const [id = ""] = await enqueue();
  const redact = await startRemembering(transport);
  await outbox.until(id, "SENT");
  await redact();
  await expectErased(id, "SENT");
  expect(transport.handedOver).toHaveLength(1);
});

/** Holds an email in submission until the test lets the server reply. */
async function holdInSubmission<Started>(start: (transport: Transport) => Promise<Started>) {
  const transport = createScriptedTransport();
  const reached = Promise.withResolvers<void>();
  const replied = Promise.withResolvers<void>();
  transport.play = async (_message, mayLeave) => {
    if (!(await mayLeave())) return { kind: "withdrawn" };
    reached.resolve();
    await replied.promise;
    return TAKEN;
  };
  const [id = ""] = await enqueue();
  const started = await start(transport);
  await reached.promise;
  return { id, transport, answer: () => replied.resolve(), started };
}

test("returns an email to submission after a rollback so that its reply is recorded", async () => {
  const { id, transport, answer, started: redact } = await holdInSubmission(startRemembering);
  await redact();
  expect((await outbox.row(id)).status).toBe("SENDING");
  answer();
  await expectErased(id, "SENT");
  expect(transport.handedOver).toHaveLength(1);
});

test("is erased by a delivery report that arrives before the reply", async () => {
  const { id, answer } = await holdInSubmission((transport) => outbox.start(transport));
  await transaction(outbox.database, (tx) =>
    advanceEmails(tx, [{ ...KEY, id, status: "DELIVERED", at: new Date() }], addLateSent),
  );
  await expectErased(id, "DELIVERED");
  answer();
  await vi.waitFor(async () => expect(await rowOf(id)).toMatchObject({ answer: TAKEN_REPLY }), OUTBOX_WAIT);
  await expectErased(id, "DELIVERED");
});

const waitInDoubt = () =>
  sql`
    with one as (update emails set attempts = 1 returning project_id, id)
    insert into email_attempts (project_id, email_id, attempt, outcome, answer) select project_id, id, 1, 'uncertain', '' from one`.execute(
    outbox.database,
  );
const SENT = { transport: "smtp", answer: "250 late", providerMessageId: null };

test("is erased by a late reply while it waits for its retry", async () => {
  const [id = ""] = await enqueue();
  await waitInDoubt();
  const outcome = { ...KEY, id, status: "SENT" as const, reason: null, waitMs: 0, subject: null, sent: SENT };
  expect(await recordLate(outbox.database, [{ outcome, attempt: 1 }])).toMatchObject({ sent: [id] });
  await expectErased(id, "SENT");
});

test("is erased and not retried after a report while it waits for its retry", async () => {
  const [id = ""] = await enqueue();
  await waitInDoubt();
  await transaction(outbox.database, (tx) => lockEmails(tx, [{ ...KEY, id }]));
  await expectErased(id, "UNCONFIRMED");
  expect(await rowOf(id)).toMatchObject({ attempts: 1 });
});

test("is erased when it is dropped after the database was rolled back", async () => {
  const [id = ""] = await enqueue();
  const counts = await transaction(outbox.database, async (tx) => [
    await holdWaitingMails(tx),
    await dropHeldMails(tx, null),
  ]);
  expect(counts).toEqual([1, 1]);
  await expectErased(id, "SKIPPED");
});

test("is sent with its text when it is released after the database was rolled back", async () => {
  const transport = createScriptedTransport();
  const [id = ""] = await enqueue();
  await transaction(outbox.database, async (tx) => {
    expect([await holdWaitingMails(tx), await releaseHeldMails(tx, null)]).toEqual([1, 1]);
  });
  await outbox.start(transport);
  await expectErased(id, "SENT");
  expect(transport.handedOver[0]?.raw.toString()).toContain(SECRET);
});

test("the database rejects an update that ends the email and keeps its text", async () => {
  await enqueue();
  await expect(sql`update emails set status = 'SENT'`.execute(outbox.database)).rejects.toThrow(
    "emails_system_variables_check",
  );
});

test("its bounces and complaints are not counted, suppress no address and suspend nothing", async () => {
  const guarded: string[] = [];
  const deliveries = createDeliveries({ guard: async (_tx, ids) => void guarded.push(...ids) });
  const [away = "", refused = ""] = await transaction(outbox.database, (tx) =>
    enqueuePlatformEmails(tx, [
      { ...MAIL, to: "complained@sandbox.localhost" },
      { ...MAIL, to: "bounced@sandbox.localhost" },
    ]),
  );
  await outbox.start(createMailboxTransport(outbox.database), { applyFeedback: deliveries.applyFeedback });
  await outbox.until(away, "COMPLAINED");
  await outbox.until(refused, "BOUNCED");
  const { rows } = await sql`
    select 1 from sending_hours union all select 1 from suppressions union all select 1 from events
    union all select 1 from projects where disabled`.execute(outbox.database);
  expect(rows).toEqual([]);
  expect(await findMiscounts(outbox.database)).toEqual([]);
});

test("appears in the local mailbox only if it was delivered there", async () => {
  const [away = ""] = await enqueue();
  const sender = await outbox.start(createScriptedTransport());
  await outbox.until(away, "SENT");
  await sender.stop();
  const [first = "", second = ""] = await transaction(outbox.database, (tx) =>
    enqueuePlatformEmails(tx, [MAIL, { ...MAIL, subject: "Second" }]),
  );
  await outbox.start(createMailboxTransport(outbox.database));
  for (const id of [first, second]) await outbox.until(id, "DELIVERED");
  const page = await listPlatformEmails(outbox.database, { limit: 10, before: null });
  expect(page.data.map(({ subject }) => subject).toSorted()).toEqual([MAIL.subject, "Second"].toSorted());
  expect(page.data).toContainEqual({ ...MAIL, id: expect.any(String), sentAt: expect.any(String) });
  expect(page).toMatchObject({ hasMore: false, total: 2 });
});

test("is deleted with its mailbox copy after a month unless it still waits", async () => {
  const [ended = ""] = await enqueue();
  const sender = await outbox.start(createMailboxTransport(outbox.database));
  await outbox.until(ended, "DELIVERED");
  await sender.stop();
  await sweepPlatformEmails(outbox.database);
  expect(await outbox.countByStatus()).toEqual({ DELIVERED: 1 });
  await sql`update emails set due_at = 'infinity', created_at = now() - interval '31 days'`.execute(
    outbox.database,
  );
  await sql`update mailbox_messages set received_at = now() - interval '31 days'`.execute(outbox.database);
  await transaction(outbox.database, (tx) => enqueuePlatformEmails(tx, [MAIL]));
  await sql`update emails set due_at = 'infinity', created_at = now() - interval '31 days'`.execute(
    outbox.database,
  );
  await sweepPlatformEmails(outbox.database);
  expect(await outbox.countByStatus()).toEqual({ QUEUED: 1 });
  expect((await listPlatformEmails(outbox.database, { limit: 10, before: null })).data).toEqual([]);
});

test("uses the installation's own host as the default sender", () => {
  expect(defaultSystemAddress("https://mail.example.com:8443/x")).toEqual({
    address: "postloft@mail.example.com",
    name: "Postloft",
  });
});

test("accepts SYSTEM_FROM as an address with or without a name and rejects anything else", () => {
  expect(readConfig({ SYSTEM_FROM: "Post <Post@Host.example>" }).SYSTEM_FROM).toEqual({
    address: "post@host.example",
    name: "Post",
  });
  expect(readConfig({ SYSTEM_FROM: "post@host.example" }).SYSTEM_FROM).toEqual({
    address: "post@host.example",
  });
  for (const SYSTEM_FROM of ["post", "a@b.example, c@d.example", "a@b.example\r\nBcc: c@d.example"])
    expect(() => readConfig({ SYSTEM_FROM })).toThrow("SYSTEM_FROM: must be an address");
});
