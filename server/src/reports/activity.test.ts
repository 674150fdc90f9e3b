// The activity feed over HTTP: order, pages without gaps, and filters for old activities.
import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import * as activity from "@postloft/contract/activity.ts";
import * as events from "@postloft/contract/events.ts";
import * as v1 from "@postloft/contract/v1.ts";
import { ACTIVITY_TYPES, TYPES_OF_EVENTS } from "@postloft/contract/activity.ts";
import { LIMITS } from "@postloft/contract/limits/limits.ts";
import { firstIdAt, newId } from "../platform/ids.ts";
import { makeSentMails } from "../testing/sent-mails.ts";
import { faultsOf, errorOf, useTestServer, type TestCaller } from "../testing/test-server.ts";
import type { ResponseOf } from "../testing/typed-call.ts";
import { drawWorkflow } from "../testing/workflow-fixture.ts";

const server = useTestServer({ ROLES: "api" });

type Feed = ResponseOf<typeof activity.listActivity>;

const feed = async (caller: TestCaller, query = "") =>
  (await server.call(activity.listActivity, caller, { anyQuery: query })).body;
const types = ({ data }: Feed) => data.map(({ type }) => type);
const track = async (caller: TestCaller, email: string, event: string) =>
  (await server.call(v1.track, caller, { body: { email, event } })).body.data.contact;

/** All pages in order. */
async function readAll(caller: TestCaller, query: string): Promise<Feed["data"]> {
  const all: Feed["data"] = [];
  for (let cursor: string | null = null; ;) {
    const page: Feed = await feed(caller, `?${query}${cursor === null ? "" : `&cursor=${cursor}`}`);
    all.push(...page.data);
    if (!page.hasMore) return all;
    cursor = page.cursor;
  }
}

const LONG_AGO = Date.UTC(2026, 0, 1);

/** One activity of each source, a minute apart, the newest last. */
async function makeHistory(beganMs = LONG_AGO) {
  const at = (minutes: number) => new Date(beganMs + minutes * 60_000).toISOString();
  const project = await server.createProject();
  const contactId = await track(project.byKey, "ada@example.com", "signed-up");
  const [mail] = await makeSentMails(server.database, project.id, 1);
  const campaignId = newId();
  const workflow = await drawWorkflow(server.database, project.id, {
    steps: [["end", "EXIT"]],
    links: [],
    name: "Welcome",
  });
  await server.rows(
    `insert into campaigns (project_id, id, name, subject, body, from_address, audience_type, status, finished_at)
     values ($1, $2, 'Spring', 'Hi', 'b', 'me@shop.example', 'ALL', 'SENT', $3),
       ($1, $4, 'Summer', 'Hi', 'b', 'me@shop.example', 'ALL', 'SCHEDULED', null)`,
    project.id,
    campaignId,
    at(1),
    newId(),
  );
  await server.rows(
    `update campaigns set scheduled_for = '2126-06-01', updated_at = $2 where project_id = $1 and status = 'SCHEDULED'`,
    project.id,
    at(2),
  );
  await server.rows(
    "update emails set sent_at = $2, campaign_id = $3 where project_id = $1",
    project.id,
    at(3),
    campaignId,
  );
  const executionId = `${firstIdAt(beganMs + 5 * 60_000).slice(0, 18)}-8000-000000000001`;
  await server.rows(
    `insert into workflow_executions (project_id, id, workflow_id, contact_id, entry, version, status, started_at, ended_at)
     values ($1, $2, $3, $4, 1, 1, 'COMPLETED', $5, $5)`,
    project.id,
    executionId,
    workflow.id,
    contactId,
    at(4),
  );
  return { project, contactId, mail, campaignId, workflowId: workflow.id };
}

test("lists emails, events, campaigns and workflows, newest first, with their subjects", async () => {
  const { project, contactId, mail, campaignId, workflowId } = await makeHistory();
  const all = await feed(project.byKey);
  const times = all.data.map(({ timestamp }) => timestamp);
  expect(times).toEqual(times.toSorted().toReversed());
  expect(types(all).toSorted()).toEqual([
    "campaign.scheduled",
    "campaign.sent",
    "email.sent",
    "event.triggered",
    "workflow.completed",
    "workflow.started",
  ]);
  const one = (type: string) => all.data.find((item) => item.type === type);
  expect(one("event.triggered")).toMatchObject({
    contactEmail: "ada@example.com",
    contactId,
    metadata: { eventName: "signed-up" },
  });
  expect(one("email.sent")).toMatchObject({
    timestamp: "2026-01-01T00:03:00.000Z",
    contactEmail: mail?.address,
    metadata: { emailId: mail?.id, subject: "Hello Ada", campaignId },
  });
  expect(one("campaign.sent")?.metadata).toMatchObject({ campaignId, name: "Spring" });
  expect(one("workflow.completed")).toMatchObject({
    contactId,
    metadata: { workflowId, status: "COMPLETED" },
  });
});

test("filters by type, contact, campaign, workflow, name and time, alone and combined", async () => {
  const { project, contactId, campaignId, workflowId } = await makeHistory();
  const ask = async (query: string) => types(await feed(project.byKey, `?${query}`));
  expect(await ask("type=email.sent,campaign.sent")).toEqual(["email.sent", "campaign.sent"]);
  expect((await ask(`contactId=${contactId}`)).toSorted()).toEqual([
    "event.triggered",
    "workflow.completed",
    "workflow.started",
  ]);
  expect(await ask(`campaignId=${campaignId}`)).toEqual(["email.sent", "campaign.sent"]);
  expect((await ask(`workflowId=${workflowId}`)).toSorted()).toEqual([
    "workflow.completed",
    "workflow.started",
  ]);
  expect(await ask("eventName=signed-up")).toEqual(["event.triggered"]);
  expect(await ask("eventName=email.sent")).toEqual(["email.sent"]);
  expect(await ask("eventName=signed-up&type=email.sent")).toEqual([]);
  expect(await ask("since=2026-01-01T00:02:00Z&until=2026-01-01T00:04:00Z")).toEqual([
    "email.sent",
    "campaign.scheduled",
  ]);
  expect(await ask("until=1960-01-01T00:00:00Z")).toEqual([]);
});

test("returns pages without gaps or repetition while more activities arrive", async () => {
  const { project } = await makeHistory();
  const before = await readAll(project.byKey, "limit=100");
  const first = await feed(project.byKey, "?limit=2");
  await track(project.byKey, "ada@example.com", "again");
  const second = await feed(project.byKey, `?limit=2&cursor=${first.cursor}`);
  const third = await feed(project.byKey, `?limit=2&cursor=${second.cursor}`);
  expect([...first.data, ...second.data, ...third.data]).toEqual(before);
  expect(third).toMatchObject({ hasMore: false, cursor: null });
});

test("finds rare activities however old, immediately by an index or page by page", async () => {
  const { project, contactId, campaignId } = await makeHistory();
  // More rows after the wanted one than a page scans.
  await server.rows(
    `insert into events (project_id, id, contact_id, name, data)
     select $1, new_id(), $2, 'noise', case when n = 1 then jsonb_build_object('campaignId', $3::text) end
     from generate_series(1, $4::integer) n`,
    project.id,
    contactId,
    campaignId,
    LIMITS.activityScan.value + 100,
  );
  expect(types(await feed(project.byKey, "?eventName=signed-up"))).toEqual(["event.triggered"]);
  const query = `campaignId=${campaignId}`;
  expect(await feed(project.byKey, `?${query}`)).toMatchObject({ data: [], hasMore: true });
  expect((await readAll(project.byKey, query)).map(({ type }) => type)).toEqual([
    "event.triggered",
    "email.sent",
    "campaign.sent",
  ]);
  const { body } = await server.call(activity.countRecentActivity, project.byKey);
  expect(body).toEqual({ count: LIMITS.activityScan.value, minutes: 5, isMore: true });
});

test("counts recent activities, lists types and upcoming activities", async () => {
  const { project } = await makeHistory();
  const recent = await server.call(activity.countRecentActivity, project.byKey, { query: { minutes: 60 } });
  expect(recent.body).toEqual({ count: 1, minutes: 60, isMore: false });
  const known = await server.call(activity.listActivityTypes, project.byKey);
  expect(known.body.types).toContain("email.machine-opened");
  await server.rows(
    "update workflow_executions set status = 'WAITING', ended_at = null, due_at = '2126-05-01' where project_id = $1",
    project.id,
  );
  const next = await server.call(activity.listUpcomingActivity, project.byKey);
  expect(next.body.activities.map(({ type, timestamp }) => `${type} ${timestamp.slice(0, 10)}`)).toEqual([
    "workflow.waiting 2126-05-01",
    "campaign.scheduled 2126-06-01",
  ]);
});

test("counts exactly the recent activities that the feed shows, for every type", async () => {
  const { project, contactId } = await makeHistory(Date.now() - 10 * 60_000);
  for (const name of Object.keys(TYPES_OF_EVENTS).filter((one) => one !== "email.sent"))
    await server.rows(
      "insert into events (project_id, id, name, contact_id) values ($1, $2, $3, $4)",
      project.id,
      newId(),
      name,
      contactId,
    );
  await server.rows(
    `insert into workflow_executions (project_id, id, workflow_id, contact_id, entry, version, status, started_at, ended_at)
     select project_id, $2, workflow_id, contact_id, 2, 1, 'FAILED', started_at, ended_at
     from workflow_executions where project_id = $1`,
    project.id,
    newId(),
  );
  const all = await feed(project.byKey, "?limit=100");
  expect(new Set(types(all))).toEqual(new Set(ACTIVITY_TYPES));
  const recent = await server.call(activity.countRecentActivity, project.byKey, { query: { minutes: 60 } });
  expect(recent.body).toEqual({ count: all.data.length, minutes: 60, isMore: false });
});

test("rejects an invalid filter (422), a foreign cursor (400) and foreign ids (404)", async () => {
  const { project, contactId, campaignId, workflowId } = await makeHistory();
  const reply = await server.call(activity.listActivity, project.byKey, {
    query: { type: "email.sent,nothing", contactId: "x", since: "today", limit: 0 },
  });
  expect(faultsOf(reply)).toEqual([
    "contactId invalid_string",
    "limit too_small",
    "since invalid_date",
    "type invalid_enum_value",
  ]);
  const { cursor } = await feed(project.byKey, "?limit=1");
  expect(
    (await server.call(events.listEvents, project.byKey, { anyQuery: `?cursor=${cursor}` })).status,
  ).toBe(400);
  const other = await server.createProject();
  const asked = [
    [`contactId=${contactId}`, "404 CONTACT_NOT_FOUND"],
    [`campaignId=${campaignId}`, "404 CAMPAIGN_NOT_FOUND"],
    [`workflowId=${workflowId}`, "404 WORKFLOW_NOT_FOUND"],
    [`campaignId=${randomUUID()}`, "404 CAMPAIGN_NOT_FOUND"],
  ];
  for (const [query, rejection] of asked)
    expect(errorOf(await server.call(activity.listActivity, other.byKey, { anyQuery: `?${query}` }))).toBe(
      rejection,
    );
  expect(await feed(other.byKey)).toEqual({ data: [], cursor: null, hasMore: false });
});
