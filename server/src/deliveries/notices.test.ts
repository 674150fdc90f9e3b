// Checks that each notice is applied once, in any order, by any reader and after any crash, and only moves a status forward.
import { sql } from "kysely";
import { afterAll, beforeAll, beforeEach, expect, test, vi } from "vitest";
import { createDatabase, transaction, type Database } from "../platform/database/database.ts";
import { newId } from "../platform/ids.ts";
import { createLog } from "../platform/log.ts";
import { createMetrics } from "../platform/metrics.ts";
import { AppError } from "../platform/app-error.ts";
import { createTestDatabase, type TestDatabase } from "../platform/database/test-database.ts";
import { CONTACT_CHECKS } from "../contacts/recipients.ts";
import { addLateSent } from "../events/counts.ts";
import { listEvents } from "../events/events.ts";
import { advanceEmails } from "../emails/returned/returned-emails.ts";
import { readEmail } from "../testing/read-email.ts";
import { redactRecipients } from "../emails/outbox/redact-recipients.ts";
import { listReturnedMessages } from "../emails/returned/returned-messages.ts";
import { findMiscounts } from "../emails/results/sending-hours.ts";
import { bounceMail, complaintMail, personalMail } from "../testing/incoming-mail.ts";
import { markInDoubt } from "../testing/outbox-fixture.ts";
import {
  makeProject,
  makeSentMails,
  sesEvent,
  sesNotification,
  type SentMail,
} from "../testing/sent-mails.ts";
import { SYSTEM_PROJECT_ID } from "../emails/rows/system-project.ts";
import { readPlatformEmails } from "../testing/platform-emails.ts";
import { dropContacts } from "../testing/drop-contacts.ts";
import { erasedPeople } from "../testing/erased-people.ts";
import { createReportReader } from "../domains/reports/unpack-apart.ts";
import { createDeliveries } from "./deliveries.ts";
import { createInterpreter } from "./interpret-notices.ts";
import {
  createNoticeStore,
  readNotices,
  startNoticeReader,
  sweepNotices,
  type InterpretNotices,
  type ReceivedNotice,
} from "./notices.ts";
import { createReturnPaths } from "./return-path.ts";
import { readSesEvent } from "./ses-events.ts";

const silent = createLog({ level: "silent" });
const returnPaths = createReturnPaths("a secret that is long enough");
const reportReader = createReportReader();
afterAll(() => reportReader.close());
const interpret = createInterpreter({
  reportReader,
  deliveries: createDeliveries({ guard: async () => undefined }),
  returnPaths,
  ownDomains: ["bounce.example", "in.example"],
  operator: "me@example.org",
});
const LIMIT = 500;

let testDatabase: TestDatabase;
let database: Database;
let projectId = "";

beforeAll(async () => {
  testDatabase = await createTestDatabase();
  database = createDatabase(testDatabase.pool);
});
beforeEach(async () => {
  await sql`delete from notices`.execute(database);
  projectId = await makeProject(database);
});
afterAll(async () => testDatabase.drop());

const sns = (event: Record<string, unknown>, providerId: string = newId()): ReceivedNotice => ({
  source: "sns",
  providerId,
  raw: Buffer.from(JSON.stringify(event)),
  sender: null,
  recipient: null,
  toldAt: new Date(),
});
const smtp = (raw: Buffer, recipient: string, sender = ""): ReceivedNotice => ({
  source: "smtp",
  providerId: newId(),
  raw,
  sender,
  recipient,
  toldAt: null,
});

const store = (reported: readonly ReceivedNotice[]) => {
  const notices = createNoticeStore(database);
  return Promise.all(reported.map((notice) => notices.store(notice)));
};
const readAll = async (how: InterpretNotices = interpret) => {
  for (const source of ["sns", "smtp"] as const)
    while ((await readNotices({ database, interpret: how, log: silent }, source, LIMIT)) > 0);
};
const notify = async (...reported: ReceivedNotice[]) => {
  await store(reported);
  await readAll();
};

interface MailRow {
  status: string;
  deliveredAt: Date | null;
  bouncedAt: Date | null;
  complainedAt: Date | null;
  softBouncedAt: Date | null;
  sentAt: Date | null;
}
const mailRow = async ({ id }: SentMail): Promise<MailRow> =>
  (
    await sql<MailRow>`select status, sent_at, delivered_at, bounced_at, complained_at, soft_bounced_at
      from emails where id = ${id}`.execute(database)
  ).rows[0] as MailRow;
const statusOf = async (mail: SentMail) => (await mailRow(mail)).status;
const eventsOf = async ({ contactId }: { contactId: string }) =>
  (await listEvents(database, projectId, { contactId }, { limit: 100, before: null })).data
    .map(({ name, data }) => ({ name, data }))
    .toReversed();
const namesOf = async (mail: SentMail) => (await eventsOf(mail)).map(({ name }) => name);
const isSubscribed = async ({ contactId }: SentMail) =>
  (
    await sql<{ subscribed: boolean }>`select subscribed from contacts where id = ${contactId}`.execute(
      database,
    )
  ).rows[0]?.subscribed;
const results = async () =>
  (
    await sql<{ result: string | null }>`select result from notices order by received_at, id`.execute(
      database,
    )
  ).rows.map(({ result }) => result);
const oneMail = async (options: Parameters<typeof makeSentMails>[3] = {}): Promise<SentMail> => {
  const [mail] = await makeSentMails(database, projectId, 1, options);
  if (mail === undefined) throw new Error("no mail");
  return mail;
};

const BOUNCED = { bounceType: "Permanent", bounceSubType: "General" };

test.for([
  ["Send", {}, "SENT", ["email.sent"], true],
  ["Delivery", {}, "DELIVERED", ["email.sent", "email.delivery"], true],
  ["DeliveryDelay", {}, "SENT", ["email.sent"], true],
  ["Bounce", BOUNCED, "BOUNCED", ["email.sent", "email.bounce", "contact.unsubscribed"], false],
  [
    "Bounce",
    { bounceType: "Transient", bounceSubType: "MailboxFull" },
    "SENT",
    ["email.sent", "email.bounce"],
    true,
  ],
  [
    "Bounce",
    { bounceType: "Transient", bounceSubType: "ContentRejected" },
    "SENT",
    ["email.sent", "email.bounce"],
    true,
  ],
  ["Complaint", {}, "COMPLAINED", ["email.sent", "email.complaint", "contact.unsubscribed"], false],
  ["Complaint", { complaintFeedbackType: "not-spam" }, "SENT", ["email.sent"], true],
  ["Reject", { reason: "Bad content" }, "SENT", ["email.sent", "email.bounce"], true],
  ["Rendering Failure", {}, "SENT", ["email.sent", "email.bounce"], true],
  ["Open", {}, "OPENED", ["email.sent", "email.open"], true],
  ["Click", { link: "https://a.example" }, "CLICKED", ["email.sent", "email.open", "email.click"], true],
  [
    "Subscription",
    { newTopicPreferences: { unsubscribeAll: true } },
    "SENT",
    ["email.sent", "contact.unsubscribed"],
    false,
  ],
  ["Something New", {}, "SENT", ["email.sent"], true],
] as const)(
  "%s %j leaves the email %s with %j, reported once or three times",
  async ([type, part, status, names, subscribed]) => {
    const mail = await oneMail();
    const event = sesEvent(mail, type, { ...part });
    const notice = sesNotification(mail, type, {
      ...part,
      timestamp: new Date(Date.now() - 500).toISOString(),
    });
    await notify(sns(event));
    const seen = [await statusOf(mail), await namesOf(mail), await isSubscribed(mail)];
    expect(seen).toEqual([status, names, subscribed]);
    if (type === "Open" || type === "Click") return;
    await notify(sns(event), sns(notice));
    expect([await statusOf(mail), await namesOf(mail), await isSubscribed(mail)]).toEqual(seen);
    expect(await findMiscounts(database)).toEqual([]);
  },
);

test("records events with the facts of email.sent plus their own", async () => {
  const mail = await oneMail();
  await notify(
    sns(sesEvent(mail, "Bounce", BOUNCED)),
    sns(sesEvent(mail, "Open")),
    sns(sesEvent(mail, "Open")),
  );
  const facts = {
    subject: "Hello Ada",
    from: "news@shop.example",
    messageId: mail.messageId,
    emailId: mail.id,
    sourceType: "TRANSACTIONAL",
  };
  expect((await eventsOf(mail)).slice(1)).toEqual([
    { name: "email.open", data: { ...facts, isFirst: true, isMachine: false } },
    { name: "email.bounce", data: { ...facts, bounceType: "hard", reason: "Permanent General" } },
    { name: "contact.unsubscribed", data: { reason: "bounce" } },
  ]);
});

test("tells people's opens from machines', counts each and records a duplicate once", async () => {
  const mail = await oneMail();
  const opened = (minute: number, userAgent?: string) => {
    const timestamp = new Date(Date.now() - minute * 1_000).toISOString();
    const event = sesEvent(mail, "Open", { timestamp, ...(userAgent === undefined ? {} : { userAgent }) });
    return sns(event, readSesEvent(JSON.stringify(event))?.key ?? "");
  };
  const first = opened(9);
  await notify(first, first, opened(8), opened(7, "Mozilla/5.0"));
  await notify(first);
  expect((await namesOf(mail)).toSorted()).toEqual(["email.machine-open", "email.open", "email.sent"]);
  const { rows } = await sql`
    select total, mails, machine from tracking_counts where project_id = ${projectId}`.execute(database);
  expect(rows).toEqual([{ total: 2, mails: 1, machine: 1 }]);
});

test("records no reported open for a project without tracking", async () => {
  const mail = await oneMail();
  await sql`update project_queues set tracking = 'DISABLED' where project_id = ${projectId}`.execute(
    database,
  );
  await notify(sns(sesEvent(mail, "Open")));
  expect([await statusOf(mail), await namesOf(mail)]).toEqual(["SENT", ["email.sent"]]);
});

test("ends in the same state for notices in any order", async () => {
  const orders = [
    ["Delivery", "Open", "Bounce", "Complaint"],
    ["Complaint", "Bounce", "Open", "Delivery"],
    ["Open", "Complaint", "Delivery", "Bounce"],
  ];
  const rows = [];
  for (const order of orders) {
    const mail = await oneMail();
    for (const type of order) await notify(sns(sesEvent(mail, type, BOUNCED)));
    rows.push([
      await statusOf(mail),
      (await namesOf(mail)).toSorted(),
      Object.values(await mailRow(mail)).length,
    ]);
  }
  expect(rows).toEqual(Array(3).fill(rows[0]));
  expect(rows[0]?.[0]).toBe("COMPLAINED");
  expect(await findMiscounts(database)).toEqual([]);
});

test("counts a bounce once for its contact, who stays subscribed after subscribing again", async () => {
  const mail = await oneMail();
  await notify(sns(sesEvent(mail, "Bounce", BOUNCED)));
  await sql`update contacts set subscribed = true where id = ${mail.contactId}`.execute(database);
  await notify(sns(sesEvent(mail, "Bounce", BOUNCED)));
  expect(await isSubscribed(mail)).toBe(true);
});

test("finds an email by the SES message id or by our Message-ID alone", async () => {
  const [one, other] = [await oneMail(), await oneMail()];
  await sql`update emails set provider_message_id = null where id = ${other.id}`.execute(database);
  await notify(
    sns(sesNotification(one, "Delivery", {}, { headers: [], commonHeaders: {} })),
    sns(sesNotification(other, "Delivery")),
  );
  expect([await statusOf(one), await statusOf(other)]).toEqual(["DELIVERED", "DELIVERED"]);
});

test("ignores tags with the ids of another project's email", async () => {
  const mail = await oneMail();
  const other = await makeProject(database);
  const tags = { "postloft-email": [mail.id], "postloft-project": [other] };
  await notify(
    sns(
      sesEvent({ ...mail, providerId: "unknown" }, "Bounce", BOUNCED, {
        tags,
        headers: [],
        commonHeaders: {},
      }),
    ),
  );
  expect(await statusOf(mail)).toBe("SENT");
});

test("applies only reports about the contact's own address when the email has copies", async () => {
  const mail = await oneMail({ copies: { cc: [], bcc: [{ address: "boss@example.com", name: null }] } });
  const bounced = (...addresses: string[]) =>
    sns(
      sesEvent(mail, "Bounce", {
        ...BOUNCED,
        bouncedRecipients: addresses.map((emailAddress) => ({ emailAddress })),
      }),
    );
  await notify(bounced("boss@example.com"));
  expect([await statusOf(mail), await isSubscribed(mail), (await results()).at(-1)]).toEqual([
    "SENT",
    true,
    "hard-bounce: of a copy",
  ]);
  await notify(bounced("boss@example.com", mail.address.toUpperCase()));
  expect([await statusOf(mail), await isSubscribed(mail)]).toEqual(["BOUNCED", false]);
});

test("classifies the contact's own address when several addresses bounced together", async () => {
  const mail = await oneMail({ copies: { cc: [], bcc: [{ address: "boss@example.com", name: null }] } });
  const gone = {
    emailAddress: "boss@example.com",
    status: "5.1.1",
    diagnosticCode: "smtp; 550 5.1.1 no such user",
  };
  const full = {
    emailAddress: mail.address,
    status: "5.2.2",
    diagnosticCode: "smtp; 552 5.2.2 mailbox full",
  };
  const part = { bounceType: "Permanent", bounceSubType: "General", bouncedRecipients: [gone, full] };
  await notify(sns(sesEvent(mail, "Bounce", part)));
  expect([await statusOf(mail), await isSubscribed(mail)]).toEqual(["SENT", true]);
});

test("keeps a notice until its email is recorded", async () => {
  const mail = await oneMail({ status: "QUEUED" });
  const unknown = { ...mail, id: newId(), providerId: "unknown" };
  await notify(sns(sesEvent(mail, "Delivery")), sns(sesEvent(unknown, "Delivery")));
  expect(await results()).toEqual([null, null]);
  await sql`update emails set status = 'UNCONFIRMED' where id = ${mail.id}`.execute(database);
  await sql`update notices set due_at = now()`.execute(database);
  await readAll();
  expect([await statusOf(mail), (await results()).toSorted()]).toEqual([
    "DELIVERED",
    [null, "delivered"].toSorted(),
  ]);
  // The send was not recorded yet; the notice proves and counts it.
  expect(await namesOf(mail)).toEqual(["email.sent", "email.delivery"]);
  expect(await findMiscounts(database)).toEqual([]);
  await sql`update notices set due_at = now(), received_at = now() - interval '1 hour'`.execute(database);
  await readAll();
  expect(await results()).toContain("delivered: no such mail");
});

test("confirms an email in doubt when SES reports that it has it", async () => {
  const mail = await oneMail({ status: "UNCONFIRMED" });
  await notify(sns(sesEvent(mail, "Send")), sns(sesEvent(mail, "Send")));
  expect([await statusOf(mail), await namesOf(mail)]).toEqual(["SENT", ["email.sent"]]);
  expect(await findMiscounts(database)).toEqual([]);
});

test("records nothing for a failed email, but a complaint still unsubscribes", async () => {
  const mail = await oneMail({ status: "FAILED" });
  await notify(sns(sesEvent(mail, "Delivery")), sns(sesEvent(mail, "Complaint")));
  expect([await statusOf(mail), await isSubscribed(mail), await namesOf(mail)]).toEqual([
    "FAILED",
    false,
    ["contact.unsubscribed"],
  ]);
});

test("a delivery confirms an email during its submission, an open does not", async () => {
  const [opened, delivered] = [await oneMail({ status: "CLAIMED" }), await oneMail({ status: "CLAIMED" })];
  for (const { id } of [opened, delivered]) await markInDoubt(database, newId(), id);
  await notify(sns(sesEvent(opened, "Open")), sns(sesEvent(delivered, "Delivery")));
  expect([(await mailRow(opened)).status, (await mailRow(opened)).sentAt]).toEqual(["CLAIMED", null]);
  expect(await statusOf(delivered)).toBe("DELIVERED");
  expect(await findMiscounts(database)).toEqual([]);
});

test.for([
  ["Send", {}],
  ["DeliveryDelay", {}],
  ["Bounce", { bounceType: "Transient", bounceSubType: "MailboxFull" }],
] as const)("keeps %s during a submission until it ends, and then ends its doubt", async ([type, body]) => {
  const mail = await oneMail({ status: "CLAIMED" });
  const sender = newId();
  await markInDoubt(database, sender, mail.id);
  await notify(sns(sesEvent(mail, type, body)));
  expect(await results()).toEqual([null]);
  await sql`delete from senders where id = ${sender}`.execute(database);
  await sql`update emails set status = 'UNCONFIRMED', sender_id = null where id = ${mail.id}`.execute(
    database,
  );
  // Soon enough for an email that would be retried.
  await sql`update notices set due_at = due_at - interval '10 seconds'`.execute(database);
  await readAll();
  expect([await statusOf(mail), await results()]).toEqual(["SENT", [expect.any(String)]]);
  expect(await findMiscounts(database)).toEqual([]);
});

test("sees a submission that ends in doubt while a notice about it is read", async () => {
  const mail = await oneMail({ status: "CLAIMED" });
  const sender = newId();
  await markInDoubt(database, sender, mail.id);
  await store([sns(sesEvent(mail, "DeliveryDelay"))]);
  const reading = await transaction(database, async (tx) => {
    await sql`delete from senders where id = ${sender}`.execute(tx);
    await sql`update emails set status = 'UNCONFIRMED', sender_id = null where id = ${mail.id}`.execute(tx);
    const done = readAll();
    await vi.waitFor(async () => {
      const { rows } = await sql`
        select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`.execute(
        database,
      );
      expect(rows).not.toEqual([]);
    }, 30_000);
    // Not awaited here, because it waits for this transaction to commit.
    return { done };
  });
  await reading.done;
  expect(await statusOf(mail)).toBe("SENT");
  expect(await findMiscounts(database)).toEqual([]);
});

test("updates the email but records no event when its contact was deleted", async () => {
  const mail = await oneMail();
  await dropContacts(database, [mail.contactId]);
  await notify(sns(sesEvent(mail, "Bounce", BOUNCED)));
  expect([await statusOf(mail), await eventsOf(mail)]).toEqual(["BOUNCED", []]);
});

test("stores fifty concurrent copies of a notice once", async () => {
  const mail = await oneMail();
  const same = sns(sesEvent(mail, "Bounce", BOUNCED));
  const stored = await Promise.all(Array.from({ length: 50 }, () => store([same])));
  expect(stored.flat().filter((one) => one === "stored")).toHaveLength(1);
  await readAll();
  expect(await namesOf(mail)).toEqual(["email.sent", "email.bounce", "contact.unsubscribed"]);
});

test("applies fifty different notices of one bounce once with four concurrent readers", async () => {
  const mails = await makeSentMails(database, projectId, 5);
  await store(
    mails.flatMap((mail) => Array.from({ length: 50 }, () => sns(sesEvent(mail, "Bounce", BOUNCED)))),
  );
  const readers = Array.from({ length: 4 }, async () => {
    while ((await readNotices({ database, interpret, log: silent }, "sns", 20)) > 0);
  });
  await Promise.all(readers);
  for (const mail of mails)
    expect((await namesOf(mail)).toSorted()).toEqual(["contact.unsubscribed", "email.bounce", "email.sent"]);
  const [hour] = (
    await sql<{
      sent: number;
      bounced: number;
    }>`select sent, bounced from sending_hours where project_id = ${projectId}`.execute(database)
  ).rows;
  expect([hour, await findMiscounts(database)]).toEqual([{ sent: 5, bounced: 5 }, []]);
});

test("applies a notice exactly once when its reader crashes at any point", async () => {
  const mail = await oneMail();
  await store([sns(sesEvent(mail, "Complaint"))]);
  // The transaction is lost with the process, both before and after the effects.
  const dying: InterpretNotices[] = [
    async () => Promise.reject(Object.assign(new Error("died"), { code: "57P01" })),
    async (tx, notices) => {
      await interpret(tx, notices);
      throw Object.assign(new Error("died"), { code: "57P01" });
    },
  ];
  for (const how of dying)
    await expect(readNotices({ database, interpret: how, log: silent }, "sns", 10)).rejects.toThrow("died");
  expect([await statusOf(mail), await isSubscribed(mail), await results()]).toEqual(["SENT", true, [null]]);
  await readAll();
  await readAll();
  expect([await statusOf(mail), await isSubscribed(mail), await results()]).toEqual([
    "COMPLAINED",
    false,
    ["complaint"],
  ]);
  expect(await findMiscounts(database)).toEqual([]);
});

test("a failing notice blocks no others, is retried, and is kept in the end", async () => {
  const [poison, fine] = [await oneMail(), await oneMail()];
  await store([sns(sesEvent(poison, "Delivery")), sns(sesEvent(fine, "Delivery"))]);
  const choking: InterpretNotices = async (tx, notices) => {
    if (notices.some(({ text }) => text?.includes(poison.id))) throw new TypeError("cannot read");
    return interpret(tx, notices);
  };
  for (let times = 1; times <= 5; times++) {
    await readNotices({ database, interpret: choking, log: silent }, "sns", LIMIT);
    expect(await statusOf(fine)).toBe("DELIVERED");
    await sql`update notices set due_at = now()`.execute(database);
  }
  await readAll();
  const { rows } = await sql<{ result: string; isKept: boolean }>`
    select result, raw is not null as is_kept from notices order by result`.execute(database);
  expect(rows).toEqual([
    { result: "delivered", isKept: false },
    { result: "failed: cannot read", isKept: true },
  ]);
  expect(await statusOf(poison)).toBe("SENT");
});

const inboundAddress = async () => {
  const { rows } = await sql<{ name: string }>`
    select inbound_name as name from projects where id = ${projectId}`.execute(database);
  return `${rows[0]?.name}@in.example`;
};

test("erases the content of a notice when it is done", async () => {
  const mail = await oneMail();
  await notify(
    sns(sesEvent(mail, "Delivery")),
    smtp(personalMail(), await inboundAddress(), "ada@example.com"),
  );
  const { rows } = await sql`select raw, sender, recipient from notices`.execute(database);
  expect(rows).toEqual([1, 2].map(() => ({ raw: null, sender: null, recipient: null })));
});

test("rejects notices that are too old or from the future, by the database's clock", async () => {
  const mail = await oneMail();
  const at = (ageMs: number) => ({
    ...sns(sesEvent(mail, "Delivery")),
    toldAt: new Date(Date.now() - ageMs),
  });
  expect(await store([at(3_590_000), at(3_610_000), at(-290_000), at(-310_000)])).toEqual([
    "stored",
    "stale",
    "stored",
    "stale",
  ]);
});

test("applies an SMTP bounce to its email and ignores one about a copy", async () => {
  const mail = await oneMail();
  const path = `${returnPaths.localPartOf(projectId, mail.id)}@bounce.example`;
  await notify(smtp(bounceMail({ recipient: "moved@elsewhere.example" }), path), smtp(bounceMail(), path));
  expect([await statusOf(mail), await isSubscribed(mail)]).toEqual(["BOUNCED", false]);
  expect(await namesOf(mail)).toEqual(["email.sent", "email.bounce", "contact.unsubscribed"]);
});

test("keeps a few bounce texts per email until its contact is erased", async () => {
  const mail = await oneMail();
  const path = `${returnPaths.localPartOf(projectId, mail.id)}@bounce.example`;
  const inWords = (at: number) =>
    smtp(
      personalMail({
        from: "MAILER-DAEMON@mx.example.com",
        subject: "Something went wrong",
        messageId: `words.${at}@mx.example.com`,
        text: `It did not work out for ${mail.address}, sorry.`,
      }),
      path,
    );
  await notify(
    ...[1, 2, 3, 4, 5, 6, 7].map(inWords),
    smtp(bounceMail({ status: "5.2.2", diagnostic: "" }), path),
  );
  expect([await statusOf(mail), await isSubscribed(mail)]).toEqual(["SENT", true]);
  expect(await namesOf(mail)).toEqual(["email.sent", "email.bounce"]);
  const kept = await listReturnedMessages(database, projectId, mail.id);
  expect(kept).toHaveLength(5);
  expect(kept[0]).toMatchObject({
    from: "MAILER-DAEMON@mx.example.com",
    subject: "Something went wrong",
    text: `It did not work out for ${mail.address}, sorry.`,
  });
  const { returnedMessages, timeline } = await readEmail(database, projectId, mail.id);
  expect(returnedMessages).toBe(5);
  expect(timeline.find(({ type }) => type === "email.bounce")).toMatchObject({ cause: "not-told" });
  await expect(listReturnedMessages(database, await makeProject(database), mail.id)).rejects.toThrow(
    AppError,
  );
  await transaction(database, (tx) =>
    redactRecipients(tx, projectId, erasedPeople([mail.contactId]), CONTACT_CHECKS.contactsThere),
  );
  expect(await listReturnedMessages(database, projectId, mail.id)).toEqual([]);
});

test("creates an unsubscribed contact with an event for a new sender and keeps known ones", async () => {
  const mail = await oneMail();
  const to = await inboundAddress();
  const write = (from: string) =>
    smtp(personalMail({ from, subject: "Hi", messageId: `${from}.1` }), to, from);
  // A segment subscribes to contact changes.
  await sql`insert into event_subscriptions (project_id, event_name, subscriber) values (${projectId}, '*', 'segments')`.execute(
    database,
  );
  await notify(
    write("new@example.com"),
    write(mail.address),
    // Its id is not an address.
    smtp(personalMail(), `${projectId}@in.example`, "a@example.com"),
    smtp(personalMail(), `${"0".repeat(20)}@in.example`, "a@example.com"),
  );
  expect((await results()).toSorted()).toEqual([
    "no such project",
    "no such project",
    "received",
    "received",
  ]);
  const { rows } = await sql<{ id: string; subscribed: boolean; source: string }>`
    select c.id, c.subscribed, l.source from contacts c join consent_changes l on l.contact_id = c.id
    where c.email = 'new@example.com'`.execute(database);
  expect(rows).toMatchObject([{ subscribed: false, source: "inbound" }]);
  const noted = await sql<{ id: string }>`
    with taken as (delete from event_reactions where project_id = ${projectId} returning contact_id as id),
      unsubscribed as (delete from event_subscriptions where project_id = ${projectId})
    select id from taken`.execute(database);
  expect(noted.rows).toEqual([{ id: rows[0]?.id }]);
  expect(await eventsOf({ contactId: rows[0]?.id ?? "" })).toEqual([
    {
      name: "email.received",
      data: {
        subject: "Hi",
        from: "new@example.com",
        address: expect.stringMatching(/@in\.example$/),
        localPart: expect.any(String),
        messageId: "new@example.com.1",
        text: "Where is my order?",
        receivedEmailId: expect.any(String),
      },
    },
  ]);
  expect([await isSubscribed(mail), (await namesOf(mail)).at(-1)]).toEqual([true, "email.received"]);
});

const about = ({ id }: { id: string }) => complaintMail({ original: [`Message-ID: <${id}@shop.example>`] });

test("ignores an unproven complaint unless it came to the secret feedback address", async () => {
  const [one, other] = [await oneMail(), await oneMail()];
  await notify(
    smtp(about(one), "fbl@bounce.example"),
    smtp(about(other), `${returnPaths.feedbackName}@bounce.example`),
  );
  expect([await statusOf(one), await isSubscribed(one)]).toEqual(["SENT", true]);
  expect([await statusOf(other), await isSubscribed(other)]).toEqual(["COMPLAINED", false]);
});

test("forwards and keeps messages to the instance admin, but only keeps reports about our email", async () => {
  const write = (to: string, from: string) =>
    smtp(
      personalMail({ from: "Eve <eve@example.com>", subject: "Spam <b>", text: "Look at <this>." }),
      to,
      from,
    );
  await notify(
    write("abuse@in.example", "eve@example.com"),
    smtp(bounceMail(), "postmaster@bounce.example", ""),
    write("abuse@in.example", "postmaster@bounce.example"),
  );
  expect(await readPlatformEmails(testDatabase.pool)).toEqual([
    {
      to: "me@example.org",
      subject: "[abuse@in.example] Spam <b>",
      text: expect.stringContaining("eve@example.com wrote to abuse@in.example:\n\nLook at <this>."),
      html: expect.stringMatching(/<pre [^>]*>Look at &lt;this&gt;\./),
    },
  ]);
  const kept = await sql<{ result: string; kept: boolean }>`
    select result, raw is not null and sender is not null as kept from notices`.execute(database);
  expect(kept.rows).toEqual([1, 2, 3].map(() => ({ result: "for the operator", kept: true })));
  await sql`delete from emails where project_id = ${SYSTEM_PROJECT_ID}`.execute(database);
});

test("a running reader processes notices stored before and after its start", async () => {
  const [before, after] = [await oneMail(), await oneMail()];
  await store([sns(sesEvent(before, "Delivery"))]);
  const reader = startNoticeReader({ database, interpret, log: silent, metrics: createMetrics() });
  const notices = createNoticeStore(database);
  await notices.store(sns(sesEvent(after, "Delivery")));
  await expect.poll(() => Promise.all([before, after].map(statusOf))).toEqual(["DELIVERED", "DELIVERED"]);
  await reader.stop();
});

test("combines tracked opens with reported bounces", async () => {
  const mail = await oneMail();
  await transaction(database, (tx) =>
    advanceEmails(tx, [{ projectId, id: mail.id, status: "OPENED", at: new Date() }], addLateSent),
  );
  await notify(sns(sesEvent(mail, "Open")));
  // The first open was reported by our own tracking.
  expect(await namesOf(mail)).toEqual(["email.sent"]);
});

/** Moves the notice that many days into the past. */
const oldId = (days: number) => {
  const hex = (Date.now() - days * 86_400_000).toString(16).padStart(12, "0");
  return `${hex.slice(0, 8)}-${hex.slice(8)}${newId().slice(13)}`;
};

test("deletes ignored notices after a day and done ones after a month", async () => {
  const put = (days: number, result: string | null) =>
    sql`
      insert into notices (id, source, provider_id, result, done_at)
      values (${oldId(days)}, 'smtp', ${newId()}, ${result}, case when ${result}::text is not null then now() end)`.execute(
      database,
    );
  for (const result of [
    "ignored: no report in it",
    "no such project",
    "hard-bounce",
    "for the operator",
    null,
  ])
    for (const days of [0.9, 1.1, 29, 31]) await put(days, result);
  await sweepNotices(database);
  const { rows } = await sql<{ result: string | null; count: number }>`
    select result, count(*) as count from notices group by 1 order by 1`.execute(database);
  expect(rows.map(({ result, count }) => [result, count])).toEqual([
    ["for the operator", 3],
    ["hard-bounce", 3],
    ["ignored: no report in it", 1],
    ["no such project", 1],
    [null, 4],
  ]);
});
