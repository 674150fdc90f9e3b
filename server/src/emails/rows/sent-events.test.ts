// Tests that each sent email is one `email.sent` event, in order and with the content the recipient saw. Covers events/ and the recording
// of results together, because sent emails have no separate event row.
import { sql } from "kysely";
import { expect, test } from "vitest";
import { transaction } from "../../platform/database/database.ts";
import { newId } from "../../platform/ids.ts";
import { addLateSent } from "../../events/counts.ts";
import { listEvents, listEventsOfEmail, type EventView } from "../../events/events.ts";
import { subscribeToEvents, takeReactions } from "../../reactions/reactions.ts";
import { deleteContacts } from "../../contacts/contacts.ts";
import { createScriptedTransport, TAKEN, type Play } from "../../testing/scripted-transport.ts";
import { useOutbox } from "../../testing/outbox-fixture.ts";
import { advanceEmails } from "../returned/returned-emails.ts";
import { updateOutcomes } from "../results/outcome-queries.ts";
import type { Outcome } from "../../transports/transport.ts";
import { confirmSent } from "../returned/returned-emails.ts";
import { memberships } from "../../segments/usage.ts";

const outbox = useOutbox();
const keyOf = (id: string) => ({ projectId: outbox.projectId, id });
const sentEvents = async (projectId = outbox.projectId) =>
  (await listEvents(outbox.database, projectId, { name: "email.sent" }, { limit: 100, before: null })).data;

async function contactOf(id: string): Promise<string> {
  return (await outbox.row(id)).contactId ?? "";
}

async function ownSubjectOf(id: string): Promise<string | null> {
  const { rows } = await sql<{ subject: string | null }>`select subject from emails where id = ${id}`.execute(
    outbox.database,
  );
  return rows[0]?.subject ?? null;
}

/** Subscribes to sent emails, like a tracked segment. */
async function trackSegment(): Promise<void> {
  await transaction(outbox.database, (tx) =>
    subscribeToEvents(tx, { projectId: outbox.projectId, subscriber: "segments" }, async () => [
      "email.sent",
    ]),
  );
}

const noted = async () =>
  (
    await transaction(outbox.database, (tx) =>
      takeReactions(tx, { projectId: outbox.projectId, subscriber: "segments", limit: 100 }),
    )
  ).map(({ contactId, eventName }) => `${eventName} ${contactId}`);

const SECOND = Date.UTC(2026, 0, 1);
/** Two milliseconds, each with all kinds of events. */
const INSTANTS = [SECOND, SECOND + 1].map((ms) => new Date(ms));

interface Expected {
  id: string;
  name: string;
  contactId: string;
  emailId: string | null;
  createdAt: string;
}

/**
 * Creates sent emails and tracked events in the same milliseconds, plus a queued email and an email of another project. Returns the events,
 * newest first.
 */
async function mixEvents(): Promise<Expected[]> {
  const [foreign = ""] = await outbox.enqueue([{ project: await outbox.createProject() }]);
  await sql`update emails set status = 'SENT', sent_at = ${INSTANTS[0]?.toISOString()}::timestamptz where id = ${foreign}`.execute(
    outbox.database,
  );
  const ids = await outbox.enqueue(Array.from({ length: 5 }, () => ({})));
  const expected: Expected[] = [];
  for (const [at, id] of ids.slice(1).entries()) {
    const createdAt = INSTANTS[at % 2] ?? new Date();
    const time = createdAt.getTime().toString(16).padStart(12, "0");
    const contactId = await contactOf(id);
    await sql`update emails set status = 'SENT', sent_at = ${createdAt.toISOString().replace("Z", "789Z")}::timestamptz
      where id = ${id}`.execute(outbox.database);
    const sentId = `${time.slice(0, 8)}-${time.slice(8)}-7000-${id.slice(19)}`;
    expected.push({
      id: sentId,
      name: "email.sent",
      contactId,
      emailId: id,
      createdAt: createdAt.toISOString(),
    });
    for (const random of ["7000-8fff", "7001-8000", "7fff-bfff"]) {
      const event = `${time.slice(0, 8)}-${time.slice(8)}-${random}-${newId().slice(24)}`;
      await sql`insert into events (project_id, id, contact_id, name, email_id, created_at)
        values (${outbox.projectId}, ${event}, ${contactId}, 'seen', ${id}, ${createdAt.toISOString()})`.execute(
        outbox.database,
      );
      expected.push({ id: event, name: "seen", contactId, emailId: id, createdAt: createdAt.toISOString() });
    }
  }
  return expected.toSorted((one, other) => (one.id < other.id ? 1 : -1));
}

const shown = ({ data: _data, ...event }: EventView): Expected => event;

test("lists each sent email once among other events for all filters and page ends", async () => {
  const all = await mixEvents();
  const contactId = all[0]?.contactId;
  for (const filter of [
    {},
    { name: "email.sent" },
    { name: "seen" },
    { name: "never" },
    { contactId },
    { contactId, name: "email.sent" },
    { since: INSTANTS[0] },
    { since: INSTANTS[1] },
    { since: INSTANTS[1], name: "email.sent", contactId },
    { since: new Date(SECOND + 2) },
    { since: new Date(-SECOND) },
  ]) {
    const wanted = all.filter(
      (one) =>
        (filter.name === undefined || one.name === filter.name) &&
        (filter.contactId === undefined || one.contactId === filter.contactId) &&
        (filter.since === undefined || Date.parse(one.createdAt) >= filter.since.getTime()),
    );
    for (const limit of [1, 2, 3, 5, 100]) {
      const listed: EventView[] = [];
      for (let before: string | null = null, hasMore = true; hasMore;) {
        const page = await listEvents(outbox.database, outbox.projectId, filter, { limit, before });
        listed.push(...page.data);
        before = listed.at(-1)?.id ?? null;
        hasMore = page.hasMore;
      }
      expect([filter, limit, listed.map(shown)]).toEqual([filter, limit, wanted]);
    }
  }
  for (const { emailId } of all) {
    const own = await listEventsOfEmail(outbox.database, outbox.projectId, emailId ?? "");
    expect(own.map(shown)).toEqual(all.filter((one) => one.emailId === emailId).toReversed());
  }
});

test("the event contains the subject as received and the other facts of the email", async () => {
  const campaignId = newId();
  const [personal = "", plain = ""] = await outbox.enqueue([
    { subject: "For {{email}}", to: "ada@example.com", campaignId },
    { kind: "TRANSACTIONAL" },
  ]);
  await outbox.start(createScriptedTransport());
  await outbox.until(personal, "SENT");
  await outbox.until(plain, "SENT");
  const events = new Map((await sentEvents()).map((event) => [event.emailId, event]));
  expect(events.get(personal)).toEqual({
    id: expect.stringMatching(`-7000-${personal.slice(19)}$`),
    name: "email.sent",
    contactId: await contactOf(personal),
    data: {
      subject: "For ada@example.com",
      from: "me@sender.example",
      messageId: `${personal}@sender.example`,
      emailId: personal,
      sourceType: "CAMPAIGN",
      campaignId,
    },
    emailId: personal,
    createdAt: expect.any(String),
  });
  expect(events.get(plain)?.data).toEqual({
    subject: "Hello",
    from: "me@sender.example",
    messageId: `${plain}@sender.example`,
    emailId: plain,
    sourceType: "TRANSACTIONAL",
  });
  expect([await ownSubjectOf(personal), await ownSubjectOf(plain)]).toEqual(["For ada@example.com", null]);
});

test("deletes the event and the personal subject together with the contact", async () => {
  const transport = createScriptedTransport();
  const { promise: isDeleted, resolve: deleted } = Promise.withResolvers<void>();
  const { promise: isLeaving, resolve: leaving } = Promise.withResolvers<void>();
  const [before = "", during = ""] = await outbox.enqueue([
    { subject: "For {{email}}", kind: "TRANSACTIONAL" },
    { subject: "To {{email}}", kind: "TRANSACTIONAL" },
  ]);
  transport.play = async (message, mayLeave) => {
    if (!(await mayLeave())) return { kind: "withdrawn" };
    if (message.emailId === during) {
      leaving();
      await isDeleted;
    }
    return TAKEN;
  };
  await outbox.start(transport);
  await outbox.until(before, "SENT");
  await isLeaving;
  const contacts = [await contactOf(before), await contactOf(during)];
  expect(await sentEvents()).toHaveLength(1);
  await transaction(outbox.database, (tx) => deleteContacts(tx, outbox.projectId, contacts, [memberships]));
  deleted();
  await outbox.until(during, "SENT");
  expect(await sentEvents()).toEqual([]);
  expect([await ownSubjectOf(before), await ownSubjectOf(during)]).toEqual([null, null]);
});

test.each<[string, Outcome]>([
  ["SENT", TAKEN],
  ["DELIVERED", { kind: "sent", answer: "250 taken", feedback: "delivered" }],
])("a retried email that ends as %s is one event and one outbox event", async (status, taken) => {
  await trackSegment();
  const transport = createScriptedTransport();
  const outcomes: Outcome[] = [{ kind: "deferred", answer: "451 later", retryAfterMs: 0 }, taken];
  let attempts = 0;
  transport.play = async (_message, mayLeave) =>
    (await mayLeave()) ? (outcomes[attempts++] ?? TAKEN) : { kind: "withdrawn" };
  const [id = ""] = await outbox.enqueue([{ subject: "For {{email}}", to: "ada@example.com" }]);
  await outbox.start(transport);
  await outbox.until(id, status);
  expect(attempts).toBe(2);
  const events = await listEventsOfEmail(outbox.database, outbox.projectId, id);
  expect(events.map(({ name }) => name)).toEqual(
    status === "SENT" ? ["email.sent"] : ["email.sent", "email.delivery"],
  );
  for (const { data } of events) expect(data).toMatchObject({ subject: "For ada@example.com" });
  expect(await noted()).toEqual([`email.sent ${await contactOf(id)}`]);
});

const UNCERTAIN: Play = async (_message, mayLeave) =>
  (await mayLeave()) ? { kind: "uncertain", answer: "no answer" } : { kind: "withdrawn" };

test.each<[string, (id: string, at: Date) => Promise<unknown>]>([
  [
    "its receiver confirms it",
    (id, at) => transaction(outbox.database, (tx) => confirmSent(tx, [{ ...keyOf(id), at }], addLateSent)),
  ],
  [
    "it is opened",
    (id, at) =>
      transaction(outbox.database, (tx) =>
        advanceEmails(tx, [{ ...keyOf(id), status: "OPENED", at }], addLateSent),
      ),
  ],
])("an unconfirmed email becomes an event with its rendered subject when %s", async (_how, prove) => {
  await trackSegment();
  const transport = createScriptedTransport();
  transport.play = UNCERTAIN;
  const [id = ""] = await outbox.enqueue([{ subject: "For {{email}}", to: "ada@example.com" }]);
  await outbox.start(transport);
  await outbox.until(id, "UNCONFIRMED");
  expect([await sentEvents(), await noted()]).toEqual([[], []]);
  const at = new Date();
  for (const _again of [1, 2]) await prove(id, at);
  expect(await sentEvents()).toMatchObject([
    { emailId: id, createdAt: at.toISOString(), data: { subject: "For ada@example.com" } },
  ]);
  expect(await noted()).toEqual([`email.sent ${await contactOf(id)}`]);
});

test("keeps the subject of an earlier attempt when a later one does not know it", async () => {
  const [id = ""] = await outbox.enqueue([{ subject: "For {{email}}" }]);
  const senderId = newId();
  await sql`update emails set status = 'CLAIMED', sender_id = ${senderId}, subject = 'For Ada' where id = ${id}`.execute(
    outbox.database,
  );
  const outcome = {
    status: "UNCONFIRMED",
    reason: "It died.",
    waitMs: 0,
    subject: null,
    sent: null,
  } as const;
  await transaction(outbox.database, async (tx) => {
    await updateOutcomes(tx, senderId, [{ ...keyOf(id), ...outcome }]);
    await confirmSent(tx, [{ ...keyOf(id), at: new Date() }], addLateSent);
  });
  expect((await sentEvents()).map(({ data }) => data)).toMatchObject([{ subject: "For Ada" }]);
});

test("creates one event and one outbox event when a report arrives before the result", async () => {
  await trackSegment();
  const transport = createScriptedTransport();
  const [id = ""] = await outbox.enqueue([{ subject: "For {{email}}", to: "ada@example.com" }]);
  transport.play = async (_message, mayLeave) => {
    if (!(await mayLeave())) return { kind: "withdrawn" };
    await transaction(outbox.database, (tx) =>
      advanceEmails(tx, [{ ...keyOf(id), status: "DELIVERED", at: new Date() }], addLateSent),
    );
    return TAKEN;
  };
  const sender = await outbox.start(transport);
  await outbox.until(id, "DELIVERED");
  await sender.stop();
  expect((await sentEvents()).map(({ data }) => data)).toMatchObject([{ subject: "For ada@example.com" }]);
  expect(await noted()).toEqual([`email.sent ${await contactOf(id)}`]);
});
