// Compares the report of a campaign with an independent count of its emails.
import { expect, test, vi } from "vitest";
import * as report from "@postloft/contract/campaign-report.ts";
import * as actions from "@postloft/contract/campaign-actions.ts";
import * as campaigns from "@postloft/contract/campaigns.ts";
import * as contacts from "@postloft/contract/contacts.ts";
import { EMAIL_STATUSES } from "@postloft/contract/emails.ts";
import { LIMITS } from "@postloft/contract/limits/limits.ts";
import { recountEmailsInSql } from "../testing/recount-emails.ts";
import { useTestServer, type TestCaller, type TestProject } from "../testing/test-server.ts";

const server = useTestServer({ ROLES: "api,worker" });
const WAIT = { timeout: 30_000, interval: 50 };

const NEWS = {
  subject: "News",
  body: "<p>News</p>",
  from: "news@sandbox.localhost",
  audienceType: "ALL",
} as const;

async function addContacts({ byKey }: TestProject, count: number): Promise<void> {
  for (let at = 0; at < count; at++)
    await server.call(contacts.upsertContact, byKey, { body: { email: `contact${at}@example.com` } });
}

async function send(
  byKey: TestCaller,
  name: string,
  kind: campaigns.CampaignKind = "MARKETING",
): Promise<{ id: string }> {
  const { body } = await server.call(campaigns.createCampaign, byKey, { body: { ...NEWS, name, kind } });
  const params = { id: body.data.id };
  await server.call(actions.sendCampaign, byKey, { params, body: {} });
  await vi.waitUntil(async () => {
    const { body: read } = await server.call(campaigns.getCampaign, byKey, { params });
    return read.status === "SENT" && read.deliveredCount === read.sentCount;
  }, WAIT);
  return params;
}

/** Moves a campaign and its emails to a start in the past, with opens and clicks after some minutes. */
async function moveTo(projectId: string, campaignId: string, start: Date): Promise<void> {
  await server.rows(
    "update campaigns set started_at = $3 where project_id = $1 and id = $2",
    projectId,
    campaignId,
    start,
  );
  await server.rows(
    `update emails e set sent_at = $3::timestamptz + n * interval '40 seconds',
       delivered_at = $3::timestamptz + n * interval '40 seconds',
       opened_at = case when n % 2 = 0 then $3::timestamptz + n * interval '7 minutes' end,
       clicked_at = case when n % 4 = 0 then $3::timestamptz + n * interval '9 minutes' end,
       status = case when n % 4 = 0 then 'CLICKED' when n % 2 = 0 then 'OPENED' else 'DELIVERED' end
     from (select id, row_number() over (order by id) as n from emails where project_id = $1 and campaign_id = $2) numbered
     where e.project_id = $1 and e.id = numbered.id`,
    projectId,
    campaignId,
    start,
  );
  await recountEmailsInSql(server.database, projectId);
}

const sumOf = (points: ReadonlyArray<Record<"sent" | "opens" | "clicks", number>>) =>
  points.reduce((sum, one) => [sum[0]! + one.sent, sum[1]! + one.opens, sum[2]! + one.clicks], [0, 0, 0]);

test("counts each minute of the first hours as its emails say, without test emails", async () => {
  const project = await server.createProject();
  const { byKey } = project;
  await addContacts(project, 12);
  const params = await send(byKey, "Minutes");
  const start = new Date(Date.now() - 26 * 3_600_000);
  await moveTo(project.id, params.id, start);
  const { body } = await server.call(report.getCampaignActivity, byKey, { params, query: { hours: "2" } });
  expect([body.stepMinutes, body.points.length]).toEqual([1, 120]);
  expect(sumOf(body.points)).toEqual([12, 6, 3]);
  const own = await server.rows<{ at: string; opens: number }>(
    `select to_char(date_trunc('minute', opened_at) at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:00.000"Z"') as at, count(*)::int as opens
     from emails where project_id = $1 and opened_at is not null group by 1 order by 1`,
    project.id,
  );
  const shown = body.points.filter(({ opens }) => opens > 0).map(({ at, opens }) => ({ at, opens }));
  expect(shown).toEqual(own);
  // Beyond the requested hours nothing counts.
  const short = await server.call(report.getCampaignActivity, byKey, { params, query: { hours: "1" } });
  expect(sumOf(short.body.points)).toEqual([12, 4, 1]);
});

test("counts quarters of an hour for more hours, with counted and uncounted emails", async () => {
  const project = await server.createProject();
  const { byKey } = project;
  await addContacts(project, 5);
  const params = await send(byKey, "Quarters");
  const { body } = await server.call(report.getCampaignActivity, byKey, { params, query: { hours: "48" } });
  expect(body.stepMinutes).toBe(15);
  expect(body.points.length).toBeLessThanOrEqual(2);
  expect(sumOf(body.points)).toEqual([5, 0, 0]);
});

test("counts the recipients of each status like their list", async () => {
  const project = await server.createProject();
  const { byKey } = project;
  await addContacts(project, 9);
  const params = await send(byKey, "Statuses");
  await moveTo(project.id, params.id, new Date(Date.now() - 3_600_000));
  await server.rows(
    `update emails set status = 'FAILED', sent_at = null, delivered_at = null, opened_at = null, clicked_at = null
     where project_id = $1 and id = (select max(id::text)::uuid from emails where project_id = $1)`,
    project.id,
  );
  await recountEmailsInSql(server.database, project.id);
  const { body } = await server.call(report.countCampaignRecipients, byKey, { params });
  expect(body.map(({ status }) => status).toSorted()).toEqual([...EMAIL_STATUSES].toSorted());
  for (const { status, count, isMore } of body) {
    const list = await server.call(actions.listCampaignRecipients, byKey, { params, query: { status } });
    expect({ status, count, isMore }).toEqual({ status, count: list.body.total, isMore: false });
  }
  expect(body.reduce((sum, { count }) => sum + count, 0)).toBe(9);
});

test("lists earlier campaigns of the same kind with the rates of their own statistics", async () => {
  const project = await server.createProject();
  const { byKey } = project;
  await addContacts(project, 4);
  const first = await send(byKey, "First");
  await send(byKey, "Receipt", "TRANSACTIONAL");
  const second = await send(byKey, "Second");
  await moveTo(project.id, first.id, new Date(Date.now() - 7_200_000));
  const { body } = await server.call(report.listPreviousCampaigns, byKey, { params: second });
  expect(body.map(({ name }) => name)).toEqual(["First"]);
  const { body: stats } = await server.call(actions.getCampaignStats, byKey, { params: first });
  const { openRate, clickRate, sentCount } = stats;
  expect(body[0]).toMatchObject({ openRate, clickRate, sentCount });
  expect([openRate, clickRate]).toEqual([50, 25]);
  const none = await server.call(report.listPreviousCampaigns, byKey, { params: first });
  expect(none.body).toEqual([]);
});

test("shows nothing of a draft, and nothing of another project's campaign", async () => {
  const project = await server.createProject();
  const other = await server.createProject();
  const { body } = await server.call(campaigns.createCampaign, project.byKey, {
    body: { ...NEWS, name: "Draft" },
  });
  const params = { id: body.data.id };
  const activity = await server.call(report.getCampaignActivity, project.byKey, { params });
  expect(activity.body).toEqual({ stepMinutes: 1, points: [] });
  for (const endpoint of [
    report.getCampaignActivity,
    report.listPreviousCampaigns,
    report.countCampaignRecipients,
  ])
    expect((await server.call(endpoint, other.byKey, { params })).status).toBe(404);
  const tooLong = { hours: String(LIMITS.activityHours.value + 1) };
  expect(
    (await server.call(report.getCampaignActivity, project.byKey, { params, query: tooLong })).status,
  ).toBe(422);
});

test("exports each recipient once with the values of the list, in several batches and by status", async () => {
  const project = await server.createProject();
  const { byKey } = project;
  await addContacts(project, 2);
  const many = 1_002;
  await server.rows(
    `insert into contacts (project_id, id, email, subscribed)
     select $1, new_id(), 'many' || n || '@example.com', true from generate_series(3, ${many}) n`,
    project.id,
  );
  const params = await send(byKey, "Exported");
  await moveTo(project.id, params.id, new Date(Date.now() - 3_600_000));
  const [header = "", ...lines] = await linesOf(byKey, params);
  expect(header.split(",")).toEqual(Object.keys(actions.recipient.shape));
  expect(new Set(lines.map((line) => line.split(",")[2])).size).toBe(many);
  expect(lines).toHaveLength(many);
  const listed = await server.call(actions.listCampaignRecipients, byKey, { params, query: { limit: "5" } });
  expect(lines.slice(0, 5)).toEqual(
    listed.body.data.map((one) =>
      Object.values(one)
        .map((value) => value ?? "")
        .join(","),
    ),
  );
  const clicked = await linesOf(byKey, params, "CLICKED");
  expect(clicked.slice(1)).toEqual(lines.filter((line) => line.includes(",CLICKED,")));
  const other = await server.createProject();
  const foreign = await server.call("GET", `/campaigns/${params.id}/recipients.csv`, other.byKey);
  expect(foreign.status).toBe(404);
});

async function linesOf(byKey: TestCaller, params: { id: string }, status?: "CLICKED"): Promise<string[]> {
  const query = status === undefined ? {} : { status };
  const { text } = await server.call(report.exportCampaignRecipients, byKey, { params, query });
  return text.trimEnd().split("\r\n");
}
