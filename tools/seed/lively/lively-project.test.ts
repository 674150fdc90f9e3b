// Tests that the lively project has something in every chart, and that all its numbers agree with its rows.
import { spawn } from "node:child_process";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { beforeAll, expect, test } from "vitest";
import * as analytics from "@postloft/contract/analytics.ts";
import * as campaignReport from "@postloft/contract/campaign-report.ts";
import * as campaigns from "@postloft/contract/campaigns.ts";
import * as workflowList from "@postloft/contract/workflows/workflows.ts";
import { createApiClient } from "../../../e2e/api-client.ts";
import { countNews } from "../../../server/src/events/counts.ts";
import { recountSample } from "../../../server/src/events/recount.ts";
import { recountEmails } from "../../../server/src/emails/results/email-counts.ts";
import { findMiscounts } from "../../../server/src/emails/results/sending-hours.ts";
import { databaseUrlOf } from "../../../server/src/testing/database-url.ts";
import { APP_SECRET, useTestServer, type TestProject } from "../../../server/src/testing/test-server.ts";
import { CAMPAIGNS } from "./definitions.ts";
import { fillLively, type Lively } from "./lively-project.ts";

const server = useTestServer({ ROLES: "api" });
const DAY_MS = 86_400_000;
const LEAST_SENT = 80;
const dayOf = (daysAgo: number) => new Date(Date.now() - daysAgo * DAY_MS).toISOString().slice(0, 10);

let project: TestProject;
let lively: Lively;
/** The last noon, because the time of day at the end decides who was awake, and so on the whole history. */
const until = new Date(Math.floor((Date.now() - DAY_MS / 2) / DAY_MS) * DAY_MS + DAY_MS / 2);
const apiOf = ({ secretKey }: TestProject) =>
  createApiClient(server.url, { authorization: `Bearer ${secretKey}` });

beforeAll(async () => {
  project = await server.createProject();
  const request = { database: server.database, api: apiOf(project), projectId: project.id, seed: 1, until };
  const filled = await fillLively(request);
  if (filled === null) throw new Error("The project is not empty.");
  lively = filled;
  while (await countNews(server.database, { lagSeconds: 0 }));
}, 120_000);

/** Reads an endpoint of the project. */
async function read<Body>(path: string): Promise<Body> {
  const { status, body } = await server.call<Body>("GET", path, project.byKey);
  expect([path, status]).toEqual([path, 200]);
  return body;
}

test("every chart of the reports has data over 90 days", async () => {
  const period = `startDate=${dayOf(89)}&endDate=${dayOf(0)}&tz=UTC`;
  const days = analytics.getTimeseries.responses[200].parse(await read(`/analytics/timeseries?${period}`));
  const busy = (what: "emails" | "delivered" | "opens" | "clicks") =>
    days.filter((day) => day[what] > 0).length;
  expect(days).toHaveLength(90);
  for (const what of ["emails", "delivered", "opens", "clicks"] as const)
    expect([what, busy(what) > 70]).toEqual([what, true]);
  const summary = analytics.getSummary.responses[200].parse(await read(`/analytics/summary?${period}`));
  for (const what of ["bounces", "softBounces", "complaints", "machineOpens", "machineClicks"] as const)
    expect([what, summary.current[what] > 0]).toEqual([what, true]);
  const security = await server.call<{ levels: object }>(
    "GET",
    `/projects/${project.id}/security`,
    project.bySession,
  );
  expect(new Set(Object.values(security.body.levels))).toEqual(new Set(["healthy"]));
  for (const dimension of ["kind", "campaign", "template", "workflow", "provider"])
    expect([
      dimension,
      (await read<unknown[]>(`/analytics/breakdown?dimension=${dimension}&${period}`)).length > 0,
    ]).toEqual([dimension, true]);
  const audience = await read<Array<{ added: number; byChoice: number; byBounce: number }>>(
    `/analytics/audience?${period}`,
  );
  for (const what of ["added", "byChoice", "byBounce"] as const)
    expect([what, audience.some((day) => day[what] > 0)]).toEqual([what, true]);
  const events = await read<Array<{ name: string }>>(`/analytics/top-events?${period}`);
  expect(events.map(({ name }) => name)).toEqual(
    expect.arrayContaining(["opened-app", "order-placed", "signed-up"]),
  );
});

test("every sent campaign has a report, and its first hours are the liveliest", async () => {
  for (const [at, { sentDaysAgo }] of CAMPAIGNS.entries()) {
    if (sentDaysAgo === undefined) continue;
    const path = `/campaigns/${lively.campaigns[at]}`;
    const { name, status, ...counts } = campaigns.campaign.parse(await read(path));
    expect([name, status]).toEqual([name, "SENT"]);
    for (const what of ["sentCount", "deliveredCount", "openedCount", "clickedCount"] as const)
      expect([name, what, counts[what] > 10]).toEqual([name, what, true]);
    expect(counts.sentCount).toBeGreaterThan(LEAST_SENT);
    expect(counts.totalRecipients).toBe(counts.sentCount);
    const activity = await read<unknown>(`${path}/activity?hours=48`);
    const { points } = campaignReport.getCampaignActivity.responses[200].parse(activity);
    const opensFrom = (from: number, to: number) =>
      points
        .slice((points.length * from) / 48, (points.length * to) / 48)
        .reduce((sum, { opens }) => sum + opens, 0);
    expect(opensFrom(0, 3)).toBeGreaterThan(opensFrom(3, 48));
    const { links } = await read<{ links: Array<{ clicks: number }> }>(`${path}/stats`);
    expect([name, links.filter(({ clicks }) => clicks > 0).length]).toEqual([name, 3]);
  }
  const states = CAMPAIGNS.map((_, at) => lively.campaigns[at] ?? "");
  const rows = await server.rows<{ status: string }>(
    "select status from campaigns where id = any($1::uuid[])",
    states,
  );
  expect(rows.map(({ status }) => status).toSorted()).toEqual([
    "DRAFT",
    "SCHEDULED",
    ...Array<string>(7).fill("SENT"),
  ]);
});

test("enabled workflows have executions in every state, failures of several causes, and goals", async () => {
  const { data } = workflowList.listWorkflows.responses[200].parse(await read("/workflows"));
  const enabled = data.filter(({ enabled: isEnabled }) => isEnabled);
  expect(enabled).toHaveLength(4);
  for (const { name, last30Days } of enabled) expect([name, last30Days.entered > 20]).toEqual([name, true]);
  expect(enabled.filter(({ last30Days }) => last30Days.goals > 0)).toHaveLength(2);
  const states = await server.rows<{ status: string }>(
    "select distinct status from workflow_executions order by 1",
  );
  expect(states.map(({ status }) => status)).toEqual(["COMPLETED", "EXITED", "FAILED", "WAITING"]);
  const failing = lively.workflows.find(({ name }) => name === "Tell the warehouse")?.id;
  const failures = await read<{ data: unknown[] }>(`/workflows/${failing}/failures`);
  expect(failures.data.length).toBeGreaterThan(1);
});

test("lists of what came from outside are not empty", async () => {
  for (const path of [
    "/received-emails",
    "/requests",
    "/suppressions",
    `/webhooks/endpoints/${lively.endpointId}/deliveries`,
  ])
    expect([path, (await read<{ data: unknown[] }>(path)).data.length > 3]).toEqual([path, true]);
  const audited = await server.rows("select 1 from audit_log where project_id = $1", project.id);
  expect(audited.length).toBeGreaterThan(3);
  const tags = await server.rows<{ tag: string }>(
    "select distinct tags ->> 0 as tag from emails where tags is not null order by 1",
  );
  expect(tags.map(({ tag }) => tag)).toEqual(["password", "receipt"]);
});

test("all counts equal their rows, and nothing happens in the future", async () => {
  const span = { from: new Date(Date.now() - 120 * DAY_MS), to: new Date(Date.now() + DAY_MS) };
  expect((await recountSample(server.database, span, 5)).wrong).toEqual([]);
  expect((await recountEmails(server.database, 5)).wrong).toEqual([]);
  expect(await findMiscounts(server.database)).toEqual([]);
  const wrongSteps = await server.rows(
    `select c.step_id from workflow_step_counts c where c.entered - c.passed - c.skipped - c.failed - c.cancelled
       <> (select count(*) from workflow_executions x
           where x.project_id = c.project_id and x.workflow_id = c.workflow_id and x.step_id = c.step_id and x.status = 'WAITING')`,
  );
  expect(wrongSteps).toEqual([]);
  const late = await server.rows(
    "select id from events where created_at > $1",
    new Date(until.getTime() + 1_000),
  );
  expect(late).toEqual([]);
});

test("the doctor finds no problem in the counts and logs of the project", async () => {
  const program = fileURLToPath(new URL("../../../server/src/doctor.ts", import.meta.url));
  const env = {
    PATH: process.env["PATH"],
    APP_SECRET,
    BASE_URL: server.url,
    DATABASE_URL: databaseUrlOf(server.pool.options),
  };
  const child = spawn(process.execPath, [program, "--json"], { env });
  const { findings } = JSON.parse(await text(child.stdout)) as {
    findings: Array<{ state: string; check: string; message: string }>;
  };
  // No worker runs in this test, so that nothing else changes the project.
  expect(findings.filter(({ state, check }) => state === "problem" && check !== "queue")).toEqual([]);
});

test("only reserved domains get email, and equal seeds produce the same people", async () => {
  const domains = await server.rows<{ domain: string }>(
    "select distinct split_part(email, '@', 2) as domain from contacts order by 1",
  );
  expect(domains.map(({ domain }) => domain)).toEqual(["example.com", "example.net", "example.org"]);
  const other = await server.createProject();
  await fillLively({ database: server.database, api: apiOf(other), projectId: other.id, seed: 1, until });
  const emailsOf = ({ id }: TestProject) =>
    server.rows<{ email: string }>("select email from contacts where project_id = $1 order by id", id);
  expect(await emailsOf(other)).toEqual(await emailsOf(project));
  expect(
    await fillLively({ database: server.database, api: apiOf(other), projectId: other.id, seed: 1 }),
  ).toBeNull();
});
