// Tests batched recipients, who have no row yet but must be mailed once, listed, counted and skipped like all others.
import { sql } from "kysely";
import { afterEach, expect, test, vi } from "vitest";
import { transaction } from "../../platform/database/database.ts";
import { armFailpoints } from "../../platform/failpoints.ts";
import { newId } from "../../platform/ids.ts";
import { deleteContact } from "../../contacts/contacts.ts";
import { CONTACT_CHECKS, recipientsOf } from "../../contacts/recipients.ts";
import { RECIPIENT_CHECKS } from "../../suppressions/recipients.ts";
import { listEventsOfEmail } from "../../events/events.ts";
import {
  createScriptedTransport,
  takeEverything,
  TAKEN,
  type Play,
} from "../../testing/scripted-transport.ts";
import { addSendingCampaign, expireLease, OUTBOX_WAIT, useOutbox } from "../../testing/outbox-fixture.ts";
import { recordActivities } from "../../deliveries/tracking/record-activity.ts";
import { findLinkTargets } from "../../deliveries/tracking/queries.ts";
import { takeOutRecipients } from "./batch-queries.ts";
import { claimEmails, claimBatch } from "../sending/sender-queries.ts";
import {
  countRecipients,
  dropRecipients,
  hasPendingRecipients,
  listRecipients,
  snapshotRecipients,
} from "./campaign-emails.ts";
import { recordAndCheck } from "../submission/submission-queries.ts";
import { readEmailHistory } from "../reading/email-history.ts";
import { listEmails } from "../reading/read-emails.ts";
import { makeContent } from "./emails.ts";
import { readEmail } from "../../testing/read-email.ts";
import { recountEmailsInSql } from "../../testing/recount-emails.ts";
import { dropContacts } from "../../testing/drop-contacts.ts";
import { erasedPeople } from "../../testing/erased-people.ts";
import { redactRecipients } from "./redact-recipients.ts";
import { deleteExpiredSender } from "../lease/lease-queries.ts";
import { measureQueue } from "../sending/measure-queries.ts";
import { memberships } from "../../segments/usage.ts";

const outbox = useOutbox();
afterEach(() => armFailpoints([]));
/** Two full batches and part of a third. */
const RECIPIENTS = 90;

interface Campaign {
  key: { projectId: string; campaignId: string };
  /** Email ids of the recipients, in order. */
  ids: string[];
  contactIds: string[];
}

/** Starts a campaign to `recipients` contacts, the same ones each time. Every fifth address is at the same provider. */
async function startCampaign(
  recipients = RECIPIENTS,
  listKind: "MARKETING" | null = "MARKETING",
  beforeItCommits: () => Promise<void> = async () => undefined,
): Promise<Campaign> {
  const { database, projectId } = outbox;
  const key = { projectId, campaignId: newId() };
  await sql`
    insert into contacts (project_id, id, email, subscribed)
    select ${projectId}, new_id(), n || case when n % 5 = 2 then '@gmail.com' else '@d' || n || '.example.com' end, true
    from generate_series(1, ${recipients}::integer) n
    on conflict do nothing`.execute(database);
  await addSendingCampaign(database, key);
  const content = makeContent({
    projectId,
    from: { address: "me@sender.example", name: null },
    replyTo: null,
    subject: "Hello",
    html: "<p>Hi</p>",
    text: null,
    headers: [],
    attachments: [],
    listKind,
  });
  const count = await transaction(database, async (tx) => {
    const recipientsQuery = recipientsOf(key.projectId, sql<boolean>`c.subscribed`);
    const fixed = await snapshotRecipients(tx, key, content, recipientsQuery);
    await beforeItCommits();
    return fixed;
  });
  expect(count).toBe(recipients);
  const { rows } = await sql<{ id: string; contactId: string }>`
    select r.id, r.contact_id from recipient_batches b, unnest(b.email_ids, b.contact_ids) as r (id, contact_id)
    where campaign_id = ${key.campaignId} order by r.id`.execute(database);
  return { key, ids: rows.map((row) => row.id), contactIds: rows.map((row) => row.contactId) };
}

const setCampaign = ({ key }: Campaign, state: string) =>
  sql`update campaign_queues set state = ${state} where campaign_id = ${key.campaignId}`.execute(
    outbox.database,
  );

async function counts({ key }: Campaign) {
  const [found] = await countRecipients(outbox.database, key.projectId, [key.campaignId]);
  if (found === undefined) throw new Error("There are no counts.");
  return found;
}

async function isOver({ key }: Campaign): Promise<void> {
  await vi.waitFor(
    async () => expect(await hasPendingRecipients(outbox.database, key)).toBe(false),
    OUTBOX_WAIT,
  );
}

/** Returns the bulk emails that a sender may submit. */
async function check(senderId: string, { key }: Campaign, ids: readonly string[]): Promise<string[]> {
  const list = { projectId: key.projectId, ids, chosenFor: null };
  const asked = { projectId: null, sent: [], plain: [], list, kept: [], watched: [] };
  const ends = await recordAndCheck(outbox.database, senderId, asked, RECIPIENT_CHECKS);
  return ids.filter((id) => ends.get(id) === "passed");
}

const batches = async () =>
  (await sql`select id from recipient_batches`.execute(outbox.database)).rows.length;
const leftIds = (transport: { handedOver: ReadonlyArray<{ emailId: string }> }) =>
  transport.handedOver.map(({ emailId }) => emailId).toSorted();

/** Blocks all submissions before the pre-send check until they are released. */
function holdAll(transport: { play: Play }) {
  const reached = Promise.withResolvers<void>();
  const released = Promise.withResolvers<void>();
  transport.play = async (message, mayLeave) => {
    reached.resolve();
    await released.promise;
    return takeEverything(message, mayLeave);
  };
  return { reached: reached.promise, release: () => released.resolve() };
}

/** Blocks the first submission after the pre-send check until it is released. */
function stopFirst(transport: { play: Play }) {
  const reached = Promise.withResolvers<string>();
  const released = Promise.withResolvers<void>();
  let isFirst = true;
  transport.play = async (message, mayLeave) => {
    if (!isFirst) return takeEverything(message, mayLeave);
    isFirst = false;
    const mayGo = await mayLeave();
    reached.resolve(message.emailId);
    await released.promise;
    return mayGo ? TAKEN : { kind: "withdrawn" };
  };
  return { reached: reached.promise, release: () => released.resolve() };
}

test("mails each batched recipient once and keeps the counts balanced throughout", async () => {
  const campaign = await startCampaign();
  expect([await outbox.countByStatus(), await batches()]).toEqual([{}, 3]);
  const transport = createScriptedTransport();
  await outbox.start(transport);
  for (let isDone = false; !isDone; isDone = !(await hasPendingRecipients(outbox.database, campaign.key))) {
    const { totalRecipients, sentCount, pendingCount } = await counts(campaign);
    expect([totalRecipients, sentCount + pendingCount]).toEqual([RECIPIENTS, RECIPIENTS]);
  }
  expect(leftIds(transport)).toEqual(campaign.ids);
  expect([await outbox.countByStatus(), await batches()]).toEqual([{ SENT: RECIPIENTS }, 0]);
});

test("lists each recipient once across pages, waiting or not", async () => {
  const campaign = await startCampaign();
  const transport = createScriptedTransport();
  let taken = 0;
  transport.play = (message, mayLeave) =>
    ++taken > 50 ? Promise.resolve({ kind: "withdrawn" }) : takeEverything(message, mayLeave);
  const sender = await outbox.start(transport);
  await vi.waitFor(() => expect(taken).toBeGreaterThan(60), OUTBOX_WAIT);
  await sender.stop();
  const seen: Array<{ id: string; status: string }> = [];
  for (let before: string | null = null; ;) {
    const page: { data: ReadonlyArray<{ id: string; status: string }> } = await listRecipients(
      outbox.database,
      campaign.key,
      undefined,
      { limit: 7, before },
    );
    seen.push(...page.data);
    before = page.data.at(-1)?.id ?? null;
    if (page.data.length < 7) break;
  }
  expect(seen.map(({ id }) => id)).toEqual(campaign.ids.toReversed());
  const queued = seen.filter(({ status }) => status === "QUEUED");
  expect(queued).toHaveLength(RECIPIENTS - 50);
  const first = await listRecipients(outbox.database, campaign.key, "QUEUED", { limit: 100, before: null });
  expect([first.total, first.data.map(({ id }) => id)]).toEqual([queued.length, queued.map(({ id }) => id)]);
});

test("marks a dead sender's in-doubt emails as unconfirmed and sends the others once", async () => {
  const campaign = await startCampaign();
  const { database } = outbox;
  const dead = await outbox.addLiveSender();
  const rows = await claimBatch(database, {
    senderId: dead,
    ...campaign.key,
    limit: 40,
    withoutDomains: [],
    ...CONTACT_CHECKS,
  });
  const asking = rows.slice(0, 3).map(({ id }) => id);
  expect(await check(dead, campaign, asking)).toEqual(asking);
  await expireLease(database, dead);
  const transport = createScriptedTransport();
  await outbox.start(transport);
  await isOver(campaign);
  expect(await outbox.countByStatus()).toEqual({ SENT: RECIPIENTS - 3, UNCONFIRMED: 3 });
  expect(leftIds(transport)).toEqual(campaign.ids.filter((id) => !asking.includes(id)));
});

test.each(["mails of a batch", "mails with rows"])(
  "claims nothing for a sender that is declared dead while it claims %s",
  async (what) => {
    const { database } = outbox;
    const campaign = await startCampaign(5);
    const dead = await outbox.addLiveSender();
    const limits = { senderId: dead, ...campaign.key, limit: 40, withoutDomains: [], ...CONTACT_CHECKS };
    if (what === "mails with rows") {
      await claimBatch(database, limits);
      await sql`update emails set status = 'QUEUED', sender_id = null`.execute(database);
    }
    await expireLease(database, dead);
    const { claimed } = await transaction(database, async (tx) => {
      await deleteExpiredSender(tx, { id: dead, leaseUntil: new Date(0) });
      const underWay =
        what === "mails of a batch"
          ? claimBatch(database, limits)
          : claimEmails(database, { ...limits, priority: 3 });
      await vi.waitFor(async () => {
        const { rows } = await sql`select 1 from pg_stat_activity
          where datname = current_database() and wait_event_type = 'Lock'`.execute(database);
        expect(rows).toHaveLength(1);
      }, OUTBOX_WAIT);
      return { claimed: underWay };
    });
    expect(await claimed).toEqual([]);
    expect((await outbox.countByStatus()).CLAIMED).toBeUndefined();
  },
);

test("does not resend a claimed email that another sender has sent", async () => {
  const campaign = await startCampaign(5);
  const transport = createScriptedTransport();
  const hold = holdAll(transport);
  await outbox.start(transport);
  await hold.reached;
  const { database } = outbox;
  const [id = ""] = campaign.ids;
  await sql`update emails set status = 'SENT', sender_id = null, sent_at = now() where id = ${id}`.execute(
    database,
  );
  await recountEmailsInSql(database, outbox.projectId);
  hold.release();
  await isOver(campaign);
  expect(leftIds(transport)).toEqual(campaign.ids.filter((one) => one !== id));
  expect(await outbox.countByStatus()).toEqual({ SENT: 5 });
});

test.each([
  ["with an expired lease", sql`update senders set lease_until = now() - interval '1 second'`],
  ["after its emails were requeued", sql`update emails set status = 'QUEUED', sender_id = null`],
])("the pre-send check rejects all emails of a sender %s", async (_what, happens) => {
  const campaign = await startCampaign(5);
  const { database } = outbox;
  const sender = await outbox.addLiveSender();
  const claim = { senderId: sender, ...campaign.key, limit: 40, withoutDomains: [], ...CONTACT_CHECKS };
  const ids = (await claimBatch(database, claim)).map((row) => row.id);
  expect(await check(sender, campaign, ids)).toHaveLength(5);
  await happens.execute(database);
  expect(await check(sender, campaign, ids)).toEqual([]);
});

test("limits emails in doubt to the number of connections while results cannot be recorded", async () => {
  const campaign = await startCampaign(60);
  const { database } = outbox;
  const transport = createScriptedTransport();
  let asked = 0;
  transport.play = async (_message, mayLeave) => {
    asked++;
    return (await mayLeave()) ? { kind: "uncertain", answer: "timeout" } : { kind: "withdrawn" };
  };
  await transaction(database, async (tx) => {
    await sql`lock table email_attempts in exclusive mode`.execute(tx);
    await outbox.start(transport, { connections: 5 });
    // Each connection has moved to its next email, which now waits for permission.
    await vi.waitFor(() => expect(asked).toBe(10), OUTBOX_WAIT);
    // Submissions stay blocked until these results are recorded, for longer than a database response takes.
    for (let looks = 0; looks < 50; looks++) await sql`select 1`.execute(tx);
    expect(transport.handedOver).toHaveLength(5);
  });
  await isOver(campaign);
  expect(await outbox.countByStatus()).toEqual({ UNCONFIRMED: 60 });
  const { rows } = await sql<{ kept: number }>`
    select cardinality(in_doubt)::float8 as kept from senders`.execute(database);
  expect(rows[0]?.kept).toBeLessThanOrEqual(10);
});

test("gives recipients that cannot be sent now a row and keeps them queued", async () => {
  const campaign = await startCampaign(40);
  const senderId = await outbox.addLiveSender();
  const withoutDomains = ["gmail.com"];
  const claim = { senderId, ...campaign.key, limit: 10, withoutDomains, ...CONTACT_CHECKS };
  const rows = await claimBatch(outbox.database, claim);
  expect(rows.map(({ toAddress }) => toAddress).filter((to) => to.endsWith("@gmail.com"))).toEqual([]);
  expect([rows.length, await outbox.countByStatus()]).toEqual([10, { CLAIMED: 10, QUEUED: 30 }]);
  expect(await counts(campaign)).toMatchObject({ totalRecipients: 40, pendingCount: 40 });
});

test("skips a batch if all its destinations are at their limits", async () => {
  const campaign = await startCampaign(5);
  await sql`update recipient_batches set domains = '{gmail.com}'`.execute(outbox.database);
  const claim = {
    senderId: await outbox.addLiveSender(),
    ...campaign.key,
    limit: 10,
    withoutDomains: ["gmail.com", "other.example"],
    ...CONTACT_CHECKS,
  };
  expect(await claimBatch(outbox.database, claim)).toEqual([]);
  expect(await batches()).toBe(1);
});

test.each(["at the last byte before the dot", "before its mail is prepared"])(
  "skips a contact who unsubscribes %s",
  async (when) => {
    const campaign = await startCampaign(5);
    const unsubscribe = () =>
      sql`update contacts set subscribed = false where id = ${campaign.contactIds[2]}`.execute(
        outbox.database,
      );
    const transport = createScriptedTransport();
    if (when.startsWith("before")) await unsubscribe();
    else
      transport.play = async (message, mayLeave) => {
        if (message.emailId === campaign.ids[2]) await unsubscribe();
        return takeEverything(message, mayLeave);
      };
    await outbox.start(transport);
    await isOver(campaign);
    expect(leftIds(transport)).toEqual(campaign.ids.filter((_id, at) => at !== 2));
    expect(await readEmail(outbox.database, campaign.key.projectId, campaign.ids[2] ?? "")).toMatchObject({
      status: "SKIPPED",
      reason: "The contact is not subscribed.",
    });
  },
);

test("stops a paused campaign, sends the rest once on resume and drops the rest on cancel", async () => {
  const campaign = await startCampaign();
  const transport = createScriptedTransport();
  transport.play = async (message, mayLeave) => {
    if (transport.handedOver.length === 20) await setCampaign(campaign, "PAUSED");
    return takeEverything(message, mayLeave);
  };
  await outbox.start(transport);
  const held = async () =>
    (await sql`select 1 from emails where sender_id is not null`.execute(outbox.database)).rows.length;
  await vi.waitFor(
    async () => expect([transport.handedOver.length >= 20, await held()]).toEqual([true, 0]),
    OUTBOX_WAIT,
  );
  const before = transport.handedOver.length;
  expect(await counts(campaign)).toMatchObject({ sentCount: before, pendingCount: RECIPIENTS - before });
  transport.play = async (message, mayLeave) => {
    if (transport.handedOver.length === 60) await setCampaign(campaign, "CLOSED");
    return takeEverything(message, mayLeave);
  };
  await setCampaign(campaign, "OPEN");
  await vi.waitFor(async () => {
    expect(transport.handedOver.length).toBeGreaterThanOrEqual(60);
    await transaction(outbox.database, (tx) =>
      dropRecipients(tx, campaign.key, "Cancelled.", { limit: 1_000, ...CONTACT_CHECKS }),
    );
    expect(await hasPendingRecipients(outbox.database, campaign.key)).toBe(false);
  }, OUTBOX_WAIT);
  const left = transport.handedOver.length;
  expect(new Set(leftIds(transport)).size).toBe(left);
  // Emails past the pre-send check at the time of the cancel have been sent, possibly all of them.
  expect({ SKIPPED: 0, ...(await outbox.countByStatus()) }).toEqual({
    SENT: left,
    SKIPPED: RECIPIENTS - left,
  });
});

test("skips contacts deleted while waiting or claimed and erases their addresses from batches", async () => {
  const campaign = await startCampaign(60, null);
  const { database } = outbox;
  const deleted = [campaign.contactIds[1], campaign.contactIds[50]].flatMap((id) => id ?? []);
  const transport = createScriptedTransport();
  const hold = holdAll(transport);
  await outbox.start(transport);
  await hold.reached;
  await transaction(database, async (tx) => {
    await redactRecipients(tx, campaign.key.projectId, erasedPeople(deleted), CONTACT_CHECKS.contactsThere);
    await dropContacts(tx, deleted);
  });
  const { rows } = await sql<{ kept: number }>`
    select count(*)::float8 as kept from recipient_batches b, unnest(b.contact_ids, b.addresses) as r (id, address)
    where r.id = any(${deleted}::uuid[])`.execute(database);
  expect(rows[0]?.kept).toBe(0);
  hold.release();
  await isOver(campaign);
  const out = [campaign.ids[1], campaign.ids[50]];
  expect(leftIds(transport)).toEqual(campaign.ids.filter((id) => !out.includes(id)));
  expect(await outbox.countByStatus()).toEqual({ SENT: 58, SKIPPED: 2 });
});

test("skips a contact deleted while waiting in two campaigns in both of them", async () => {
  const campaigns = [await startCampaign(3, null), await startCampaign(3, null)];
  const [deleted = ""] = campaigns[0]?.contactIds ?? [];
  await transaction(outbox.database, async (tx) => {
    await redactRecipients(tx, outbox.projectId, erasedPeople([deleted]), CONTACT_CHECKS.contactsThere);
    await dropContacts(tx, [deleted]);
  });
  await outbox.start(createScriptedTransport());
  for (const campaign of campaigns) await isOver(campaign);
  expect(await outbox.countByStatus()).toEqual({ SENT: 4, SKIPPED: 2 });
});

/** Deletes the contact with the address `3@d3.example.com`. */
async function deleteOne(): Promise<void> {
  const { rows } = await sql<{ id: string }>`
    select id from contacts where project_id = ${outbox.projectId} and email = '3@d3.example.com'`.execute(
    outbox.database,
  );
  await transaction(outbox.database, (tx) =>
    deleteContact(tx, outbox.projectId, rows[0]?.id ?? "", [memberships]),
  );
}

test.each<[string, (campaign: Campaign) => Promise<unknown>]>([
  ["is sent", () => outbox.start(createScriptedTransport())],
  [
    "is cancelled",
    ({ key }) =>
      transaction(outbox.database, (tx) =>
        dropRecipients(tx, key, "Cancelled.", { limit: 1_000, ...CONTACT_CHECKS }),
      ),
  ],
  [
    "is taken out of its batches",
    ({ key, ids }) =>
      transaction(outbox.database, (tx) =>
        takeOutRecipients(tx, key.projectId, { by: "id", ids }, CONTACT_CHECKS.contactsThere),
      ),
  ],
])(
  "skips a contact deleted during the snapshot and keeps no address when the campaign %s",
  async (_what, happens) => {
    const campaign = await startCampaign(5, null, deleteOne);
    await happens(campaign);
    await vi.waitFor(async () => expect(await batches()).toBe(0), OUTBOX_WAIT);
    const mails = await outbox.database
      .selectFrom("emails")
      .select(["status", "reason", "toAddress", "senderId"])
      .where("contactId", "is", null)
      .execute();
    const reason = "The contact was deleted.";
    expect(mails).toEqual([{ status: "SKIPPED", reason, toAddress: "", senderId: null }]);
  },
);

test("records an email as sent when its contact is deleted during the submission", async () => {
  const campaign = await startCampaign(5, null);
  const transport = createScriptedTransport();
  const stop = stopFirst(transport);
  await outbox.start(transport);
  const id = await stop.reached;
  const contactId = campaign.contactIds[campaign.ids.indexOf(id)] ?? "";
  await transaction(outbox.database, async (tx) => {
    await redactRecipients(
      tx,
      campaign.key.projectId,
      erasedPeople([contactId]),
      CONTACT_CHECKS.contactsThere,
    );
    await dropContacts(tx, [contactId]);
  });
  stop.release();
  await isOver(campaign);
  expect(await outbox.countByStatus()).toEqual({ SENT: 5 });
  expect(await outbox.row(id)).toMatchObject({ contactId: null, attempts: 1 });
});

test("records all results when a contact vanishes between pre-send check and result", async () => {
  const campaign = await startCampaign(5, null);
  const transport = createScriptedTransport();
  const stop = stopFirst(transport);
  await outbox.start(transport);
  const id = await stop.reached;
  await dropContacts(outbox.database, [campaign.contactIds[campaign.ids.indexOf(id)] ?? ""]);
  stop.release();
  await isOver(campaign);
  expect(await outbox.countByStatus()).toEqual({ SENT: 5 });
  expect((await outbox.row(id)).contactId).toBeNull();
});

test("redirects a link that a filter follows before acceptance and records the email once", async () => {
  const campaign = await startCampaign(5);
  const { database } = outbox;
  const { projectId } = campaign.key;
  await sql`
    insert into content_links (project_id, content_id, numbers, urls)
    select project_id, content_id, '{1}', '{https://a.example}' from recipient_batches
    on conflict (project_id, content_id) do update set numbers = excluded.numbers, urls = excluded.urls`.execute(
    database,
  );
  const transport = createScriptedTransport();
  const stop = stopFirst(transport);
  await outbox.start(transport);
  const emailId = await stop.reached;
  expect(await findLinkTargets(database, [{ projectId, emailId, number: 1 }])).toEqual(["https://a.example"]);
  const visit = {
    userAgent: "Thunderbird",
    purpose: "",
    otherLinkMs: Number.POSITIVE_INFINITY,
    isLast: true,
  };
  await transaction(database, (tx) =>
    recordActivities(tx, [
      {
        ...visit,
        kind: "click",
        projectId,
        emailId,
        number: 1,
        link: "https://a.example",
        at: new Date(),
      },
    ]),
  );
  expect((await outbox.row(emailId)).status).toBe("SENDING");
  stop.release();
  await isOver(campaign);
  const { totalRecipients, sentCount } = await counts(campaign);
  expect([totalRecipients, sentCount]).toEqual([5, 5]);
  expect(await outbox.row(emailId)).toMatchObject({ attempts: 1 });
  expect(leftIds(transport)).toEqual(campaign.ids);
});

test("shows the email of a batched recipient and sends it once", async () => {
  const campaign = await startCampaign(5);
  const look = () => readEmail(outbox.database, campaign.key.projectId, campaign.ids[3] ?? "");
  expect(await look()).toMatchObject({ status: "QUEUED", campaignId: campaign.key.campaignId, attempts: 0 });
  expect(await counts(campaign)).toMatchObject({ totalRecipients: 5, pendingCount: 5 });
  const transport = createScriptedTransport();
  await outbox.start(transport);
  await isOver(campaign);
  expect(leftIds(transport)).toEqual(campaign.ids);
  expect(await look()).toMatchObject({ status: "SENT", attempts: 1 });
});

test.each([
  [
    "listed",
    async (projectId: string, contactId: string) => {
      const request = { limit: 10, before: null, withTotal: true, isShort: false };
      return (await listEmails(outbox.database, projectId, { contactId }, request)).data;
    },
  ],
  [
    "exported",
    (projectId: string, contactId: string) =>
      Array.fromAsync(readEmailHistory(outbox.database, projectId, contactId, listEventsOfEmail)),
  ],
])("emails waiting in batches are %s with the contact's other emails", async (_how, read) => {
  const { key, ids, contactIds } = await startCampaign(5);
  expect(await read(key.projectId, contactIds[1] ?? "")).toMatchObject([{ id: ids[1], status: "QUEUED" }]);
});

test.each([
  ["a project rate of 25 emails per second", { projectSendsPerSecond: 25 }],
  ["one connection per destination", { destinationConnections: 1 }],
])("mails each recipient once with %s", async (_what, options) => {
  const campaign = await startCampaign(60);
  const transport = createScriptedTransport();
  await outbox.start(transport, options);
  await isOver(campaign);
  expect(leftIds(transport)).toEqual(campaign.ids);
  expect(await outbox.countByStatus()).toEqual({ SENT: 60 });
});

test("records the right end for each email when some are deferred, rejected or unanswered", async () => {
  const campaign = await startCampaign(40);
  const transport = createScriptedTransport();
  transport.play = async (message, mayLeave) => {
    const at = campaign.ids.indexOf(message.emailId) % 4;
    if (at === 0) return { kind: "deferred", answer: "451 later" };
    if (at === 1) return { kind: "rejected", answer: "554 no" };
    const mayGo = await mayLeave();
    if (at === 2 && mayGo) return { kind: "uncertain", answer: "timeout" };
    return mayGo ? TAKEN : { kind: "withdrawn" };
  };
  await outbox.start(transport);
  await vi.waitFor(
    async () =>
      expect(await outbox.countByStatus()).toEqual({ QUEUED: 10, FAILED: 10, UNCONFIRMED: 10, SENT: 10 }),
    OUTBOX_WAIT,
  );
  await vi.waitFor(async () => expect(await batches()).toBe(0), OUTBOX_WAIT);
  const { rows } = await sql<{ attempts: number; count: number }>`
    select attempts, count(*)::float8 as count from emails group by attempts`.execute(outbox.database);
  expect(rows).toEqual([{ attempts: 1, count: 40 }]);
});

test.each([
  "claim.after",
  "render.after",
  "sending.before_commit",
  "sending.after_commit",
  "sent.before_commit",
  "sent.after_commit",
] as const)("mails each recipient once and leaves no batch after an error at %s", async (name) => {
  const campaign = await startCampaign();
  const transport = createScriptedTransport();
  armFailpoints([{ name, action: "throw", turn: 2 }]);
  await outbox.start(transport);
  await isOver(campaign);
  expect(leftIds(transport)).toEqual(campaign.ids);
  expect([await outbox.countByStatus(), await batches()]).toEqual([{ SENT: RECIPIENTS }, 0]);
});

test("loses no recipient when one of two senders stops in the middle of a campaign", async () => {
  const campaign = await startCampaign(200);
  const transports = [createScriptedTransport(), createScriptedTransport(), createScriptedTransport()];
  const [first] = await Promise.all(transports.slice(0, 2).map((transport) => outbox.start(transport)));
  await vi.waitFor(() => expect(transports[0]?.handedOver.length).toBeGreaterThan(20), OUTBOX_WAIT);
  await first?.stop();
  if (transports[2] !== undefined) await outbox.start(transports[2]);
  await isOver(campaign);
  expect(transports.flatMap(leftIds).toSorted()).toEqual(campaign.ids);
  expect([await outbox.countByStatus(), await batches()]).toEqual([{ SENT: 200 }, 0]);
});

test("measures recipients in batches together with queued emails", async () => {
  await startCampaign(60);
  const measured = await measureQueue(outbox.database);
  expect(measured.find(({ priority }) => priority === 3)?.due).toBe(60);
});
