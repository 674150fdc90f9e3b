// Analytics over HTTP: the numbers of a small example in every zone and as CSV, and invalid queries.
import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import * as templates from "@postloft/contract/templates.ts";
import * as v1 from "@postloft/contract/v1.ts";
import { countNews } from "../events/counts.ts";
import { recordEvents } from "../events/events.ts";
import { transaction } from "../platform/database/database.ts";
import { newId } from "../platform/ids.ts";
import { makeSentMails } from "../testing/sent-mails.ts";
import { faultsOf, errorOf, useTestServer, type TestProject } from "../testing/test-server.ts";

const server = useTestServer({ ROLES: "api" });
const get = <Body>(path: string, caller = server.project.byKey) =>
  server.call<Body>("GET", `/analytics/${path}`, caller);

test.each([
  ["timeseries?startDate=2026-03-02&endDate=2026-03-01", ["endDate too_small"]],
  ["timeseries?startDate=1926-01-01&endDate=2026-01-01", ["startDate invalid_date"]],
  ["timeseries?startDate=1971-01-01&endDate=2071-01-01", ["endDate too_big"]],
  ["timeseries?startDate=2026-02-30", ["startDate invalid_date"]],
  ["timeseries?startDate=yesterday", ["startDate invalid_date"]],
  ["timeseries?tz=Mars/Olympus", ["tz invalid_string"]],
  ["timeseries?kind=CAMPAIGN&provider=gmail", ["provider custom"]],
  ["timeseries?provider=hooli", ["provider invalid_enum_value"]],
  ["breakdown", ["dimension required"]],
  ["breakdown?dimension=weather", ["dimension invalid_enum_value"]],
  ["top-campaigns?metric=luck", ["metric invalid_enum_value"]],
  ["top-events?limit=0", ["limit too_small"]],
  ["export.csv?report=everything", ["report invalid_enum_value"]],
  ["export.csv?report=breakdown", ["dimension required"]],
  ["export.csv?report=top-events&limit=101", ["limit too_big"]],
])("rejects GET /analytics/%s with an error for the field", async (path, faults) => {
  expect(faultsOf(await get(path))).toEqual(faults);
});

test("returns 404 for ids of another project", async () => {
  const other = await server.createProject();
  const { body: template } = await server.call(templates.createTemplate, other.byKey, {
    body: {
      name: "Theirs",
      subject: "Hi",
      body: "<p>Hi</p>",
      type: "TRANSACTIONAL",
    },
  });
  for (const id of [template.id, randomUUID()])
    expect(errorOf(await get(`timeseries?templateId=${id}`))).toBe("404 TEMPLATE_NOT_FOUND");
  expect(errorOf(await get(`hours?campaignId=${randomUUID()}`))).toBe("404 CAMPAIGN_NOT_FOUND");
  expect(errorOf(await get(`summary?workflowId=${randomUUID()}`))).toBe("404 WORKFLOW_NOT_FOUND");
  expect((await get(`timeseries?templateId=${template.id}`, other.byKey)).status).toBe(200);
});

test("accepts an id in capitals", async () => {
  const project = await server.createProject();
  const [mail] = await makeSentMails(server.database, project.id, 1);
  const { body: template } = await server.call(templates.createTemplate, project.byKey, {
    body: {
      name: "News",
      subject: "Hi",
      body: "<p>Hi</p>",
      type: "TRANSACTIONAL",
    },
  });
  await server.rows("update emails set template_id = $1 where id = $2", template.id, mail?.id);
  await countNews(server.database, { lagSeconds: -1 });
  const [lower, capitals] = [template.id, template.id.toUpperCase()];
  for (const id of [lower, capitals]) {
    const { body } = await get<{ current: object }>(`summary?templateId=${id}`, project.byKey);
    expect(body.current).toMatchObject({ emails: 1 });
  }
  const found = await server.call(templates.getTemplate, project.byKey, { params: { id: capitals } });
  expect(found.body).toEqual(
    (await server.call(templates.getTemplate, project.byKey, { params: { id: lower } })).body,
  );
});

test("uses days of the zone, including clock changes, and zeros for a project without email", async () => {
  const { body } = await get<Array<{ date: string; emails: number }>>(
    "timeseries?startDate=2026-03-28&endDate=2026-03-30&tz=Europe/Berlin",
  );
  expect(body.map(({ date, emails }) => [date, emails])).toEqual([
    ["2026-03-28", 0],
    ["2026-03-29", 0],
    ["2026-03-30", 0],
  ]);
  const { body: hours } = await get<Array<{ weekday: number; hour: number }>>("hours?tz=Asia/Kathmandu");
  expect([hours.length, hours[0], hours.at(-1)]).toMatchObject([
    168,
    { weekday: 1, hour: 0 },
    { weekday: 7, hour: 23 },
  ]);
});

test("counts immediate rejections as bounces, also in the bounce rate", async () => {
  const project = await server.createProject();
  const { database } = server;
  await makeSentMails(database, project.id, 2);
  const refused = await makeSentMails(database, project.id, 4, { status: "FAILED" });
  await server.rows(
    "update emails set sent_at = null where project_id = $1 and status = 'FAILED'",
    project.id,
  );
  const bounces = refused.map(({ id, contactId }) => ({
    projectId: project.id,
    contactId,
    name: "email.bounce",
    data: { bounceType: "hard", atOnce: true },
    emailId: id,
  }));
  await transaction(database, (tx) => recordEvents(tx, bounces));
  const summary = async () => (await get<{ current: object }>("summary", project.byKey)).body.current;
  const right = { emails: 2, bounces: 4, refused: 4, bounceRate: 66.67 };
  expect(await summary()).toMatchObject(right);
  await countNews(database, { lagSeconds: -1 });
  expect(await summary()).toMatchObject(right);
});

test("includes the latest numbers, also as CSV", async () => {
  const { byKey } = await server.createProject();
  for (const email of ["ada@example.com", "bob@example.com"])
    await server.call(v1.track, byKey, { body: { email, event: "=cmd|' /C calc'!A0", subscribed: true } });
  const { body } = await get<Array<{ name: string; count: number; trend: number | null }>>(
    "top-events",
    byKey,
  );
  expect(body).toContainEqual({ name: "=cmd|' /C calc'!A0", count: 2, previousCount: 0, trend: null });
  const csv = await get("export.csv?report=top-events", byKey);
  const lines = csv.text.trimEnd().split("\r\n");
  expect(lines[0]).toBe("name,count,previousCount,trend");
  expect(lines).toHaveLength(body.length + 1);
  // A spreadsheet must not run a formula in a cell.
  expect(lines.some((line) => line.startsWith("="))).toBe(false);
  await server.call(v1.track, byKey, {
    body: {
      email: "ada@example.com",
      event: "left",
      subscribed: false,
    },
  });
  const { body: audience } = await get<Array<{ subscribed: number; growth: number }>>("audience", byKey);
  expect(audience.at(-1)).toMatchObject({ added: 2, subscribed: 0, unsubscribed: 1, growth: 1 });
});

/** The rows of a CSV with the header first. No cell in this test contains a comma. */
const cellsOf = (csv: string) =>
  csv
    .trimEnd()
    .split("\r\n")
    .map((line) => line.split(","));

test("returns as many CSV rows as requested, or all by default", async () => {
  const { byKey } = await server.createProject();
  await server.call(v1.track, byKey, { body: { email: "ada@example.com", event: "first" } });
  for (let at = 0; at < 11; at++)
    await server.call(v1.track, byKey, { body: { email: "ada@example.com", event: `event-${at}` } });
  const csv = async (query: string) => cellsOf((await get(`export.csv?report=${query}`, byKey)).text);
  expect(await csv("top-events")).toHaveLength(1 + 12);
  expect(await csv("top-events&limit=3")).toHaveLength(1 + 3);
});

test("returns the summary and campaign numbers as CSV too", async () => {
  const project = await server.createProject();
  await makeSentMails(server.database, project.id, 2);
  await countNews(server.database, { lagSeconds: -1 });
  const records = async (report: string) => {
    const [names = [], ...rows] = cellsOf((await get(`export.csv?report=${report}`, project.byKey)).text);
    return rows.map((cells) => Object.fromEntries(names.map((name, at) => [name, cells[at]])));
  };
  expect(await records("summary")).toMatchObject([
    { period: "current", emails: "2", openRate: "0" },
    { period: "previous", emails: "0", openRate: "0" },
  ]);
  expect(await records("campaign-stats")).toEqual([
    { total: "0", active: "0", completed: "0", averageOpenRate: "0", averageClickRate: "0" },
  ]);
});

test("returns the usual CSV header for a report without rows", async () => {
  const [empty, project] = [await server.createProject(), await server.createProject()];
  const [mail] = await makeSentMails(server.database, project.id, 1);
  const campaignId = newId();
  await server.rows(
    `insert into campaigns (project_id, id, name, subject, body, from_address, audience_type)
     values ($1, $2, 'Spring', 'Hi', 'b', 'me@shop.example', 'ALL')`,
    project.id,
    campaignId,
  );
  await server.rows("update emails set campaign_id = $1 where id = $2", campaignId, mail?.id);
  await server.call(v1.track, project.byKey, { body: { email: "ada@example.com", event: "came" } });
  await countNews(server.database, { lagSeconds: -1 });
  for (const report of ["breakdown", "top-campaigns", "top-events"]) {
    const rest = "&dimension=campaign";
    const { body } = await get<object[]>(`${report}?${rest}`, project.byKey);
    const columns = Object.keys(body[0] ?? {});
    const csv = async ({ byKey }: TestProject) =>
      cellsOf((await get(`export.csv?report=${report}${rest}`, byKey)).text);
    expect([report, await csv(empty)]).toEqual([report, [columns]]);
    expect([report, (await csv(project))[0]]).toEqual([report, columns]);
  }
});
