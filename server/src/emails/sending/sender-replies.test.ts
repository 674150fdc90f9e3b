// Tests replies of real servers over SMTP and their effect on emails and contacts (facts F12, F13, F29).
import { generateKeyPairSync } from "node:crypto";
import { sql } from "kysely";
import { afterEach, expect, test, vi } from "vitest";
import { dkimVerify } from "mailauth/lib/dkim/verify.js";
import { SES_KEY, SES_REGION, startSesFake } from "../../testing/ses-fake.ts";
import { startSmtpSink, type SmtpSink } from "../../testing/smtp-sink.ts";
import type { SinkRule } from "../../testing/smtp-sink-rules.ts";
import { OUTBOX_WAIT, useOutbox } from "../../testing/outbox-fixture.ts";
import { createScriptedTransport } from "../../testing/scripted-transport.ts";
import { CAUSES } from "../../transports/replies/reply-causes.ts";
import { readEmail } from "../../testing/read-email.ts";
import { erasedPeople } from "../../testing/erased-people.ts";
import { redactRecipients } from "../outbox/redact-recipients.ts";
import { attemptsUntilGivenUp } from "../rows/rules.ts";
import { transaction } from "../../platform/database/database.ts";
import { CONTACT_CHECKS } from "../../contacts/recipients.ts";
import { createSesTransport } from "../../transports/ses.ts";
import { createSmtpTransport } from "../../transports/smtp.ts";
import type { Transport } from "../../transports/transport.ts";

const outbox = useOutbox();
const cleanups: Array<() => Promise<void>> = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).toReversed()) await cleanup();
});

async function startSmtp(rules: readonly SinkRule[]): Promise<{ sink: SmtpSink; transport: Transport }> {
  const sink = await startSmtpSink({ rules });
  const url = { host: "127.0.0.1", port: sink.port, secure: false };
  const transport = createSmtpTransport({ url, heloName: "client.test", maxConnections: 5 });
  cleanups.push(
    () => sink.close(),
    () => transport.close(),
  );
  return { sink, transport };
}

async function subscriptionOf(emailId: string) {
  const { rows } = await sql<{ subscribed: boolean; events: string[] }>`
    select c.subscribed, array(
      select e.name || coalesce(' ' || coalesce(e.data->>'bounceType', e.data->>'reason'), '') from events e
      where e.contact_id = c.id order by e.id) as events
    from emails m join contacts c on c.project_id = m.project_id and c.id = m.contact_id
    where m.id = ${emailId}`.execute(outbox.database);
  return rows[0];
}

/** The command, the reply and whether it counts as a bounce. */
const REJECTIONS = [
  ["RCPT", "550 5.1.1 no such user", "hard"],
  ["RCPT", "550 5.1.2 no such domain", "hard"],
  ["RCPT", "553 5.1.3 bad address", "hard"],
  ["RCPT", "550 no such user", "hard"],
  ["RCPT", "553 mailbox name not allowed", "hard"],
  ["RCPT", "550 Empfänger existiert nicht", "hard"],
  ["RCPT", "550 5.1.1 sender verify failed", "none"],
  ["RCPT", "552 5.2.2 mailbox full", "soft"],
  ["RCPT", "554 5.7.1 relay denied", "none"],
  ["RCPT", "550 5.7.515 not authenticated", "none"],
  ["RCPT", "501 syntax error", "none"],
  ["DOT", "554 5.7.1 spam", "none"],
  ["DOT", "554 rejected", "none"],
  ["DOT", "550 5.1.1 no such user", "hard"],
] as const;
const BOUNCES = {
  hard: { subscribed: false, events: ["email.bounce hard", "contact.unsubscribed bounce"] },
  soft: { subscribed: true, events: ["email.bounce soft"] },
  none: { subscribed: true, events: [] },
};

/** Returns a server rule and a matching email for each case. */
function playEach(cases: ReadonlyArray<readonly [phase: "RCPT" | "DOT", reply: string, ...rest: unknown[]]>) {
  return {
    rules: cases.map(([phase, reply], at): SinkRule => ({
      phase,
      recipient: new RegExp(`^case${at}@`),
      action: { reply },
    })),
    mails: cases.map((_, at) => ({ to: `case${at}@d${at}.example` })),
  };
}

test("F13: fails rejected emails without retry and unsubscribes unknown addresses only", async () => {
  const { rules, mails } = playEach(REJECTIONS);
  const { sink, transport } = await startSmtp(rules);
  const ids = await outbox.enqueue(mails);
  await outbox.start(transport);
  for (const [at, [phase, reply, bounce]] of REJECTIONS.entries()) {
    const id = ids[at] ?? "";
    await outbox.until(id, "FAILED");
    const email = await readEmail(outbox.database, outbox.projectId, id);
    expect(email).toMatchObject({ reason: `${phase}: ${reply}`, attempts: 1 });
    expect(email.timeline[1]?.detail).toBe(`rejected: ${phase}: ${reply} (smtp)`);
    expect([reply, await subscriptionOf(id)]).toEqual([reply, BOUNCES[bounce]]);
  }
  expect(sink.journal).toHaveLength(0);
});

test("stores who rejected an email, why and the advice with the attempt and the event", async () => {
  const { rules, mails } = playEach([
    ["RCPT", "550 5.1.1 no such user here - gsmtp"],
    ["RCPT", "550 5.1.1 client host blocked using a list"],
    ["RCPT", "550 5.1.1 too many recipients this hour"],
  ]);
  const { transport } = await startSmtp(rules);
  const [gone = "", blocked = "", slow = ""] = await outbox.enqueue(mails);
  await outbox.start(transport);
  await outbox.until(gone, "FAILED");
  await outbox.until(blocked, "FAILED");
  const timelineOf = async (id: string) => (await readEmail(outbox.database, outbox.projectId, id)).timeline;
  const reported = { cause: "unknown-user", refusedBy: "Gmail", advice: CAUSES["unknown-user"].advice };
  expect(await timelineOf(gone)).toMatchObject([
    { type: "queued" },
    { type: "attempt", ...reported },
    { type: "email.bounce", cause: "unknown-user", refusedBy: "Gmail" },
  ]);
  expect(await timelineOf(blocked)).toMatchObject([
    { type: "queued" },
    { type: "attempt", cause: "reputation", refusedBy: "d1.example" },
  ]);
  expect(await subscriptionOf(blocked)).toEqual(BOUNCES.none);
  // Rate limiting is not a permanent rejection, even with a 5xx reply.
  await vi.waitFor(
    async () => expect(await timelineOf(slow)).toMatchObject([{}, { type: "attempt", cause: "rate" }]),
    OUTBOX_WAIT,
  );
  expect(await readEmail(outbox.database, outbox.projectId, slow)).toMatchObject({ status: "QUEUED" });
});

test("F13: a rejected MAIL FROM does not affect the recipient", async () => {
  const { transport } = await startSmtp([{ phase: "MAIL", action: { reply: "550 5.1.1 unknown sender" } }]);
  const [id = ""] = await outbox.enqueue([{}]);
  await outbox.start(transport);
  await outbox.until(id, "FAILED");
  expect(await subscriptionOf(id)).toEqual(BOUNCES.none);
});

const DELAYS = [
  ["RCPT", "450 4.2.1 busy"],
  ["RCPT", "451 4.7.1 greylisted"],
  ["RCPT", "452 4.2.2 over quota"],
  ["RCPT", "421 4.7.0 closing"],
  ["DOT", "451 4.3.0 local error"],
  ["DOT", "454 4.7.0 Daily quota exceeded"],
] as const;

test("F12, F29: deferred emails wait with the reply and are sent once by the next attempt", async () => {
  const { rules, mails } = playEach(DELAYS);
  const { sink, transport } = await startSmtp(rules);
  const ids = await outbox.enqueue(mails);
  const sender = await outbox.start(transport);
  for (const [at, [phase, reply]] of DELAYS.entries()) {
    const id = ids[at] ?? "";
    await vi.waitFor(async () => expect((await outbox.row(id)).attempts).toBe(1), OUTBOX_WAIT);
    const email = await readEmail(outbox.database, outbox.projectId, id);
    expect(email).toMatchObject({ status: "QUEUED", reason: `${phase}: ${reply}`, sentAt: null });
    expect(await subscriptionOf(id)).toEqual(BOUNCES.none);
  }
  expect(sink.journal).toHaveLength(0);
  sink.setRules([]);
  await sql`update emails set due_at = now()`.execute(outbox.database);
  sender.wake();
  for (const [at, [phase, reply]] of DELAYS.entries()) {
    const id = ids[at] ?? "";
    await outbox.until(id, "SENT");
    const { timeline } = await readEmail(outbox.database, outbox.projectId, id);
    expect(timeline.map(({ type, detail }) => detail ?? type)).toEqual([
      "queued",
      `deferred: ${phase}: ${reply} (smtp)`,
      "sent: 250 2.0.0 taken (smtp)",
      "email.sent",
    ]);
  }
  expect(sink.journal).toHaveLength(DELAYS.length);
});

test("F12: loses nothing when a server accepts no more connections", async () => {
  const { sink, transport } = await startSmtp([
    { phase: "CONNECT", times: 3, action: { reply: "421 4.7.0 too many connections" } },
  ]);
  const ids = await outbox.enqueue([{}, {}, {}]);
  const sender = await outbox.start(transport);
  for (const id of ids) {
    await vi.waitFor(async () => expect((await outbox.row(id)).attempts).toBe(1), OUTBOX_WAIT);
    expect((await outbox.row(id)).reason).toBe("CONNECT: 421 4.7.0 too many connections");
  }
  await sql`update emails set due_at = now()`.execute(outbox.database);
  sender.wake();
  for (const id of ids) await outbox.until(id, "SENT");
  expect(sink.journal).toHaveLength(3);
});

test("giving up on a full mailbox is a soft bounce and on an unreachable server is not", async () => {
  const { sink, transport } = await startSmtp([
    { phase: "RCPT", recipient: /^full@/, action: { reply: "452 4.2.2 mailbox full" } },
    { phase: "RCPT", recipient: /^quota@/, action: { reply: "454 4.7.0 quota" } },
  ]);
  const mails = await outbox.enqueue(["full@a.example", "quota@b.example"].map((to) => ({ to })));
  await sql`update emails set attempts = ${attemptsUntilGivenUp("CAMPAIGN") - 1}`.execute(outbox.database);
  await outbox.start(transport);
  for (const id of mails) await outbox.until(id, "FAILED");
  expect(sink.journal).toHaveLength(0);
  expect(await subscriptionOf(mails[0] ?? "")).toEqual({ subscribed: true, events: ["email.bounce soft"] });
  expect(await subscriptionOf(mails[1] ?? "")).toEqual({ subscribed: true, events: [] });
});

test("retries an email normally when it waited for months before its first attempt", async () => {
  const { transport } = await startSmtp([
    { phase: "RCPT", times: 1, action: { reply: "450 4.2.0 greylisted" } },
  ]);
  const [id = ""] = await outbox.enqueue([{}]);
  // The id also contains the time of acceptance.
  const old = `01900000${id.slice(8)}`;
  await sql`update emails set id = ${old}, created_at = now() - interval '90 days'`.execute(outbox.database);
  const sender = await outbox.start(transport);
  await vi.waitFor(async () => expect((await outbox.row(old)).attempts).toBe(1), OUTBOX_WAIT);
  expect((await outbox.row(old)).status).toBe("QUEUED");
  await sql`update emails set due_at = now()`.execute(outbox.database);
  sender.wake();
  await outbox.until(old, "SENT");
});

test("stores the SES message id and keeps our signature valid after SES changes headers", async () => {
  const fake = await startSesFake();
  const transport = createSesTransport({ ...SES_KEY, url: { region: SES_REGION, endpoint: fake.endpoint } });
  cleanups.push(
    () => fake.close(),
    () => transport.close(),
  );
  const { privateKey, publicKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
  const key = { domain: "sender.example", selector: "s1", privateKey };
  const campaignId = "01990000-0000-7000-8000-00000000000c";
  const [id = ""] = await outbox.enqueue([{ listKind: "MARKETING", campaignId }]);
  await outbox.start(transport, { signing: { kind: "key", keys: [key] } });
  await outbox.until(id, "SENT");
  const [message] = fake.messages;
  const stored = await outbox.database
    .selectFrom("emails")
    .select(["transport", "answer", "providerMessageId"])
    .executeTakeFirstOrThrow();
  expect(stored).toEqual({ transport: "ses", answer: "200", providerMessageId: message?.messageId });
  const email = await readEmail(outbox.database, outbox.projectId, id);
  expect(email.timeline[1]?.detail).toBe(`sent: 200 ${message?.messageId} (ses)`);
  // SES adds Feedback-ID from these tags. A second one from us would invalidate even the signature of SES.
  expect(message?.tags).toMatchObject({
    "ses:feedback-id-a": campaignId,
    "ses:feedback-id-b": outbox.projectId,
  });
  const raw = message?.raw.toString("latin1") ?? "";
  expect(raw).not.toMatch(/^Feedback-ID:/im);
  const delivered = raw
    .replace(/^Message-ID:.*$/im, `Message-ID: <${message?.messageId}@eu-west-1.amazonses.com>`)
    .replace(/^Date:.*$/im, "Date: Sat, 21 Nov 2026 07:00:00 +0000\r")
    .replace(/^MIME-Version:/im, "Feedback-ID: a:b:1.eu-west-1.x=:AmazonSES\r\nMIME-Version:");
  expect(delivered).not.toBe(raw);
  const record = `v=DKIM1; k=rsa; p=${publicKey.export({ type: "spki", format: "der" }).toString("base64")}`;
  const { results } = await dkimVerify(Buffer.from(delivered, "latin1"), {
    resolver: async () => [[record]],
  });
  expect(results.map(({ status }) => status.result)).toEqual(["pass"]);
});

test("stores the SES message id from the reply over SMTP", async () => {
  const sesId = "0102018f6d2b1a3c-01234567-89ab-cdef-0123-456789abcdef-000000";
  const { transport } = await startSmtp([
    { phase: "DOT", accept: true, action: { reply: `250 Ok ${sesId}` } },
  ]);
  const [id = ""] = await outbox.enqueue([{}]);
  await outbox.start(transport);
  await outbox.until(id, "SENT");
  const row = await outbox.database
    .selectFrom("emails")
    .select("providerMessageId")
    .executeTakeFirstOrThrow();
  expect(row.providerMessageId).toBe(sesId);
  const email = await readEmail(outbox.database, outbox.projectId, id);
  expect(email.timeline[1]?.detail).toBe(`sent: 250 Ok ${sesId} (smtp)`);
});

test("keeps the status of a report that arrives before the reply and records the attempt", async () => {
  const transport = createScriptedTransport();
  const [id = ""] = await outbox.enqueue([{}]);
  transport.play = async (_message, mayLeave) => {
    if (!(await mayLeave())) return { kind: "withdrawn" };
    await sql`update emails set status = 'DELIVERED', sent_at = now()`.execute(outbox.database);
    return { kind: "sent", answer: "250 ok" };
  };
  await outbox.start(transport);
  await vi.waitFor(async () => expect((await outbox.row(id)).attempts).toBe(1), OUTBOX_WAIT);
  const email = await readEmail(outbox.database, outbox.projectId, id);
  expect(email.status).toBe("DELIVERED");
  expect(email.timeline.map(({ type, detail }) => detail ?? type)).toEqual([
    "queued",
    "sent: 250 ok (scripted)",
    "email.sent",
  ]);
});

test("removes the address of an erased contact from server replies", async () => {
  const { transport } = await startSmtp([
    { phase: "RCPT", times: 1, action: { reply: "450 4.2.1 <ada@a.example> is busy" } },
    { phase: "DOT", accept: true, action: { reply: "250 2.0.0 ok, kept for ada@a.example" } },
  ]);
  const [id = ""] = await outbox.enqueue([{ to: "ada@a.example" }]);
  const sender = await outbox.start(transport);
  await vi.waitFor(async () => expect((await outbox.row(id)).attempts).toBe(1), OUTBOX_WAIT);
  await sql`update emails set due_at = now()`.execute(outbox.database);
  sender.wake();
  await outbox.until(id, "SENT");
  const { contactId } = await outbox.row(id);
  await transaction(outbox.database, (tx) =>
    redactRecipients(tx, outbox.projectId, erasedPeople([contactId ?? ""]), CONTACT_CHECKS.contactsThere),
  );
  const { rows } = await sql`
    select m.*, a.answer as attempt_answer from emails m join email_attempts a on a.email_id = m.id`.execute(
    outbox.database,
  );
  expect(rows).toHaveLength(1);
  expect(JSON.stringify(rows)).toMatch(/is busy.*kept for|kept for.*is busy/);
  expect(JSON.stringify(rows)).not.toContain("ada@");
});
