// Tests campaigns over HTTP: each recipient exactly once, consistent states and correct counts.
import { randomUUID } from "node:crypto";
import { expect, test, vi } from "vitest";
import * as campaignActions from "@postloft/contract/campaign-actions.ts";
import * as campaigns from "@postloft/contract/campaigns.ts";
import * as contactsContract from "@postloft/contract/contacts.ts";
import * as domainsContract from "@postloft/contract/domains.ts";
import * as segments from "@postloft/contract/segments.ts";
import * as v1 from "@postloft/contract/v1.ts";
import { LIMITS } from "@postloft/contract/limits/limits.ts";
import type { ErrorEnvelope } from "../platform/http/errors.ts";
import {
  faultsOf,
  inOneWindow,
  errorOf,
  useTestServer,
  type TestCaller,
  type TestProject,
} from "../testing/test-server.ts";
import type { BodyOf, ResponseOf } from "../testing/typed-call.ts";
import { recountEmailsInSql } from "../testing/recount-emails.ts";
import { readPlatformEmails } from "../testing/platform-emails.ts";

const server = useTestServer({ ROLES: "api,worker" });

type Campaign = ResponseOf<typeof campaigns.getCampaign>;

const DRAFT = {
  name: "News",
  subject: "News for {{firstName}}",
  body: '<p>Hello {{firstName ?? "you"}}, read <a href="https://acme.example/news">this</a>.</p>',
  from: "news@sandbox.localhost",
  audienceType: "ALL",
};

async function create(caller: TestCaller, more: object = {}): Promise<Campaign> {
  const reply = await server.call<{ success: boolean; data: Campaign }>("POST", "/campaigns", caller, {
    ...DRAFT,
    ...more,
  });
  expect(reply.status).toBe(201);
  return reply.body.data;
}

const send = (caller: TestCaller, id: string, body: BodyOf<typeof campaignActions.sendCampaign> = {}) =>
  server.call(campaignActions.sendCampaign, caller, { params: { id }, body });
const act = (caller: TestCaller, id: string, action: string) =>
  server.call<Campaign & ErrorEnvelope>("POST", `/campaigns/${id}/${action}`, caller);
const read = async (caller: TestCaller, id: string) =>
  (await server.call(campaigns.getCampaign, caller, { params: { id } })).body;

async function contacts(caller: TestCaller, count: number, more: object = {}): Promise<string[]> {
  const emails = Array.from({ length: count }, (_, at) => `person${at}@example.com`);
  for (const email of emails)
    await server.call(contactsContract.upsertContact, caller, { body: { email, ...more } });
  return emails;
}

async function ended(caller: TestCaller, id: string): Promise<Campaign> {
  return vi.waitUntil(
    async () => {
      const campaign = await read(caller, id);
      return ["SENT", "CANCELLED"].includes(campaign.status) && campaign.pendingCount === 0
        ? campaign
        : undefined;
    },
    { timeout: 60_000, interval: 50 },
  );
}

/** How many emails each address got. */
async function mailed(project: TestProject): Promise<Record<string, number>> {
  const rows = await server.rows<{ recipient: string; count: number }>(
    "select recipients[1] as recipient, count(*)::integer as count from mailbox_messages where project_id = $1 group by 1",
    project.id,
  );
  return Object.fromEntries(rows.map(({ recipient, count }) => [recipient, count]));
}

const balance = (campaign: Campaign) =>
  campaign.sentCount +
  campaign.failedCount +
  campaign.skippedCount +
  campaign.unconfirmedCount +
  campaign.pendingCount;

test("sends to every subscribed contact exactly once and is SENT when all emails are final", async () => {
  const project = await server.createProject();
  const { byKey } = project;
  const emails = await contacts(byKey, 25);
  await server.call(contactsContract.upsertContact, byKey, {
    body: { email: "gone@example.com", subscribed: false },
  });
  const campaign = await create(byKey);
  expect(campaign).toMatchObject({ status: "DRAFT", type: "ALL", kind: "MARKETING", totalRecipients: 0 });
  const audience = await server.call(campaignActions.getCampaignAudience, byKey, {
    params: { id: campaign.id },
  });
  expect(audience.body).toEqual({ total: 26, eligible: 25, excluded: { unsubscribed: 1, suppressed: 0 } });
  const started = await send(byKey, campaign.id);
  expect(started.status).toBe(200);
  expect(started.body.status).toBe("SENDING");
  const done = await ended(byKey, campaign.id);
  expect(done).toMatchObject({ status: "SENT", totalRecipients: 25, sentCount: 25, pendingCount: 0 });
  expect(balance(done)).toBe(done.totalRecipients);
  expect(await mailed(project)).toEqual(Object.fromEntries(emails.map((email) => [email, 1])));
  const stats = await server.call(campaignActions.getCampaignStats, byKey, { params: { id: campaign.id } });
  expect(stats.body).toMatchObject({ totalRecipients: 25, sentCount: 25, openRate: 0, bounceRate: 0 });
  expect(stats.body).toMatchObject({
    links: [{ url: "https://acme.example/news", clicks: 0, uniqueClicks: 0, machineClicks: 0 }],
  });
  const recipients = await server.call(campaignActions.listCampaignRecipients, byKey, {
    params: { id: campaign.id },
    query: { limit: 100 },
  });
  expect(recipients.body.total).toBe(25);
  expect(recipients.body.data.map(({ email }) => email).toSorted()).toEqual(emails.toSorted());
});

test("counts results by mailbox provider that add up to the campaign's counts", async () => {
  const { id: projectId, byKey } = await server.createProject();
  const addresses = ["a@gmail.com", "b@googlemail.com", "c@gmail.com", "d@outlook.com", "e@example.com"];
  for (const email of addresses)
    await server.call(contactsContract.upsertContact, byKey, { body: { email } });
  const { id } = await create(byKey);
  const ask = async () =>
    (await server.call(campaignActions.listCampaignProviders, byKey, { params: { id } })).body;
  expect(await ask()).toEqual([]);
  await send(byKey, id);
  await ended(byKey, id);
  // Results as they are recorded, and a rejected email that never left.
  for (const [address, change] of [
    ["a@gmail.com", "delivered_at = now(), opened_at = now(), clicked_at = now()"],
    ["b@googlemail.com", "delivered_at = now(), opened_at = now()"],
    ["c@gmail.com", "status = 'BOUNCED', delivered_at = null, bounced_at = now()"],
    ["d@outlook.com", "delivered_at = now(), complained_at = now()"],
    ["e@example.com", "status = 'FAILED', sent_at = null, delivered_at = null"],
  ])
    await server.rows(
      `update emails set ${change} where project_id = $1 and to_address = $2`,
      projectId,
      address,
    );
  await recountEmailsInSql(server.database, projectId);
  expect(await ask()).toMatchObject([
    {
      provider: "gmail",
      sentCount: 3,
      deliveredCount: 2,
      openedCount: 2,
      clickedCount: 1,
      bouncedCount: 1,
      complainedCount: 0,
      openRate: 66.67,
      bounceRate: 33.33,
    },
    { provider: "microsoft", sentCount: 1, deliveredCount: 1, openedCount: 0, complaintRate: 100 },
  ]);
  const stats = await server.call(campaignActions.getCampaignStats, byKey, { params: { id } });
  expect(stats.body).toMatchObject({ sentCount: 4, deliveredCount: 3, openedCount: 2, complainedCount: 1 });
});

test("starts once for fifty concurrent sends", async () => {
  const project = await server.createProject();
  const { byKey } = project;
  await contacts(byKey, 3);
  const { id } = await create(byKey);
  const replies = await Promise.all(Array.from({ length: 50 }, () => send(byKey, id)));
  const statuses = Map.groupBy(replies, ({ status }) => status);
  expect(statuses.get(200)).toHaveLength(1);
  expect(statuses.get(409)).toHaveLength(49);
  await ended(byKey, id);
  expect(Object.values(await mailed(project))).toEqual([1, 1, 1]);
});

test("a transactional campaign reaches all contacts, segment, filter and variables apply", async () => {
  const project = await server.createProject();
  const { byKey } = project;
  await server.call(contactsContract.upsertContact, byKey, {
    body: {
      email: "ada@example.com",
      subscribed: false,
      data: { firstName: "Ada", plan: "pro" },
    },
  });
  await server.call(contactsContract.upsertContact, byKey, {
    body: { email: "bob@example.com", data: { plan: "free" } },
  });
  const filters = { operator: "AND", conditions: [{ field: "data.plan", operator: "equals", value: "pro" }] };
  const segment = await server.call(segments.createSegment, byKey, { body: { name: "Pro", filters } });
  const all = await create(byKey, { kind: "TRANSACTIONAL" });
  await send(byKey, all.id);
  expect(await ended(byKey, all.id)).toMatchObject({ totalRecipients: 2, sentCount: 2 });
  const marketing = await create(byKey, { audienceType: "SEGMENT", segmentId: segment.body.id });
  expect(faultsOf(await send(byKey, marketing.id))).toEqual(["segmentId custom"]);
  const filtered = await create(byKey, {
    type: "TRANSACTIONAL",
    audienceType: "FILTERED",
    audienceCondition: { logic: "AND", groups: [{ filters: filters.conditions }] },
  });
  expect(filtered.kind).toBe("TRANSACTIONAL");
  await send(byKey, filtered.id);
  expect(await ended(byKey, filtered.id)).toMatchObject({ totalRecipients: 1 });
  const [message] = await server.rows<{ subject: string }>(
    "select subject from mailbox_messages where project_id = $1 and recipients[1] = 'ada@example.com' order by id desc limit 1",
    project.id,
  );
  expect(message?.subject).toBe("News for Ada");
});

test("sends nothing while paused, everyone once when resumed, and drops the rest when cancelled", async () => {
  const project = await server.createProject();
  const { byKey } = project;
  const MANY = 400;
  await server.rows(
    `insert into contacts (project_id, id, email, subscribed)
     select $1, new_id(), 'person' || n || '@example.com', true from generate_series(1, $2::integer) n`,
    project.id,
    MANY,
  );
  const { id } = await create(byKey);
  await send(byKey, id);
  const paused = await act(byKey, id, "pause");
  expect(paused.body.status).toBe("PAUSED");
  expect(errorOf(await act(byKey, id, "pause"))).toBe("409 CONFLICT");
  await vi.waitUntil(async () => (await read(byKey, id)).totalRecipients === MANY, 60_000);
  await vi.waitUntil(
    async () =>
      (
        await server.rows(
          "select 1 from emails where campaign_id = $1 and status in ('CLAIMED', 'SENDING')",
          id,
        )
      ).length === 0,
    60_000,
  );
  const before = await read(byKey, id);
  expect(before.pendingCount).toBeGreaterThan(0);
  await server.call(v1.send, byKey, { body: { ...DRAFT, to: "other@example.com" } });
  await vi.waitUntil(async () => (await mailed(project))["other@example.com"] === 1, 60_000);
  expect((await read(byKey, id)).sentCount).toBe(before.sentCount);
  await act(byKey, id, "resume");
  expect(await ended(byKey, id)).toMatchObject({ status: "SENT", sentCount: MANY });
  const again = await create(byKey, { name: "Second" });
  await send(byKey, again.id);
  await vi.waitUntil(async () => (await read(byKey, again.id)).totalRecipients === MANY, 60_000);
  const cancelled = await act(byKey, again.id, "cancel");
  expect(cancelled.body.status).toBe("CANCELLED");
  const end = await ended(byKey, again.id);
  expect(balance(end)).toBe(end.totalRecipients);
  expect(end.skippedCount).toBeGreaterThan(0);
  expect(Math.max(...Object.values(await mailed(project)))).toBeLessThanOrEqual(2);
  expect(errorOf(await act(byKey, again.id, "resume"))).toBe("409 CONFLICT");
});

test("starts a schedule once in time, turns a cancelled one into a draft, holds a missed one", async () => {
  const project = await server.createProject();
  const { byKey } = project;
  await contacts(byKey, 2);
  const { id } = await create(byKey);
  const soon = new Date(Date.now() + 60_000).toISOString();
  const scheduled = await send(byKey, id, { scheduledFor: soon });
  expect(scheduled.body).toMatchObject({ status: "SCHEDULED", scheduledAt: soon });
  expect(errorOf(await server.call(campaigns.deleteCampaign, byKey, { params: { id } }))).toBe(
    "409 CONFLICT",
  );
  expect((await act(byKey, id, "cancel")).body).toMatchObject({ status: "DRAFT", scheduledAt: null });
  await send(byKey, id, { scheduledFor: soon });
  await server.rows("update campaigns set scheduled_for = now() - interval '1 minute' where id = $1", id);
  expect(await ended(byKey, id)).toMatchObject({ status: "SENT", sentCount: 2 });
  const missed = await create(byKey, { name: "Missed" });
  await send(byKey, missed.id, { scheduledFor: soon });
  await server.rows(
    "update campaigns set scheduled_for = now() - interval '61 minutes' where id = $1",
    missed.id,
  );
  await vi.waitUntil(async () => (await read(byKey, missed.id)).heldReason !== null, 30_000);
  const heldReason = expect.stringContaining("Missed its scheduled time by more than an hour") as string;
  expect(await read(byKey, missed.id)).toMatchObject({
    status: "SCHEDULED",
    totalRecipients: 0,
    heldReason,
    heldReasonParts: [{ code: "held.missed", values: {}, text: heldReason }],
  });
  await send(byKey, missed.id);
  expect(await ended(byKey, missed.id)).toMatchObject({ status: "SENT" });
});

test("pauses with a reason before sending if the audience is gone, and resumes when it is fixed", async () => {
  const project = await server.createProject();
  const { byKey } = project;
  await contacts(byKey, 2);
  const filters = {
    operator: "AND",
    conditions: [{ field: "email", operator: "contains", value: "person" }],
  };
  const segment = await server.call(segments.createSegment, byKey, { body: { name: "All", filters } });
  const { id } = await create(byKey, { audienceType: "SEGMENT", segmentId: segment.body.id });
  expect((await send(byKey, id, { scheduledFor: new Date(Date.now() + 60_000).toISOString() })).status).toBe(
    200,
  );
  await server.rows("update campaigns set segment_id = null, scheduled_for = now() where id = $1", id);
  await server.hint("campaigns");
  await vi.waitUntil(async () => (await read(byKey, id)).status === "PAUSED", 30_000);
  const said = "The campaign's segment was deleted. Choose another one.";
  expect(await read(byKey, id)).toMatchObject({
    totalRecipients: 0,
    heldReason: expect.stringContaining(said) as string,
    heldReasonParts: [{ code: "held.audience", values: { said } }],
  });
  // Only about the pause, not about the failed job too.
  expect(await readPlatformEmails(server.pool, { to: project.owner.email })).toHaveLength(1);
  await server.rows("update campaigns set segment_id = $2 where id = $1", id, segment.body.id);
  expect((await act(byKey, id, "resume")).body).toMatchObject({ status: "SENDING", heldReason: null });
  expect(await ended(byKey, id)).toMatchObject({ status: "SENT", sentCount: 2 });
});

test("the second of two concurrent replacements gets a conflict if it sends what it read", async () => {
  const { byKey } = await server.createProject();
  const { id } = await create(byKey);
  const { updatedAt } = (await server.call(campaigns.getCampaign, byKey, { params: { id } })).body;
  const replace = (name: string, expectedUpdatedAt?: string) =>
    server.call("PUT", `/campaigns/${id}`, byKey, { ...DRAFT, name, expectedUpdatedAt });
  expect((await replace("One", updatedAt)).status).toBe(200);
  expect(errorOf(await replace("Two", updatedAt))).toBe("409 CHANGED_MEANWHILE");
  expect((await read(byKey, id)).name).toBe("One");
  expect((await replace("Three")).status).toBe(200);
});

test("sends only failed emails again", async () => {
  const project = await server.createProject();
  const { byKey } = project;
  await contacts(byKey, 3);
  const { id } = await create(byKey);
  // The body has no required fields, so none is sent.
  expect((await act(byKey, id, "send")).status).toBe(200);
  await ended(byKey, id);
  expect(errorOf(await act(byKey, id, "retry-failed"))).toBe("409 CONFLICT");
  expect((await read(byKey, id)).status).toBe("SENT");
  await server.rows(
    "update emails set status = 'FAILED', sent_at = null where campaign_id = $1 and to_address = 'person1@example.com'",
    id,
  );
  await recountEmailsInSql(server.database, project.id);
  await server.rows(
    "delete from mailbox_messages where project_id = $1 and recipients[1] = 'person1@example.com'",
    project.id,
  );
  expect((await act(byKey, id, "retry-failed")).body.status).toBe("SENDING");
  expect(await ended(byKey, id)).toMatchObject({ status: "SENT", sentCount: 3, failedCount: 0 });
  expect(Object.values(await mailed(project))).toEqual([1, 1, 1]);
});

test("marks a test email, sends it to anyone, and excludes it from all counts", async () => {
  const project = await server.createProject();
  const { byKey } = project;
  await server.call(contactsContract.upsertContact, byKey, {
    body: { email: "ada@example.com", data: { firstName: "Ada" } },
  });
  const { id } = await create(byKey);
  expect(
    (
      await server.call(campaignActions.testCampaign, byKey, {
        params: { id },
        body: { email: "ada@example.com" },
      })
    ).status,
  ).toBe(200);
  expect(
    (
      await server.call(campaignActions.testCampaign, byKey, {
        params: { id },
        body: { email: "me@example.org" },
      })
    ).status,
  ).toBe(200);
  await vi.waitUntil(async () => Object.keys(await mailed(project)).length === 2, 30_000);
  const subjects = await server.rows<{ subject: string }>(
    "select subject from mailbox_messages where project_id = $1 order by subject",
    project.id,
  );
  expect(subjects.map(({ subject }) => subject)).toEqual(["[TEST] News for ", "[TEST] News for Ada"]);
  expect(await read(byKey, id)).toMatchObject({ totalRecipients: 0, status: "DRAFT" });
  expect(await server.rows("select 1 from contacts where email = 'me@example.org'")).toEqual([]);
});

test("limits test emails by project and hour", async () => {
  const project = await server.createProject();
  const { id } = await create(project.byKey);
  const sendTest = async () =>
    errorOf(
      await server.call(campaignActions.testCampaign, project.byKey, {
        params: { id },
        body: { email: "me@example.org" },
      }),
    );
  await inOneWindow(server, 3_600, async () => {
    expect(await sendTest()).toBe("200 undefined");
    const bucket = `test-mails:${project.id}`;
    const taken = LIMITS.testMails.value - 1;
    await server.rows("update rate_windows set taken = $2 where bucket = $1", bucket, taken);
    expect([await sendTest(), await sendTest()]).toEqual(["200 undefined", "429 RATE_LIMIT_EXCEEDED"]);
  });
});

test("the check returns blocking findings and warnings", async () => {
  const { byKey } = await server.createProject();
  const { id } = await create(byKey, { subject: "READ THIS NOW", replyTo: "a@elsewhere.example" });
  const check = await server.call(campaignActions.checkCampaign, byKey, { params: { id } });
  expect(check.body.ready).toBe(false);
  expect(check.body.blocks.map(({ code }) => code)).toEqual(["audience_empty"]);
  expect(check.body.warnings.map(({ code }) => code)).toContain("reply_to_elsewhere");
  // Clients in another language get everything by codes.
  for (const { message, messageParts } of [...check.body.blocks, ...check.body.warnings])
    expect(messageParts.map(({ text }) => text).join(" ")).toBe(message);
  await contacts(byKey, 1);
  const again = await server.call(campaignActions.checkCampaign, byKey, { params: { id } });
  expect(again.body.ready).toBe(true);
});

test("the check counts unsubscribed contacts who would get a transactional campaign", async () => {
  const { byKey } = await server.createProject();
  await contacts(byKey, 2);
  for (const email of ["gone@example.org", "left@example.org"])
    await server.call(contactsContract.upsertContact, byKey, { body: { email, subscribed: false } });
  const { id } = await create(byKey, { kind: "TRANSACTIONAL" });
  const warnings = async () => {
    const check = await server.call(campaignActions.checkCampaign, byKey, { params: { id } });
    return check.body.warnings.filter(({ code }) => code === "transactional_to_unsubscribed");
  };
  expect(await warnings()).toEqual([
    expect.objectContaining({
      message: expect.stringMatching(/^2 contacts in the audience have unsubscribed/),
    }),
  ]);
  for (const email of ["gone@example.org", "left@example.org"])
    await server.call(contactsContract.upsertContact, byKey, { body: { email, subscribed: true } });
  expect(await warnings()).toEqual([]);
});

test("replaces, copies and deletes drafts and lists campaigns in the shape of the spec", async () => {
  const { byKey } = await server.createProject();
  const { id } = await create(byKey, {
    description: "d",
    fromName: "News",
    replyTo: "a@example.com",
    kind: "HEADLESS",
  });
  const part = await server.call("PUT", `/campaigns/${id}`, byKey, { name: "Other", subject: "Hi" });
  expect(faultsOf(part)).toEqual(["audienceType required", "body required", "from required"]);
  const put = await server.call<Campaign>("PUT", `/campaigns/${id}`, byKey, {
    ...DRAFT,
    name: "Other",
    subject: "Hi",
  });
  expect(put.body).toMatchObject({
    name: "Other",
    subject: "Hi",
    audienceType: "ALL",
    kind: "MARKETING",
    description: null,
    fromName: null,
    replyTo: null,
  });
  const copy = await act(byKey, id, "duplicate");
  expect(copy.status).toBe(201);
  expect(copy.body).toMatchObject({ status: "DRAFT", subject: "Hi" });
  const list = await server.call(campaigns.listCampaigns, byKey, { query: { limit: 1, status: "DRAFT" } });
  expect(list.body).toMatchObject({ page: 1, pageSize: 1, total: 2, totalPages: 2, hasMore: true });
  expect(list.body.campaigns.map((one) => one.id)).toEqual([copy.body.id]);
  const next = await server.call(campaigns.listCampaigns, byKey, {
    anyQuery: `?limit=1&status=DRAFT&cursor=${list.body.cursor}`,
  });
  expect(next.body).toMatchObject({ page: 2, pageSize: 1, total: 2, totalPages: 2, hasMore: false });
  expect(next.body.campaigns.map((one) => one.id)).toEqual([id]);
  expect((await server.call(campaigns.deleteCampaign, byKey, { params: { id } })).status).toBe(204);
  expect(errorOf(await server.call(campaigns.getCampaign, byKey, { params: { id } }))).toBe(
    "404 CAMPAIGN_NOT_FOUND",
  );
});

test("keeps the segment and the domain while a campaign needs them", async () => {
  const project = await server.createProject();
  const { byKey } = project;
  await contacts(byKey, 1);
  const filters = { operator: "AND", conditions: [{ field: "subscribed", operator: "equals", value: true }] };
  const segment = await server.call(segments.createSegment, byKey, { body: { name: "All", filters } });
  const { id } = await create(byKey, { audienceType: "SEGMENT", segmentId: segment.body.id });
  await send(byKey, id, { scheduledFor: new Date(Date.now() + 60_000).toISOString() });
  const domains = await server.call(domainsContract.listDomains, byKey, {
    params: { projectId: project.id },
  });
  for (const path of [`/segments/${segment.body.id}`, `/domains/${domains.body[0]?.id}`])
    expect(errorOf(await server.call("DELETE", path, byKey))).toBe("409 CONFLICT");
  await act(byKey, id, "cancel");
  expect((await server.call(segments.deleteSegment, byKey, { params: { id: segment.body.id } })).status).toBe(
    204,
  );
  expect(faultsOf(await send(byKey, id))).toEqual(["segmentId required"]);
});

test("keeps a segment used in a campaign's filter, also when both happen concurrently", async () => {
  const { byKey } = await server.createProject();
  await contacts(byKey, 1);
  const filters = { operator: "AND", conditions: [{ field: "subscribed", operator: "equals", value: true }] };
  const prepare = async () => {
    const segment = await server.call(segments.createSegment, byKey, { body: { name: "All", filters } });
    const conditions = [{ field: `segment.${segment.body.id}`, operator: "memberOfSegment" }];
    const audienceFilter = { operator: "AND", conditions };
    const { id } = await create(byKey, { audienceType: "FILTERED", audienceFilter });
    return {
      schedule: () => send(byKey, id, { scheduledFor: new Date(Date.now() + 60_000).toISOString() }),
      remove: () => server.call(segments.deleteSegment, byKey, { params: { id: segment.body.id } }),
    };
  };
  const { schedule, remove } = await prepare();
  expect([(await schedule()).status, (await remove()).status]).toEqual([200, 409]);
  for (let round = 0; round < 5; round++) {
    const both = await prepare();
    const [sent, removed] = await Promise.all([both.schedule(), both.remove()]);
    expect([
      [200, 409],
      [422, 204],
    ]).toContainEqual([sent.status, removed.status]);
  }
});

test("rejects invalid campaigns with the field, and campaigns of other projects as unknown", async () => {
  const { byKey } = await server.createProject();
  const faults = async (more: object) =>
    faultsOf(await server.call("POST", "/campaigns", byKey, { ...DRAFT, ...more }));
  expect(await faults({ audienceType: "SEGMENT" })).toEqual(["segmentId required"]);
  expect(await faults({ audienceType: "SEGMENT", segmentId: randomUUID() })).toEqual(["segmentId custom"]);
  expect(await faults({ audienceType: "FILTERED" })).toEqual(["audienceFilter required"]);
  expect(await faults({ body: "<p>{{#if}</p>" })).toEqual(["body custom"]);
  expect(
    errorOf(await server.call("POST", "/campaigns", byKey, { ...DRAFT, from: "news@elsewhere.example" })),
  ).toBe("403 DOMAIN_NOT_VERIFIED");
  const { id } = await create(byKey);
  expect(faultsOf(await send(byKey, id))).toEqual(["audienceType custom"]);
  await contacts(byKey, 1);
  expect(faultsOf(await send(byKey, id, { scheduledFor: "2020-01-01T00:00:00Z" }))).toEqual([
    "scheduledFor invalid_date",
  ]);
  expect(faultsOf(await send(byKey, id, { scheduledFor: "tomorrow" }))).toEqual([
    "scheduledFor invalid_date",
  ]);
  const { byKey: stranger } = await server.createProject();
  for (const [method, path] of [
    ["GET", ""],
    ["DELETE", ""],
    ["POST", "/send"],
    ["POST", "/cancel"],
    ["GET", "/stats"],
    ["GET", "/providers"],
    ["GET", "/recipients"],
    ["GET", "/check"],
  ] as const)
    expect(errorOf(await server.call(method, `/campaigns/${id}${path}`, stranger, {}))).toBe(
      "404 CAMPAIGN_NOT_FOUND",
    );
});
