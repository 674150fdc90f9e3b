// Workflows over HTTP: triggers, enabling, problems, lists, copies, deletion, and objects that they protect from deletion.
import { expect, test } from "vitest";
import * as contactFields from "@postloft/contract/contact-fields.ts";
import * as eventsContract from "@postloft/contract/events.ts";
import * as executions from "@postloft/contract/executions.ts";
import * as segments from "@postloft/contract/segments.ts";
import * as templates from "@postloft/contract/templates.ts";
import * as questions from "@postloft/contract/workflows/questions.ts";
import * as workflowSteps from "@postloft/contract/workflows/steps.ts";
import * as workflows from "@postloft/contract/workflows/workflows.ts";
import { LIMITS } from "@postloft/contract/limits/limits.ts";
import {
  responsesByName,
  faultsOf,
  errorOf,
  useTestServer,
  type TestProject,
} from "../testing/test-server.ts";
import { firstIdAt } from "../platform/ids.ts";
import type { ResponseOf } from "../testing/typed-call.ts";
import { listWorkflowRows } from "./listing-queries.ts";

const server = useTestServer({ ROLES: "api" });

type Workflow = ResponseOf<typeof workflows.getWorkflow>;

const make = async <Body = Workflow>({ byKey }: TestProject, path: string, body: object) =>
  (await server.call<Body>("POST", path, byKey, body)).body;
const patch = <Body = never>({ byKey }: TestProject, id: string, body: object) =>
  server.call<Body>("PATCH", `/workflows/${id}`, byKey, body);
const read = async ({ byKey }: TestProject, id: string) =>
  (await server.call(workflows.getWorkflow, byKey, { params: { id } })).body;
const problemsOf = async (project: TestProject, id: string) =>
  (await read(project, id)).problems.map(({ code, severity }) => `${code} ${severity}`);

const TEMPLATE = { name: "T", type: "TRANSACTIONAL", subject: "s", body: "b", from: "a@sandbox.localhost" };
const TRACKED = {
  name: "Pros",
  filters: { operator: "AND", conditions: [{ field: "data.plan", operator: "equals", value: "pro" }] },
  trackMembership: true,
};
const EXIT = { type: "EXIT" };
const daysSince = (instant = "") => Math.floor((Date.now() - Date.parse(instant)) / 86_400_000);
const schedule = (config: object) => ({ triggerType: "SCHEDULE", triggerConfig: config });
const everyone = (config: object) => schedule({ ...config, audienceType: "ALL" });
const wait = (config: object) => ({ type: "WAIT_FOR_EVENT", config, autoConnect: true });

/** The events that workflows of the project wait for. */
const awaited = async ({ id }: TestProject) =>
  (
    await server.rows<{ eventName: string }>(
      "select event_name from event_subscriptions where project_id = $1 and subscriber = 'workflows' order by 1",
      id,
    )
  ).map((row) => row.eventName);

test("tracks a segment while an enabled workflow starts when contacts enter it", async () => {
  const project = await server.createProject();
  const segment = await make<{ id: string }>(project, "/segments", TRACKED);
  const { id } = await make(project, "/workflows", { name: "W", eventName: "e" });
  const trigger = { triggerType: "SEGMENT_ENTRY", triggerConfig: { segmentId: segment.id } };
  expect((await patch(project, id, { ...trigger, enabled: true })).status).toBe(200);
  const untrack = () =>
    server.call(segments.updateSegment, project.byKey, {
      params: { id: segment.id },
      body: { trackMembership: false },
    });
  expect(errorOf(await untrack())).toBe("409 CONFLICT");
  expect((await patch(project, id, { enabled: false })).status).toBe(200);
  expect((await untrack()).status).toBe(200);
  expect((await patch(project, id, { enabled: true })).status).toBe(422);
});

test("lets the current members of a segment enter if the call that enables the workflow says so", async () => {
  const project = await server.createProject();
  for (const name of ["ada", "bob"])
    await make(project, "/contacts", { email: `${name}@example.com`, data: { plan: "pro" } });
  const segment = await make<{ id: string }>(project, "/segments", TRACKED);
  const { id } = await make(project, "/workflows", { name: "W", eventName: "e" });
  await make(project, `/workflows/${id}/steps`, { ...EXIT, autoConnect: true });
  const enable = { enabled: true, includeMembers: true };
  expect(faultsOf(await patch(project, id, enable))).toEqual(["includeMembers custom"]);
  await patch(project, id, { triggerType: "SEGMENT_ENTRY", triggerConfig: { segmentId: segment.id } });
  expect(faultsOf(await patch(project, id, { includeMembers: true }))).toEqual(["includeMembers custom"]);
  await expect.poll(async () => (await read(project, id)).currentMembers, { timeout: 30_000 }).toBe(2);
  expect((await patch<Workflow>(project, id, enable)).body).toMatchObject({
    enabled: true,
    currentMembers: null,
  });
  const jobs = await server.rows<{ input: { audience: object } }>(
    "select input from jobs where project_id = $1 and kind = 'workflows.start'",
    project.id,
  );
  expect(jobs).toMatchObject([
    { input: { workflowId: id, audience: { audienceType: "SEGMENT", segmentId: segment.id } } },
  ]);
  expect(faultsOf(await patch(project, id, enable))).toEqual(["includeMembers custom"]);
});

test("checks each trigger when it is saved and subscribes only once the workflow is enabled", async () => {
  const project = await server.createProject();
  const { id } = await make(project, "/workflows", { name: "W", eventName: "signed-up" });
  const segment = await make<{ id: string; slug: string }>(project, "/segments", TRACKED);
  const still = await make<{ id: string }>(project, "/segments", { name: "Still", type: "STATIC" });
  const untracked = await make<{ id: string }>(project, "/segments", { ...TRACKED, trackMembership: false });
  const foreign = await make<{ id: string }>(server.project, "/segments", {
    name: "Elsewhere",
    type: "STATIC",
  });
  const eventColumn = async () =>
    (await server.rows<{ triggerEvent: string }>("select trigger_event from workflows where id = $1", id))[0]
      ?.triggerEvent;
  const refused: Record<string, object> = {
    "event without name": { triggerConfig: {} },
    "segment without id": { triggerType: "SEGMENT_ENTRY" },
    "foreign segment": { triggerType: "SEGMENT_EXIT", triggerConfig: { segmentId: foreign.id } },
    "static segment": { triggerType: "SEGMENT_ENTRY", triggerConfig: { segmentId: still.id } },
    "untracked segment": { triggerType: "SEGMENT_ENTRY", triggerConfig: { segmentId: untracked.id } },
    "name for a schedule": { ...everyone({ cron: "* * * * *" }), eventName: "e" },
    "cron garbage": everyone({ cron: "whenever" }),
    "cron with seconds": everyone({ cron: "* * * * * *" }),
    "cron by name": everyone({ cron: "@daily" }),
    "cron of one date": everyone({ cron: "2099-01-01T09:00:00" }),
    "cron of now": everyone({ cron: "? * * * *" }),
    "cron that never runs": everyone({ cron: "0 0 31 2 *" }),
    "minute 61": everyone({ cron: "61 * * * *" }),
    "no zone": everyone({ cron: "* * * * *", timezone: "Nowhere" }),
    "no audience": schedule({ cron: "* * * * *", audienceType: "SEGMENT" }),
    "nobody named": schedule({ cron: "* * * * *" }),
    "a segment that is null": schedule({ cron: "* * * * *", segmentId: null }),
    "a misspelled segment": schedule({ cron: "* * * * *", segmntId: still.id }),
    "everyone and a segment": everyone({ cron: "* * * * *", segmentId: still.id }),
    "a segment and a filter": schedule({
      cron: "* * * * *",
      segmentId: still.id,
      audienceFilter: TRACKED.filters,
    }),
    "a filter without a condition": schedule({ cron: "* * * * *", audienceFilter: {} }),
    "foreign audience": schedule({ cron: "* * * * *", audienceType: "SEGMENT", segmentId: foreign.id }),
    "unknown type": { triggerType: "MOON" },
    "filter on the contact": {
      triggerConfig: {
        eventName: "e",
        filter: { operator: "AND", conditions: [{ field: "subscribed", operator: "exists" }] },
      },
    },
  };
  const before = await read(project, id);
  const responses = await responsesByName(
    Object.entries(refused),
    ([name]) => name,
    async ([, body]) => faultsOf(await patch(project, id, body)).join(" "),
  );
  expect(responses).toEqual({
    "event without name": "triggerConfig.eventName required",
    "segment without id": "triggerConfig.segmentId required",
    "foreign segment": "triggerConfig.segmentId custom",
    "static segment": "triggerConfig.segmentId custom",
    "untracked segment": "triggerConfig.segmentId custom",
    "name for a schedule": "eventName custom triggerConfig.eventName unknown_field",
    "cron garbage": "triggerConfig.cron custom",
    "cron with seconds": "triggerConfig.cron custom",
    "cron by name": "triggerConfig.cron custom",
    "cron of one date": "triggerConfig.cron custom",
    "cron of now": "triggerConfig.cron custom",
    "cron that never runs": "triggerConfig.cron custom",
    "minute 61": "triggerConfig.cron custom",
    "no zone": "triggerConfig.timezone invalid_string",
    "no audience": "triggerConfig.segmentId required",
    "nobody named": "triggerConfig.audienceType required",
    "a segment that is null": "triggerConfig.audienceType required",
    "a misspelled segment": "triggerConfig.audienceType required triggerConfig.segmntId unknown_field",
    "everyone and a segment": "triggerConfig.audienceType custom",
    "a segment and a filter": "triggerConfig.audienceType custom",
    "a filter without a condition":
      "triggerConfig.audienceFilter.conditions required triggerConfig.audienceFilter.operator required",
    "foreign audience": "triggerConfig.segmentId custom",
    "unknown type": "triggerType invalid_enum_value",
    "filter on the contact": "triggerConfig.filter custom",
  });
  expect(await read(project, id)).toEqual(before);
  expect(await awaited(project)).toEqual([]);

  expect((await patch<Workflow>(project, id, { enabled: true })).body.enabled).toBe(true);
  expect(await awaited(project)).toEqual(["signed-up"]);
  await patch(project, id, { triggerType: "SEGMENT_ENTRY", triggerConfig: { segmentId: segment.id } });
  expect(await eventColumn()).toBe(`segment.${segment.slug}.entry`);
  expect(await awaited(project)).toEqual([`segment.${segment.slug}.entry`]);
  const daily = everyone({ cron: "0 9 * * *", timezone: "Europe/Berlin" });
  const scheduled = (await patch<Workflow>(project, id, daily)).body;
  expect(new Date(scheduled.nextRunAt ?? 0).getTime()).toBeGreaterThan(Date.now());
  expect([await eventColumn(), await awaited(project)]).toEqual([null, []]);
  for (const [named, audienceType] of [
    [{ segmentId: still.id }, "SEGMENT"],
    [{ audienceFilter: TRACKED.filters, segmentId: null }, "FILTERED"],
  ] as const) {
    const config = { cron: "0 9 * * *", ...named };
    expect((await patch(project, id, schedule(config))).body).toMatchObject({
      triggerConfig: { ...named, audienceType },
    });
  }
  await patch(project, id, daily);
  expect((await patch<Workflow>(project, id, { name: "X" })).body.nextRunAt).toBe(scheduled.nextRunAt);
  expect((await patch<Workflow>(project, id, { enabled: false })).body.nextRunAt).toBeNull();
  const manual = (await patch<Workflow>(project, id, { triggerType: "MANUAL", enabled: true })).body;
  expect(manual).toMatchObject({ triggerType: "MANUAL", triggerConfig: {}, nextRunAt: null, enabled: true });
});

test("subscribes to the events of waits as the steps of an enabled workflow change", async () => {
  const project = await server.createProject();
  const { id } = await make(project, "/workflows", { name: "W", eventName: "signed-up" });
  await make(project, `/workflows/${id}/steps`, wait({ eventName: "paid", timeout: 60 }));
  expect(await awaited(project)).toEqual([]);
  await patch(project, id, { enabled: true });
  expect(await awaited(project)).toEqual(["paid", "signed-up"]);
  const step = await make<{ id: string }>(
    project,
    `/workflows/${id}/steps`,
    wait({ eventName: "shipped", timeout: 60 }),
  );
  expect(await awaited(project)).toEqual(["paid", "shipped", "signed-up"]);
  const path = `/workflows/${id}/steps/${step.id}`;
  await server.call("PATCH", path, project.byKey, { config: { eventName: "arrived", timeout: 60 } });
  expect(await awaited(project)).toEqual(["arrived", "paid", "signed-up"]);
  await server.call("DELETE", path, project.byKey);
  expect(await awaited(project)).toEqual(["paid", "signed-up"]);
  await patch(project, id, { enabled: false });
  expect(await awaited(project)).toEqual([]);
});

test("reports the problems of a workflow, and errors prevent enabling it", async () => {
  const project = await server.createProject();
  const { id } = await make(project, "/workflows", { name: "W" });
  expect(await problemsOf(project, id)).toEqual(["NO_TRIGGER_EVENT error", "NO_STEPS warning"]);
  const refused = await patch(project, id, { enabled: true });
  expect([refused.status, ...faultsOf(refused)]).toEqual([422, "enabled custom"]);
  await patch(project, id, { eventName: "email.nonsense" });
  expect(await problemsOf(project, id)).toEqual(["EVENT_NEVER_HAPPENS error", "NO_STEPS warning"]);
  await patch(project, id, { eventName: "email.open" });
  expect(await problemsOf(project, id)).toEqual(["NO_STEPS warning"]);

  const silent = await make<{ id: string }>(project, "/templates", {
    ...TEMPLATE,
    type: "HEADLESS",
    from: null,
    body: "{{nmae}} {{event.plan}}",
  });
  const send = { type: "SEND_EMAIL", templateId: silent.id, autoConnect: true };
  const custom = { recipient: { type: "CUSTOM", customEmail: "boss@example.com" } };
  const mail = await make<{ id: string }>(project, `/workflows/${id}/steps`, { ...send, config: custom });
  expect(await problemsOf(project, id)).toEqual([
    "NO_SENDER error",
    "LIST_MAIL_TO_CUSTOM warning",
    "UNKNOWN_VARIABLE warning",
  ]);
  expect((await patch(project, id, { enabled: true })).status).toBe(422);
  await server.rows("update projects set default_from = 'a@sandbox.localhost' where id = $1", project.id);
  expect((await patch(project, id, { enabled: true })).status).toBe(200);

  // No edit brings an error into the enabled workflow. With it disabled, the first wait can't end, and the second has no timeout.
  const removed = { templateId: null, config: { recipient: { type: "CONTACT" } } };
  const live = [
    await server.call<never>(
      "POST",
      `/workflows/${id}/steps`,
      project.byKey,
      wait({ eventName: "email.never" }),
    ),
    await server.call<never>("PATCH", `/workflows/${id}/steps/${mail.id}`, project.byKey, removed),
    await patch(project, id, { eventName: "email.never" }),
    await patch(project, id, everyone({ cron: "0 * * * *" })),
  ];
  expect(live.map((reply) => [reply.status, ...faultsOf(reply)])).toEqual([
    [422, "steps custom"],
    [422, "steps custom"],
    [422, "eventName custom"],
    [422, "triggerConfig custom"],
  ]);
  expect(JSON.stringify(live[1]?.body)).toContain("has no template. The workflow is enabled. Correct this");
  await patch(project, id, { enabled: false });
  await make(project, `/workflows/${id}/steps`, wait({ eventName: "email.never" }));
  const second = await make<{ id: string }>(project, `/workflows/${id}/steps`, wait({ eventName: "bought" }));
  const exit = await make<{ id: string }>(project, `/workflows/${id}/steps`, EXIT);
  const timeout = { fromStepId: second.id, toStepId: exit.id, branch: "timeout" };
  await make(project, `/workflows/${id}/transitions`, timeout);
  await server.call(workflowSteps.updateStep, project.byKey, {
    params: { id, stepId: mail.id },
    body: { templateId: null },
  });
  expect(await problemsOf(project, id)).toEqual([
    "NO_TEMPLATE error",
    "ENDLESS_WAIT error",
    "DEAD_BRANCH warning",
    "ENDLESS_WAIT warning",
    "UNREACHABLE_STEP warning",
  ]);
  expect((await patch(project, id, { enabled: true })).status).toBe(422);
  // A workflow that lost something it needs can still be edited while it is enabled.
  await server.rows("update workflows set enabled = true where project_id = $1 and id = $2", project.id, id);
  expect((await patch(project, id, { enabled: true, name: "Still live" })).status).toBe(200);
});

test("searches, filters and sorts lists, with counts of steps and executions", async () => {
  const project = await server.createProject();
  const ids: Record<string, string> = {};
  for (const [name, more] of [
    ["beta", { eventName: "e" }],
    ["Alpha 100%", { description: "the first" }],
    ["gamma", {}],
  ] as const)
    ids[name] = (await make(project, "/workflows", { name, ...more })).id;
  await make(project, `/workflows/${ids["beta"]}/steps`, EXIT);
  await patch(project, ids["beta"] ?? "", { enabled: true });
  const contact = await make<{ id: string }>(project, "/contacts", { email: "ada@example.com" });
  const started = await make<{ id: string }>(project, `/workflows/${ids["beta"]}/executions`, {
    contactId: contact.id,
  });
  // Copies of the execution, with the days since their start and end.
  for (const [status, startedDays, endedDays] of [
    ["EXITED", 0, 0],
    ["FAILED", 29, 0],
    ["COMPLETED", 31, 0],
    ["FAILED", 32, 6],
    ["FAILED", 33, 8],
  ] as const)
    await server.rows(
      `insert into workflow_executions (project_id, id, workflow_id, entry, version, status, started_at, ended_at)
       select project_id, $2, workflow_id, entry, version, $3, now() - interval '1 day' * $4, now() - interval '1 day' * $5
       from workflow_executions where id = $1`,
      started.id,
      firstIdAt(Date.now() - startedDays * 86_400_000 - 60_000),
      status,
      startedDays,
      endedDays,
    );
  const list = async (query: string) => {
    const { body } = await server.call<ResponseOf<typeof workflows.listWorkflows>>(
      "GET",
      `/workflows${query}`,
      project.byKey,
    );
    return { ...body, names: body.data.map(({ name }) => name) };
  };
  expect((await list("")).names).toEqual(["gamma", "Alpha 100%", "beta"]);
  expect((await list("?sort=name")).names).toEqual(["Alpha 100%", "beta", "gamma"]);
  expect((await list("?sort=steps")).names[0]).toBe("beta");
  expect((await list("?sort=updatedAt&dir=asc")).names.at(-1)).toBe("beta");
  expect((await list("?search=ALPHA")).names).toEqual(["Alpha 100%"]);
  expect((await list("?search=%25")).names).toEqual(["Alpha 100%"]);
  expect((await list("?search=first")).names).toEqual(["Alpha 100%"]);
  expect((await list("?status=active")).data).toMatchObject([
    {
      name: "beta",
      _count: { steps: 2, executions: 6, active: 1, failed: 3, failedLast7Days: 2 },
      last30Days: { entered: 3, completed: 1, failed: 1 },
    },
  ]);
  expect(daysSince((await list("")).countedSince)).toBe(30);
  // With room for only two executions, the window begins with the second-newest one.
  const order = { by: "name", dir: "asc" } as const;
  const [listed] = await listWorkflowRows(
    server.database,
    project.id,
    { search: "beta" },
    { order, page: 1, pageSize: 1, since: new Date(0), failedSince: new Date(0), window: 2 },
  );
  expect(listed).toMatchObject({ executions: 6, entered: 2, completed: 1, failed: 0, failedRecently: 3 });
  expect(daysSince(listed?.windowStart?.toISOString())).toBe(0);
  expect((await list("?status=disabled")).total).toBe(2);
  expect(await list("?page=2&pageSize=2")).toMatchObject({ names: ["beta"], total: 3, totalPages: 2 });
  expect((await list("?page=9")).names).toEqual([]);
});

test("a folder filters the list, lists its name while a workflow is in it, and follows copies and exports", async () => {
  const project = await server.createProject();
  const list = async (query = "") => {
    const { body } = await server.call<{
      data: Workflow[];
      folders: Array<{ name: string; workflows: number }>;
    }>("GET", `/workflows${query}`, project.byKey);
    return {
      names: body.data.map(({ name }) => name),
      folders: body.folders.map((one) => `${one.name} ${one.workflows}`),
    };
  };
  const { id, folder } = await make(project, "/workflows", { name: "Welcome", folder: " Onboarding " });
  expect(folder).toBe("Onboarding");
  await make(project, "/workflows", { name: "Alone" });
  await make(project, `/workflows/${id}/duplicate`, {});
  const { body: document } = await server.call<object>("GET", `/workflows/${id}/export`, project.byKey);
  await make(project, "/workflows/import", { ...document, name: "Imported" });
  expect(await list("?folder=Onboarding&sort=name")).toEqual({
    names: ["Imported", "Welcome", "Welcome (copy)"],
    folders: ["Onboarding 3"],
  });
  expect(await list("?folder=onboarding")).toEqual({ names: [], folders: ["Onboarding 3"] });
  const move = (body: object) => server.call<Workflow>("PATCH", `/workflows/${id}`, project.byKey, body);
  expect((await move({ folder: "billing" })).body.folder).toBe("billing");
  expect((await move({ name: "Hello" })).body.folder).toBe("billing");
  expect((await list()).folders).toEqual(["billing 1", "Onboarding 2"]);
  expect((await move({ folder: null })).body.folder).toBeNull();
  expect((await list()).folders).toEqual(["Onboarding 2"]);
  expect(faultsOf(await move({ folder: " " }))).toEqual(["folder too_small"]);
  expect(faultsOf(await move({ folder: "a\nb" }))).toEqual(["folder invalid_string"]);
});

test("tags filter the list, are kept once in order, and follow copies and exports", async () => {
  const project = await server.createProject();
  const list = async (query = "") => {
    const { body } = await server.call<{
      data: Workflow[];
      tags: Array<{ name: string; workflows: number }>;
    }>("GET", `/workflows${query}`, project.byKey);
    return {
      names: body.data.map(({ name }) => name),
      tags: body.tags.map((one) => `${one.name} ${one.workflows}`),
    };
  };
  const { id, tags } = await make(project, "/workflows", { name: "A", tags: [" trial ", "beta", "trial"] });
  expect(tags).toEqual(["trial", "beta"]);
  const { tags: none } = await make(project, "/workflows", { name: "B" });
  expect(none).toEqual([]);
  await make(project, `/workflows/${id}/duplicate`, {});
  const { body: document } = await server.call<object>("GET", `/workflows/${id}/export`, project.byKey);
  await make(project, "/workflows/import", { ...document, name: "C" });
  expect(await list("?tag=beta&sort=name")).toEqual({
    names: ["A", "A (copy)", "C"],
    tags: ["beta 3", "trial 3"],
  });
  expect((await list("?tag=Beta")).names).toEqual([]);
  const edit = (body: object) => server.call<Workflow>("PATCH", `/workflows/${id}`, project.byKey, body);
  expect((await edit({ name: "D" })).body.tags).toEqual(["trial", "beta"]);
  expect((await edit({ tags: [] })).body.tags).toEqual([]);
  expect((await list()).tags).toEqual(["beta 2", "trial 2"]);
  expect(faultsOf(await edit({ tags: ["ok", " "] }))).toEqual(["tags.1 too_small"]);
  expect(faultsOf(await edit({ tags: ["a\nb"] }))).toEqual(["tags.0 invalid_string"]);
  expect(faultsOf(await edit({ tags: ["a, b"] }))).toEqual(["tags.0 custom"]);
  expect(faultsOf(await edit({ tags: Array.from({ length: 11 }, (_, at) => `t${at}`) }))).toEqual([
    "tags too_big",
  ]);
  expect(faultsOf(await edit({ tags: null }))).toEqual(["tags invalid_type"]);
});

test("creates a copy that is disabled and independent", async () => {
  const project = await server.createProject();
  const { id } = await make(project, "/workflows", { name: "W", eventName: "e", allowReentry: true });
  await make(project, `/workflows/${id}/steps`, { ...EXIT, autoConnect: true });
  await patch(project, id, { enabled: true });
  const copy = await make(project, `/workflows/${id}/duplicate`, {});
  expect(copy).toMatchObject({
    name: "W (copy)",
    enabled: false,
    triggerConfig: { eventName: "e" },
    allowReentry: true,
    transitions: [{}],
    problems: [],
  });
  const original = await read(project, id);
  expect(copy.steps.map(({ type }) => type)).toEqual(original.steps.map(({ type }) => type));
  for (const { id: stepId } of original.steps) expect(JSON.stringify(copy)).not.toContain(stepId);
});

test("deletes a workflow only without active executions", async () => {
  const project = await server.createProject();
  const { id } = await make(project, "/workflows", { name: "W", eventName: "e" });
  await make(project, `/workflows/${id}/steps`, { type: "DELAY", config: { amount: 1, unit: "days" } });
  await patch(project, id, { enabled: true });
  const contact = await make<{ id: string }>(project, "/contacts", { email: "ada@example.com" });
  const execution = await make<{ id: string }>(project, `/workflows/${id}/executions`, {
    contactId: contact.id,
  });
  const remove = () => server.call(workflows.deleteWorkflow, project.byKey, { params: { id } });
  expect(errorOf(await remove())).toBe("409 CONFLICT");
  await server.call(executions.cancelExecution, project.byKey, { params: { id, executionId: execution.id } });
  expect((await remove()).status).toBe(204);
  expect(errorOf(await remove())).toBe("404 WORKFLOW_NOT_FOUND");
  expect(await awaited(project)).toEqual([]);
  expect(await server.rows("select 1 from workflow_executions where project_id = $1", project.id)).toEqual(
    [],
  );
});

test("lists the workflows that use a template, segment, field or event", async () => {
  const project = await server.createProject();
  const { id } = await make(project, "/workflows", { name: "W", eventName: "signed-up" });
  const template = await make<{ id: string }>(project, "/templates", TEMPLATE);
  const segment = await make<{ id: string }>(project, "/segments", TRACKED);
  await make(project, "/contacts", {
    email: "ada@example.com",
    data: { plan: "pro", seen: 1, endsAt: "2027-01-31", other: 1 },
  });
  const steps = `/workflows/${id}/steps`;
  const send = await make<{ id: string }>(project, steps, { type: "SEND_EMAIL", templateId: template.id });
  const filter = {
    operator: "AND",
    conditions: [
      { field: `segment.${segment.id}`, operator: "memberOfSegment" },
      { operator: "OR", conditions: [{ field: "contact.data.plan", operator: "exists" }] },
      { field: "event.bought", operator: "notTriggered" },
    ],
  };
  await make(project, steps, { type: "CONDITION", config: filter });
  await make(project, steps, { type: "UPDATE_CONTACT", config: { updates: { seen: true } } });
  await make(project, steps, { type: "DELAY", config: { dateField: "data.endsAt" } });
  const call = (method: string, path: string) => server.call<never>(method, path, project.byKey);
  expect((await call("GET", `/templates/${template.id}/usage`)).body).toMatchObject({
    workflowSteps: [{ workflowId: id, workflowName: "W", stepId: send.id }],
  });
  expect(errorOf(await call("DELETE", `/templates/${template.id}`))).toBe("409 CONFLICT");
  const named = [{ id, name: "W" }];
  const fields = await responsesByName(["plan", "seen", "endsAt", "other"], String, async (field) => {
    const { body } = await server.call(contactFields.getFieldUsage, project.byKey, { params: { field } });
    return body.usedInWorkflows;
  });
  expect(fields).toEqual({ plan: named, seen: named, endsAt: named, other: [] });
  const events = await responsesByName(["signed-up", "bought", "plan"], String, async (name) => {
    const { body } = await server.call(eventsContract.getEventUsage, project.byKey, {
      params: { eventName: name },
    });
    return body.usedInWorkflows;
  });
  expect(events).toEqual({ "signed-up": named, bought: named, plan: [] });

  await patch(project, id, { enabled: true });
  expect(errorOf(await call("DELETE", `/segments/${segment.id}`))).toBe("409 CONFLICT");
  await patch(project, id, { enabled: false });
  expect((await call("DELETE", `/segments/${segment.id}`)).status).toBe(204);
  expect(await problemsOf(project, id)).toContain("MISSING_SEGMENT warning");
  await call("DELETE", `/workflows/${id}/steps/${send.id}`);
  expect((await call("DELETE", `/templates/${template.id}`)).status).toBe(204);
});

test("keeps a template and a segment that running executions of an earlier version still need", async () => {
  const project = await server.createProject();
  const { byKey } = project;
  const [before, after] = [
    await make<{ id: string }>(project, "/templates", TEMPLATE),
    await make<{ id: string }>(project, "/templates", { ...TEMPLATE, name: "New" }),
  ];
  const segment = await make<{ id: string }>(project, "/segments", TRACKED);
  const { id } = await make(project, "/workflows", { name: "W", eventName: "signed-up" });
  const addStep = (body: object) =>
    make<{ id: string }>(project, `/workflows/${id}/steps`, { autoConnect: true, ...body });
  const delay = await addStep({ type: "DELAY", config: { amount: 1, unit: "days" } });
  const filter = {
    operator: "AND",
    conditions: [{ field: `segment.${segment.id}`, operator: "memberOfSegment" }],
  };
  const ask = await addStep({ type: "CONDITION", config: filter });
  const send = await addStep({ type: "SEND_EMAIL", templateId: before.id, autoConnect: false });
  const branch = { fromStepId: ask.id, toStepId: send.id, branch: "yes" };
  expect((await server.call("POST", `/workflows/${id}/transitions`, byKey, branch)).status).toBe(201);
  const last = await addStep({ type: "EXIT" });

  // Three people wait in the version that is then replaced.
  await server.rows("update workflow_versions set is_used = true where workflow_id = $1", id);
  await server.rows(
    `insert into workflow_executions (project_id, id, workflow_id, entry, version, status, step_id)
     select $1, new_id(), $2, n, 1, 'WAITING', $3 from generate_series(1, 3) n`,
    project.id,
    id,
    delay.id,
  );
  const path = `/workflows/${id}/steps`;
  await server.call("PATCH", `${path}/${send.id}`, byKey, { templateId: after.id });
  await server.call("DELETE", `${path}/${ask.id}`, byKey);

  const deleteTemplate = () => server.call<never>("DELETE", `/templates/${before.id}`, byKey);
  const deleteSegment = () => server.call<never>("DELETE", `/segments/${segment.id}`, byKey);
  const refused = await deleteTemplate();
  expect([errorOf(refused), JSON.stringify(refused.body)]).toEqual([
    "409 CONFLICT",
    expect.stringContaining("3 of its running executions will still send it"),
  ]);
  const usage = await server.call(templates.getTemplateUsage, byKey, { params: { id: before.id } });
  expect(usage.body).toMatchObject({
    workflowSteps: [],
    executions: [{ workflowId: id, workflowName: "W", version: 1, stepId: send.id, count: 3 }],
  });
  expect(errorOf(await deleteSegment())).toBe("409 CONFLICT");

  // Past these steps nobody needs them.
  await server.rows("update workflow_executions set step_id = $1 where workflow_id = $2", last.id, id);
  expect([(await deleteTemplate()).status, (await deleteSegment()).status]).toEqual([204, 204]);
});

test("leaves no dangling reference when a template is deleted while a step begins to send it", async () => {
  const project = await server.createProject();
  for (let round = 0; round < 10; round++) {
    const { id } = await make(project, "/workflows", { name: "W", eventName: "e" });
    const template = await make<{ id: string }>(project, "/templates", TEMPLATE);
    const send = { type: "SEND_EMAIL", templateId: template.id };
    const [added, removed] = await Promise.all([
      server.call(workflowSteps.createStep, project.byKey, { params: { id }, anyBody: send }),
      server.call(templates.deleteTemplate, project.byKey, { params: { id: template.id } }),
    ]);
    expect([`201 409`, `422 204`]).toContain(`${added.status} ${removed.status}`);
  }
});

test("lists contact fields and keys of an event's newest data for conditions", async () => {
  const project = await server.createProject();
  await make(project, "/contacts", { email: "ada@example.com", data: { plan: "pro" } });
  await make(project, "/v1/track", {
    email: "ada@example.com",
    event: "bought",
    data: { total: 5, at: "x" },
  });
  const ask = async (query: string) =>
    (await server.call(questions.listWorkflowFields, project.byKey, { anyQuery: query })).body;
  const own = ["contact.email", "contact.subscribed", "contact.createdAt", "contact.updatedAt"];
  expect((await ask("")).fields).toEqual(expect.arrayContaining([...own, "data.plan"]));
  const { fields, typedFields, count } = await ask("?eventName=bought");
  expect(fields.slice(-2)).toEqual(["event.at", "event.total"]);
  expect(typedFields).toContainEqual({ field: "event.total", type: "number", category: "Event Data" });
  expect(typedFields).toContainEqual({ field: "data.plan", type: "string", category: "Custom Data" });
  expect(count).toBe(fields.length);
});

test("rejects more workflows than the limit of a project", async () => {
  const project = await server.createProject();
  await server.rows(
    "insert into workflows (project_id, id, name) select $1, gen_random_uuid(), 'W' from generate_series(1, $2::int)",
    project.id,
    LIMITS.workflows.value - 1,
  );
  expect((await make(project, "/workflows", { name: "last" })).name).toBe("last");
  const more = await server.call(workflows.createWorkflow, project.byKey, { body: { name: "more" } });
  expect(errorOf(more)).toBe("409 CONFLICT");
});

test("does not enable a workflow on a segment that is being deleted", async () => {
  const project = await server.createProject();
  const segment = await make<{ id: string }>(project, "/segments", TRACKED);
  const { id } = await make(project, "/workflows", { name: "W" });
  const trigger = { triggerType: "SEGMENT_ENTRY", triggerConfig: { segmentId: segment.id } };
  expect((await patch(project, id, trigger)).status).toBe(200);
  const client = await server.pool.connect();
  try {
    await client.query("begin");
    await client.query("delete from segments where id = $1", [segment.id]);
    const enabling = patch(project, id, { enabled: true });
    await expect
      .poll(() => server.rows("select 1 from pg_stat_activity where wait_event_type = 'Lock'"))
      .toHaveLength(1);
    await client.query("commit");
    expect(errorOf(await enabling)).toBe("422 VALIDATION_ERROR");
  } finally {
    client.release();
  }
});
