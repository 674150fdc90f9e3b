// Tests that the contents and recipients of old emails are redacted while counts and unfinished emails stay.
import { sql } from "kysely";
import { beforeEach, expect, test, vi } from "vitest";
import * as campaignActions from "@postloft/contract/campaign-actions.ts";
import * as emails from "@postloft/contract/emails.ts";
import { transaction } from "../../platform/database/database.ts";
import type { ErrorEnvelope } from "../../platform/http/errors.ts";
import { firstIdAt } from "../../platform/ids.ts";
import { daysAgo, enqueueOldEmails } from "../../testing/old-mails.ts";
import { useTestServer, type TestProject } from "../../testing/test-server.ts";
import { createDeliveries } from "../../deliveries/deliveries.ts";
import type { ReportKind } from "../../deliveries/rules.ts";
import { deleteContacts } from "../../contacts/contacts.ts";
import { listUncounted } from "../../events/count-queries.ts";
import { countNews } from "../../events/counts.ts";
import { recountSample } from "../../events/recount.ts";
import type { Copies } from "../outbox/emails.ts";
import { findReturnedMails } from "../returned/returned-emails.ts";
import { changeEmailRetention, redactExpired } from "./retention.ts";
import { memberships } from "../../segments/usage.ts";

const WAIT = { timeout: 30_000, interval: 50 };
const server = useTestServer({ ROLES: "api" });
const ADDRESSES = ["ada@gmail.com", "bob@web.de", "cyd@example.net"];

let project: TestProject;
beforeEach(async () => {
  await server.rows("delete from email_retentions");
  project = await server.createProject();
});

interface Old {
  madeDaysAgo?: number;
  sentDaysAgo?: number;
  status?: string;
  campaignId?: string;
  to?: readonly string[];
  copies?: Copies | null;
  projectId?: string;
}

/** Creates ended emails in the past, one per contact. */
async function makeMails(old: Old = {}): Promise<string[]> {
  const { madeDaysAgo = 60, sentDaysAgo = madeDaysAgo, status = "SENT", campaignId, to = ADDRESSES } = old;
  const { copies = null, projectId = project.id } = old;
  const contacts = await server.rows<{ id: string; email: string }>(
    `insert into contacts (project_id, id, email, subscribed) select $1, new_id(), unnest($2::text[]), true
     on conflict (project_id, email) do update set subscribed = true returning id, email`,
    projectId,
    to,
  );
  const ids = await transaction(server.database, (tx) =>
    enqueueOldEmails(
      tx,
      daysAgo(madeDaysAgo),
      contacts.map(({ id, email }) => ({
        projectId,
        contactId: id,
        kind: campaignId === undefined ? "TRANSACTIONAL" : "CAMPAIGN",
        to: { address: email, name: "A Name" },
        copies,
        content: {
          projectId,
          from: { address: "news@sandbox.localhost", name: null },
          replyTo: null,
          subject: "Hello {{name}}",
          html: "<p>Hello</p>",
          text: null,
          headers: [],
          attachments: [],
        },
        variables: { name: "Ada" },
        tags: ["Ada's order"],
        metadata: { customer: "Ada" },
        ...(campaignId === undefined ? {} : { campaignId }),
      })),
    ),
  );
  const sentAt = status === "SENT" ? daysAgo(sentDaysAgo) : null;
  await server.rows(
    `update emails set status = $2, sent_at = $3::timestamptz, subject = 'Hello Ada', attempts = 1,
       answer = '250 ok ' || to_address, reason = 'told about ' || to_address where id = any($1::uuid[])`,
    ids,
    status,
    sentAt,
  );
  await server.rows(
    `insert into email_attempts (project_id, email_id, attempt, outcome, answer, transport)
     select project_id, id, 1, 'deferred', '451 later ' || to_address, 'smtp' from emails where id = any($1::uuid[])`,
    ids,
  );
  await server.rows(
    `insert into mailbox_messages (project_id, id, email_id, from_address, recipients, subject, raw)
     select project_id, new_id(), id, 'news@sandbox.localhost', array[to_address], 'Hello Ada', 'raw' from emails
     where id = any($1::uuid[])`,
    ids,
  );
  return ids;
}

async function makeCampaign(status: string): Promise<string> {
  const [row] = await server.rows<{ id: string }>(
    `insert into campaigns (project_id, id, name, subject, body, from_address, audience_type, status, started_at, snapshot_at,
       finished_at, total_recipients)
     values ($1, new_id(), 'News', 's', 'b', 'news@sandbox.localhost', 'ALL', $2, now(), now(), now(), 3) returning id`,
    project.id,
    status,
  );
  return row?.id ?? "";
}

const keepFor = (count: number | null, projectId = project.id) =>
  transaction(server.database, (tx) => changeEmailRetention(tx, projectId, count));

/** Runs the retention as if `inDays` days had passed. */
async function redactAll(batchSize = 2, inDays = 0): Promise<void> {
  while (await redactExpired(server.database, { batchSize, at: daysAgo(-inDays) }));
}

/** Returns whether each email is redacted. */
async function redactedOf(ids: readonly string[]): Promise<boolean[]> {
  const rows = await server.rows<{ isForgotten: boolean }>(
    "select forgotten_at is not null as is_forgotten from emails where id = any($1::uuid[]) order by id",
    ids,
  );
  return rows.map(({ isForgotten }) => isForgotten);
}

const all = (count: number) => Array<boolean>(count).fill(true);
const none = (count: number) => Array<boolean>(count).fill(false);

/** Reports an event about an email now. */
async function report(id: string, kind: ReportKind): Promise<void> {
  await transaction(server.database, async (tx) => {
    const [mail] = await findReturnedMails(tx, [{ projectId: project.id, emailId: id, providerId: null }]);
    if (mail === undefined || mail === null) throw new Error("There is no such mail.");
    await createDeliveries({ guard: async () => undefined }).applyReports(tx, [
      { mail, kind, at: null, data: {} },
    ]);
  });
}

const get = async <Body = object>(path: string) => (await server.call<Body>("GET", path, project.byKey)).body;

/** Returns the numbers of a campaign and of all reports that are derived from emails. */
const numbersOf = async (campaignId: string) => ({
  stats: await get(`/campaigns/${campaignId}/stats`),
  counts: await server.rows(
    `select v.dimension, v.value, c.quarter, sum(c.sent)::integer as sent, sum(c.delivered)::integer as delivered,
       sum(c.opened)::integer as opened, sum(c.bounced)::integer as bounced
     from mail_counts c join count_values v on v.project_id = c.project_id and v.dimension = c.dimension and v.id = c.value
     where c.project_id = $1 group by 1, 2, 3 order by 1, 2, 3`,
    project.id,
  ),
});

/** Waits for the counters, because any open transaction, such as autovacuum, delays counting by a second. */
const countAll = () =>
  vi.waitFor(async () => {
    await countNews(server.database, { lagSeconds: 0 });
    expect(await listUncounted(server.database, 1)).toEqual([]);
  }, WAIT);

async function expectTrueCounts(): Promise<void> {
  await countAll();
  const span = { from: daysAgo(400), to: daysAgo(-1) };
  expect((await recountSample(server.database, span, 1_000)).wrong).toEqual([]);
}

const statesOf = () =>
  server.rows(
    `select id, contact_id, campaign_id, status, sent_at, delivered_at, opened_at, bounced_at, created_at, attempts from emails
     where project_id = $1 order by id`,
    project.id,
  );

/** Returns every text in the database about these emails, except for shared contents. */
async function textsOf(ids: readonly string[]): Promise<string> {
  const [row] = await server.rows<{ texts: string }>(
    `select concat((select json_agg(e) from emails e where id = any($1::uuid[])),
       (select json_agg(a) from email_attempts a where email_id = any($1::uuid[])),
       (select json_agg(m) from mailbox_messages m where email_id = any($1::uuid[]))) as texts`,
    ids,
  );
  return row?.texts ?? "";
}

test("redacts recipients and texts and keeps statuses, times, reports and all counts", async () => {
  const campaignId = await makeCampaign("SENT");
  const ids = await makeMails({ campaignId });
  const [first = "", second = ""] = ids;
  await report(first, "delivered");
  await report(second, "hard-bounce");
  await countAll();
  const before = await numbersOf(campaignId);
  const states = await statesOf();

  await keepFor(30);
  await redactAll();

  expect(await redactedOf(ids)).toEqual(all(3));
  const texts = await textsOf(ids);
  for (const gone of ["ada@", "bob@", "cyd@", "example.net", "Name", "Ada"])
    expect(texts).not.toContain(gone);
  expect(await statesOf()).toEqual(states);
  expect(await numbersOf(campaignId)).toEqual(before);
  await expectTrueCounts();

  const mail = await get<Record<string, unknown>>(`/emails/${first}`);
  expect(mail).toMatchObject({ status: "DELIVERED", to: "", subject: "", body: "", cc: [], attachments: [] });
  expect(mail["forgottenAt"]).toEqual(expect.any(String));
  const { data } = await get<{ data: object[] }>("/emails");
  expect(data).toHaveLength(3);
  for (const row of data) expect(row).toMatchObject({ to: "", subject: "" });
  const recipients = await get<{ data: object[] }>(`/campaigns/${campaignId}/recipients`);
  for (const row of recipients.data) expect(row).toMatchObject({ email: "" });

  // No one gets another email of this campaign.
  await expect(makeMails({ campaignId, madeDaysAgo: 0 })).rejects.toThrow("emails_by_contact");
});

test("counts late reports by the provider that the redacted email went to", async () => {
  const campaignId = await makeCampaign("SENT");
  const [first = "", second = "", third = ""] = await makeMails({ campaignId });
  await report(first, "delivered");
  await keepFor(30);
  await redactAll();
  await report(second, "delivered");
  await report(third, "delivered");
  await expectTrueCounts();
  const { counts } = await numbersOf(campaignId);
  const delivered = (counts as Array<{ dimension: number; value: string; delivered: number }>)
    .filter((row) => row.dimension === 5 && row.delivered > 0)
    .map(({ value, delivered: count }) => `${value} ${count}`);
  expect(delivered.toSorted()).toEqual(["gmail 1", "gmx 1", "other 1"]);
  // Deleting the contacts keeps the counts, and of their addresses at most the provider.
  const contacts = await server.rows<{ id: string }>(
    "select id from contacts where project_id = $1",
    project.id,
  );
  await transaction(server.database, (tx) =>
    deleteContacts(
      tx,
      project.id,
      contacts.map(({ id }) => id),
      [memberships],
    ),
  );
  await expectTrueCounts();
  expect((await numbersOf(campaignId)).counts).toEqual(counts);
  expect(await textsOf([first, second, third])).not.toMatch(/[a-z0-9]@gmail/);
});

test("records late reports without restoring data and matches no contact if there were copies", async () => {
  const [plain = ""] = await makeMails({ to: ["ada@gmail.com"] });
  const [copied = ""] = await makeMails({
    to: ["bob@example.net"],
    copies: { cc: [{ address: "boss@example.net", name: "Boss" }], bcc: [] },
  });
  // Simulates that other emails still use the content.
  await server.rows("update email_contents set used_until = 'infinity' where project_id = $1", project.id);
  await keepFor(30);
  await redactAll();
  await report(plain, "delivered");
  await report(plain, "hard-bounce");
  const mail = await get(`/emails/${plain}`);
  expect(mail).toMatchObject({ status: "BOUNCED", to: "", subject: "" });
  const [contact] = await server.rows(
    "select subscribed from contacts where project_id = $1 and email = 'ada@gmail.com'",
    project.id,
  );
  expect(contact).toEqual({ subscribed: false });
  expect(await server.rows("select 1 from suppressions where project_id = $1", project.id)).toEqual([]);
  const events = await server.rows<{ data: object }>("select data from events where email_id = $1", plain);
  expect(events.length).toBeGreaterThanOrEqual(2);
  for (const { data } of events) expect(data).toMatchObject({ subject: "" });

  const [found] = await findReturnedMails(server.database, [
    { projectId: project.id, emailId: copied, providerId: null },
  ]);
  expect(found).toMatchObject({ hasCopies: true, toAddress: "" });
  expect(await textsOf([copied])).not.toContain("boss");
});

test("keeps unfinished emails at any age and late-sent ones until they are old enough", async () => {
  const open = [
    ...(await makeMails({ status: "QUEUED", to: ["queued@example.net"] })),
    ...(await makeMails({ status: "UNCONFIRMED", to: ["doubt@example.net"] })),
    ...(await makeMails({ sentDaysAgo: 20, to: ["late@example.net"] })),
  ];
  const ended = await makeMails();
  await keepFor(30);
  await redactAll(1);
  expect(await redactedOf(open)).toEqual(none(3));
  expect(await textsOf(open)).toContain("doubt@example.net");
  expect(await redactedOf(ended)).toEqual(all(3));

  await server.rows("update emails set status = 'FAILED' where id = any($1::uuid[])", open.slice(0, 2));
  await redactAll(1);
  expect(await redactedOf(open)).toEqual(none(3));
  await redactAll(1, 0.5);
  expect(await redactedOf(open)).toEqual([true, true, false]);
  await redactAll(1, 10.5);
  expect(await redactedOf(open)).toEqual(all(3));
  expect(await server.rows("select 1 from emails_kept_longer")).toEqual([]);
});

test("keeps a campaign with an email in doubt or with recipients in a batch", async () => {
  const inDoubt = await makeCampaign("SENT");
  const mails = await makeMails({ campaignId: inDoubt });
  await server.rows("update emails set status = 'UNCONFIRMED' where id = $1", mails[2]);
  const paused = await makeCampaign("PAUSED");
  const left = await makeMails({ campaignId: paused, to: ["left@example.net"] });
  // The third campaign has only batches.
  const unsent = await makeCampaign("PAUSED");
  const waiting = [61, 60].map((days) => firstIdAt(daysAgo(days).getTime()));
  await server.rows(
    `insert into recipient_batches (project_id, id, campaign_id, content_id, email_ids, contact_ids, addresses, domains)
     select project_id, i.id, i.campaign_id, content_id, array[i.id], array[new_id()], '{wait@example.net}', '{example.net}'
     from emails e, unnest($2::uuid[], $3::uuid[]) as i (id, campaign_id) where e.id = $1`,
    left[0],
    waiting,
    [unsent, paused],
  );
  const other = await makeMails({ to: ["other@example.net"] });
  await keepFor(30);
  await redactAll(1);
  expect(await redactedOf([...mails, ...left])).toEqual(none(4));
  expect(await redactedOf(other)).toEqual(all(1));

  // The position is beyond their emails by now.
  await server.rows("update emails set status = 'FAILED' where id = $1", mails[2]);
  await server.rows(
    `with ended as (delete from recipient_batches where id = any($1::uuid[]) returning *)
     insert into emails (project_id, id, content_id, campaign_id, priority, to_address, status, sent_at)
     select project_id, id, content_id, campaign_id, 3, 'wait@example.net', 'SENT', now() from ended`,
    waiting,
  );
  await redactAll(1, 0.5);
  expect(await redactedOf([...mails, ...left])).toEqual(all(4));
  expect(await redactedOf(waiting)).toEqual(none(2));
  await redactAll(1, 31);
  expect(await redactedOf(waiting)).toEqual(all(2));
  expect(await server.rows("select 1 from emails_kept_longer")).toEqual([]);
});

test("never resends a redacted email, whether it failed or was in doubt", async () => {
  const campaignId = await makeCampaign("SENT");
  const failed = await makeMails({ campaignId, status: "FAILED" });
  const [alone = ""] = await makeMails({ status: "FAILED", to: ["alone@example.net"] });
  await keepFor(30);
  await redactAll();
  const retry = await server.call<ErrorEnvelope>(
    "POST",
    `/campaigns/${campaignId}/retry-failed`,
    project.byKey,
  );
  expect([retry.status, retry.body.error.message]).toEqual([
    409,
    expect.stringContaining("content was deleted"),
  ]);
  const resolve = await server.call(emails.resolveEmail, project.byKey, {
    params: { id: alone },
    body: { as: "retry" },
  });
  expect(resolve.status).toBe(409);
  await expect(server.rows("update emails set status = 'QUEUED' where id = $1", alone)).rejects.toThrow(
    "emails_forgotten_check",
  );

  // A retry skips them if other failed emails are kept.
  const young = await makeMails({ campaignId, status: "FAILED", madeDaysAgo: 1, to: ["young@example.net"] });
  const again = await server.call(campaignActions.retryFailedCampaign, project.byKey, {
    params: { id: campaignId },
  });
  expect(again.status).toBe(200);
  const states = await server.rows<{ id: string }>(
    "select id from emails where project_id = $1 and status = 'QUEUED'",
    project.id,
  );
  expect(states.map(({ id }) => id)).toEqual(young);
  expect(await redactedOf(failed)).toEqual(all(3));
});

test("keeps an email in full that is requeued while the retention runs", async () => {
  const campaignId = await makeCampaign("SENT");
  const [failed = ""] = await makeMails({ campaignId, status: "FAILED", to: ["ada@gmail.com"] });
  await keepFor(30);
  const retrying = Promise.withResolvers<void>();
  const retried = transaction(server.database, async (tx) => {
    await tx.updateTable("emails").set({ status: "QUEUED" }).where("id", "=", failed).execute();
    await retrying.promise;
  });
  const redacting = redactAll();
  await vi.waitFor(async () => {
    const waiting = await server.rows("select 1 from pg_stat_activity where wait_event_type = 'Lock'");
    expect(waiting).toHaveLength(1);
  }, WAIT);
  retrying.resolve();
  await Promise.all([retried, redacting]);
  expect(await redactedOf([failed])).toEqual(none(1));
  await server.rows("update emails set status = 'FAILED' where id = $1", failed);
  await redactAll(2, 0.5);
  expect(await redactedOf([failed])).toEqual(all(1));
});

test("redacts each email once in two processes and leaves other projects alone", async () => {
  const old = await makeMails({ to: Array.from({ length: 20 }, (_, at) => `old${at}@example.net`) });
  const young = await makeMails({ madeDaysAgo: 30.5, to: ["young@example.net"] });
  const other = await server.createProject();
  const others = await makeMails({ projectId: other.id });
  const longer = await server.createProject();
  const kept = await makeMails({ projectId: longer.id });
  await keepFor(30);
  await keepFor(61, longer.id);
  // A project that another process has locked is skipped.
  await transaction(server.database, async (tx) => {
    await sql`select 1 from email_retentions where project_id = ${project.id} for update`.execute(tx);
    await redactAll();
  });
  expect(await redactedOf(old)).toEqual(none(20));
  await Promise.all([redactAll(1), redactAll(3)]);
  await redactAll();
  expect(await redactedOf(old)).toEqual(all(20));
  expect(await redactedOf([...young, ...others, ...kept])).toEqual(none(7));

  // Remove the retention and set a shorter one, which starts again at the first email.
  await keepFor(null);
  await keepFor(30);
  await keepFor(59, longer.id);
  await redactAll();
  expect(await redactedOf([...old, ...others, ...kept])).toEqual([...all(20), ...none(3), ...none(3)]);
  await redactAll(2, 1);
  expect(await redactedOf([...young, ...kept])).toEqual(all(4));
});

const positionOf = () =>
  server.rows("select position from email_retentions where project_id = $1", project.id);

test("only moves the position forward and checks no email twice", async () => {
  await makeMails();
  await keepFor(30);
  await redactAll(1);
  const before = await positionOf();
  await redactAll(1);
  expect(await positionOf()).toEqual(before);
  await keepFor(100);
  await redactAll(1);
  expect(await positionOf()).toEqual(before);
});
