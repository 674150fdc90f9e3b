// Fields over HTTP: list with fill rates, values, usage, and deletion.
import { expect, test, vi } from "vitest";
import * as contactFields from "@postloft/contract/contact-fields.ts";
import * as contactImport from "@postloft/contract/contact-import.ts";
import * as contacts from "@postloft/contract/contacts.ts";
import * as segments from "@postloft/contract/segments.ts";
import * as v1 from "@postloft/contract/v1.ts";
import { newId } from "../../platform/ids.ts";
import { startJobs } from "../../platform/background/jobs.ts";
import { createLog } from "../../platform/log.ts";
import { createMetrics } from "../../platform/metrics.ts";
import {
  responsesByName,
  faultsOf,
  errorOf,
  sameByName,
  useTestServer,
  type TestCaller,
  type TestProject,
} from "../../testing/test-server.ts";
import { contactContext } from "../../workflows/usage.ts";
import { importConsequences } from "../../segments/import-consequences.ts";
import { contactJobs } from "../jobs.ts";

/** No job runs until a test runs it. */
const server = useTestServer({ ROLES: "api" });
const WAIT = { timeout: 30_000, interval: 20 };

interface Field {
  field: string;
  type: string;
  isCustom: boolean;
  coverage: number;
}
interface Values {
  field: string;
  values: unknown[];
  count: number;
  limit: number;
}
interface Usage {
  usedInSegments: Array<{ id: string; name: string }>;
  usedInCampaigns: Array<{ id: string; name: string }>;
  usedInWorkflows: Array<{ id: string; name: string }>;
  contactCount: number;
}

/** Creates p0@…, p1@…, one contact per data object, and returns their ids. */
async function fill({ byKey }: TestProject, data: readonly object[]): Promise<string[]> {
  const ids: string[] = [];
  for (const [at, one] of data.entries()) {
    const contact = { email: `p${at}@example.com`, data: one };
    const reply = await server.call(contacts.upsertContact, byKey, { anyBody: contact });
    expect(reply.status).toBe(201);
    ids.push(reply.body.id);
  }
  return ids;
}

async function list({ byKey }: TestProject): Promise<Field[]> {
  const { body } = await server.call<{ fields: Field[]; count: number }>("GET", "/contacts/fields", byKey);
  expect(body.count).toBe(body.fields.length);
  return body.fields;
}

const path = (field: string, rest: string) => `/contacts/fields/${encodeURIComponent(field)}${rest}`;
const values = async (caller: TestCaller, field: string, query = "") =>
  (await server.call<Values>("GET", path(field, `/values${query}`), caller)).body;
const usage = async (caller: TestCaller, field: string) =>
  (await server.call<Usage>("GET", path(field, "/usage"), caller)).body;
const remove = (caller: TestCaller, field: string) =>
  server.call<{ deletedFrom: number }>("DELETE", path(field, ""), caller);
const dataOf = async ({ id }: TestProject) =>
  (
    await server.rows<{ data: Record<string, unknown> }>(
      "select data from contacts where project_id = $1 order by id",
      id,
    )
  ).map(({ data }) => data);

/** Runs jobs in this process until none is left. */
async function workOff({ id }: TestProject): Promise<void> {
  const log = createLog({ level: "silent" });
  const jobs = startJobs({
    database: server.database,
    kinds: contactJobs(contactContext, importConsequences),
    log,
    metrics: createMetrics(),
  });
  await vi.waitFor(
    async () =>
      expect(
        await server.rows("select 1 from jobs where project_id = $1 and state <> 'completed'", id),
      ).toEqual([]),
    WAIT,
  );
  await jobs.stop();
}

const STANDARD = [
  { field: "email", type: "string", isCustom: false, coverage: 1 },
  { field: "subscribed", type: "boolean", isCustom: false, coverage: 1 },
  { field: "createdAt", type: "date", isCustom: false, coverage: 1 },
  { field: "updatedAt", type: "date", isCustom: false, coverage: 1 },
];

const custom = (field: string, type: string, coverage: number) => ({
  field,
  type,
  isCustom: true,
  coverage,
});

test("lists standard fields, then custom ones by name, with the fill rate of each", async () => {
  const project = await server.createProject();
  expect(await list(project)).toEqual(STANDARD);
  await fill(project, [
    { plan: "pro", age: 5, "a.b": 1 },
    { plan: "free", since: "2026-01-31", createdAt: "x" },
    { plan: "free", vip: true },
  ]);
  await fill(await server.createProject(), [{ plan: 1, elsewhere: 1 }]);
  expect(await list(project)).toEqual([
    ...STANDARD,
    custom("data.a.b", "number", 1 / 3),
    custom("data.age", "number", 1 / 3),
    custom("data.createdAt", "string", 1 / 3),
    custom("data.plan", "string", 1),
    custom("data.since", "date", 1 / 3),
    custom("data.vip", "boolean", 1 / 3),
  ]);
  const { body } = await server.call(contacts.listContacts, project.byKey);
  await server.call("PATCH", `/contacts/${body.data[0]?.id}`, project.byKey, { data: { vip: null } });
  expect(await list(project)).toContainEqual(custom("data.vip", "boolean", 0));
});

test("lists the same fields without fill rates and without counting contacts", async () => {
  const project = await server.createProject();
  await fill(project, [{ plan: "pro" }, { age: 5 }]);
  const asked = (value: string) =>
    server.call(contactFields.listContactFields, project.byKey, { anyQuery: `?withCoverage=${value}` });
  const named = (await list(project)).map(({ coverage: _coverage, ...field }) => field);
  expect((await asked("false")).body).toEqual({ fields: named, count: named.length });
  expect((await asked("true")).body.fields).toEqual(await list(project));
  expect(faultsOf(await asked("no"))).toEqual(["withCoverage invalid_enum_value"]);
});

test("fill rates are exact with a hundred fields", async () => {
  const project = await server.createProject();
  const keys = Array.from({ length: 100 }, (_, at) => `k${at}`);
  const data = [0, 1, 2, 3].map((contact) =>
    Object.fromEntries(keys.filter((_, at) => at % 4 >= contact).map((key) => [key, contact])),
  );
  await fill(project, data);
  const coverage = new Map((await list(project)).map((field) => [field.field, field.coverage]));
  expect(keys.map((key) => coverage.get(`data.${key}`))).toEqual(keys.map((_, at) => ((at % 4) + 1) / 4));
});

test("returns values of every type unchanged, most frequent first", async () => {
  const project = await server.createProject();
  const { byKey } = project;
  await fill(project, [
    { v: "b", long: "x".repeat(498) },
    { v: 2, long: "x".repeat(499) },
    { v: "b" },
    { v: 2 },
    { v: "b" },
    { v: true },
    { v: { deep: [1] } },
    { v: ["a", "B"] },
    { other: 1 },
  ]);
  expect(await values(byKey, "data.v")).toEqual({
    field: "data.v",
    values: ["b", 2, true, ["a", "B"], { deep: [1] }],
    count: 5,
    limit: 100,
  });
  expect(await values(byKey, "v", "?limit=2")).toEqual({
    field: "data.v",
    values: ["b", 2],
    count: 2,
    limit: 2,
  });
  expect((await values(byKey, "v", "?search=B")).values).toEqual(["b", ["a", "B"]]);
  expect((await values(byKey, "v", "?search=TRU")).values).toEqual([true]);
  expect((await values(byKey, "v", "?search=%25")).values).toEqual([]);
  expect((await values(byKey, "long")).values).toEqual(["x".repeat(498)]);
});

test("standard fields have values, too", async () => {
  const project = await server.createProject();
  const { byKey } = project;
  expect((await values(byKey, "subscribed")).values).toEqual([]);
  const [id] = await fill(project, [{}, { createdAt: "custom" }, {}]);
  await server.call("PATCH", `/contacts/${id}`, byKey, { subscribed: false });
  expect(await values(byKey, "subscribed")).toMatchObject({ field: "subscribed", values: [true, false] });
  expect((await values(byKey, "subscribed", "?search=FAL")).values).toEqual([false]);
  expect((await values(byKey, "email", "?limit=2")).values).toEqual(["p0@example.com", "p1@example.com"]);
  expect((await values(byKey, "email", "?search=P2@")).values).toEqual(["p2@example.com"]);
  const { body } = await server.call<{ updatedAt: string; createdAt: string }>(
    "GET",
    `/contacts/${id}`,
    byKey,
  );
  expect((await values(byKey, "updatedAt")).values[0]).toBe(body.updatedAt);
  expect((await values(byKey, "createdAt")).values).toHaveLength(3);
  expect((await values(byKey, "createdAt")).values.at(-1)).toBe(body.createdAt);
  expect(await values(byKey, "data.createdAt")).toMatchObject({
    field: "data.createdAt",
    values: ["custom"],
  });
});

const STRANGE_KEYS = [
  "a.b",
  "data.x",
  "",
  " ",
  "a/b",
  "..",
  "50%",
  "%2F",
  "a b?c#d&e=f",
  "ü🦀",
  "'\"\\",
  "plan'--",
  "🦀".repeat(127),
  "toString",
];

test("keys with any name can be listed, read and deleted", async () => {
  const project = await server.createProject();
  const { byKey } = project;
  const named = STRANGE_KEYS.map((key) => [key === "" ? "unnamed" : key, key.length]);
  await fill(project, [{ ...Object.fromEntries(named), kept: 1 }, {}]);
  // New empty keys are rejected, but older data may contain one.
  await server.rows(
    `update contacts set data = data - 'unnamed' || '{"":0}' where project_id = $1 and data ? 'kept'`,
    project.id,
  );
  await server.rows(
    "update contact_fields set field = '' where project_id = $1 and field = 'unnamed'",
    project.id,
  );
  const fields = await list(project);
  const seen = await responsesByName(STRANGE_KEYS, String, async (key) => {
    const field = `data.${key}`;
    const listed = fields.find((one) => one.field === field);
    const { contactCount } = await usage(byKey, field);
    const found = await values(byKey, field);
    const reply = await remove(byKey, field);
    return [listed?.coverage, contactCount, found.field === field, found.values, reply.status, reply.body];
  });
  expect(seen).toEqual(
    Object.fromEntries(
      STRANGE_KEYS.map((key) => [key, [0.5, 1, true, [key.length], 200, { deletedFrom: 1 }]]),
    ),
  );
  await workOff(project);
  expect(await dataOf(project)).toEqual([{ kept: 1 }, {}]);
});

const condition = (field: string) => ({ field, operator: "exists" });

test("usage lists segments and campaigns with the field at any depth, and counts contacts", async () => {
  const project = await server.createProject();
  const { byKey, id } = project;
  await fill(project, [{ plan: "pro", profile: { tier: 1 } }, { plan: "free" }, {}]);
  const filters = {
    Plans: { operator: "AND", conditions: [condition("data.plan")] },
    Deep: {
      operator: "OR",
      conditions: [condition("email"), { operator: "AND", conditions: [condition("data.profile.tier")] }],
    },
    Others: { operator: "AND", conditions: [condition("data.planet"), condition("event.data.plan")] },
  };
  const ids = new Map<string, string>();
  for (const [name, one] of Object.entries(filters)) {
    ids.set(name, newId());
    await server.rows(
      "insert into segments (project_id, id, name, type, slug, filters) values ($1, $2, $3, 'DYNAMIC', $3, $4)",
      id,
      ids.get(name),
      name,
      JSON.stringify(one),
    );
  }
  const campaignId = newId();
  await server.rows(
    `insert into campaigns (project_id, id, name, subject, body, from_address, audience_type, audience_filter)
     values ($1, $2, 'News', 's', 'b', 'a@example.com', 'FILTERED', $3)`,
    id,
    campaignId,
    JSON.stringify(filters.Plans),
  );
  const named = (name: string) => ({ id: ids.get(name), name });
  expect(await usage(byKey, "plan")).toEqual({
    usedInSegments: [named("Plans")],
    usedInCampaigns: [{ id: campaignId, name: "News" }],
    usedInWorkflows: [],
    contactCount: 2,
  });
  expect(await usage(byKey, "data.profile")).toMatchObject({
    usedInSegments: [named("Deep")],
    contactCount: 1,
  });
  expect(await usage(byKey, "email")).toMatchObject({ usedInSegments: [named("Deep")], contactCount: 3 });
  expect(await usage(byKey, "subscribed")).toMatchObject({ usedInSegments: [], contactCount: 3 });
  const elsewhere = await server.createProject();
  await fill(elsewhere, [{ plan: 1 }]);
  expect(await usage(elsewhere.byKey, "plan")).toMatchObject({ usedInSegments: [], usedInCampaigns: [] });
  expect((await remove(byKey, "plan")).body).toEqual({ deletedFrom: 2 });
});

test("a deleted field disappears immediately and can be written again with another type", async () => {
  const project = await server.createProject();
  const { byKey } = project;
  const elsewhere = await server.createProject();
  await fill(elsewhere, [{ plan: "stays" }]);
  const ids = await fill(project, [{ plan: "old", kept: 1 }, { plan: "old" }, { plan: "old" }, { kept: 2 }]);
  const { rows: before } = await server.pool.query(
    "select updated_at from contacts where project_id = $1 order by id",
    [project.id],
  );
  const reply = await remove(byKey, "plan");
  expect([reply.status, reply.body]).toEqual([200, { deletedFrom: 3 }]);
  expect((await list(project)).map(({ field }) => field)).not.toContain("data.plan");
  for (const again of [
    await remove(byKey, "plan"),
    await server.call("GET", path("plan", "/values"), byKey),
    await server.call("GET", path("plan", "/usage"), byKey),
  ])
    expect(errorOf(again as never)).toBe("404 FIELD_NOT_FOUND");
  // Changes another key of the third contact, then writes the key again for the second and for a new contact.
  await server.call("PATCH", `/contacts/${ids[2]}`, byKey, { data: { other: 1 } });
  await server.call("PATCH", `/contacts/${ids[1]}`, byKey, { data: { plan: 5 } });
  await server.call(v1.track, byKey, { body: { email: "new@example.com", event: "e", data: { plan: 6 } } });
  await workOff(project);
  expect(await dataOf(project)).toEqual([{ kept: 1 }, { plan: 5 }, { other: 1 }, { kept: 2 }, { plan: 6 }]);
  expect(await list(project)).toContainEqual(expect.objectContaining({ field: "data.plan", type: "number" }));
  expect(await dataOf(elsewhere)).toEqual([{ plan: "stays" }]);
  const { rows: after } = await server.pool.query(
    "select updated_at from contacts where project_id = $1 order by id",
    [project.id],
  );
  expect(after[0]).toEqual(before[0]);
});

const filterOn = (field: string, operator: string, value?: unknown) => ({
  operator: "AND",
  conditions: [{ field, operator, ...(value === undefined ? {} : { value }) }],
});

test("readers no longer see a deleted field before the job has run", async () => {
  const project = await server.createProject();
  const { byKey } = project;
  const old = { plan: "old", profile: { tier: 1 }, kept: 1 };
  const ids = await fill(project, [old, old, old]);
  const matching = async (filters: Record<string, unknown>) =>
    (await server.call(segments.previewSegment, byKey, { body: { filters } })).body.count;
  const plans = filterOn("data.plan", "exists");
  const segment = await server.call(segments.createSegment, byKey, {
    body: {
      name: "Plans",
      filters: plans,
    },
  });
  const others = filterOn(`segment.${segment.body.id}`, "notMemberOfSegment");
  const shown = async () => {
    const one = await server.call<{ data: object }>("GET", `/contacts/${ids[0]}`, byKey);
    const listed = await server.call(contacts.listContacts, byKey);
    const csv = await server.call(contactImport.exportContacts, byKey);
    const members = await server.call(segments.listSegmentContacts, byKey, {
      params: { id: segment.body.id },
    });
    const explained = await server.call<{ matches: boolean }>("POST", "/segments/explain", byKey, {
      filters: plans,
      contactId: ids[0],
    });
    return {
      one: one.body.data,
      listed: listed.body.data.map(({ data }) => data),
      csv: csv.text
        .split("\r\n")
        .slice(1, -1)
        .filter((line) => line.includes("old")).length,
      columns: csv.text.split("\r\n")[0],
      plans: await matching(plans),
      old: await matching(filterOn("data.plan", "equals", "old")),
      notOld: await matching(filterOn("data.plan", "notEquals", "old")),
      tiers: await matching(filterOn("data.profile.tier", "equals", 1)),
      members: members.body.total,
      others: await matching(others),
      explained: explained.body.matches,
    };
  };
  expect(await shown()).toMatchObject({
    one: old,
    csv: 3,
    plans: 3,
    old: 3,
    notOld: 0,
    tiers: 3,
    members: 3,
    others: 0,
    explained: true,
  });
  await remove(byKey, "plan");
  await remove(byKey, "data.profile");
  const gone = {
    one: { kept: 1 },
    listed: [{ kept: 1 }, { kept: 1 }, { kept: 1 }],
    csv: 0,
    columns: "email,subscribed,createdAt,kept",
    plans: 0,
    old: 0,
    notOld: 3,
    tiers: 0,
    members: 0,
    others: 3,
    explained: false,
  };
  expect(await shown()).toEqual(gone);
  expect(await dataOf(project)).toEqual([old, old, old]);
  await workOff(project);
  expect(await shown()).toEqual(gone);
  expect(await dataOf(project)).toEqual(gone.listed);
});

/** Every way to write to a contact before its old value has been removed. */
const WRITERS: Record<string, (project: TestProject, id: string, data: object) => Promise<unknown>> = {
  track: ({ byKey }, _, data) =>
    server.call("POST", "/v1/track", byKey, { email: "p0@example.com", event: "e", data }),
  upsert: ({ byKey }, _, data) => server.call("POST", "/contacts", byKey, { email: "p0@example.com", data }),
  edit: ({ byKey }, id, data) => server.call("PATCH", `/contacts/${id}`, byKey, { data }),
};

test.each(Object.entries(WRITERS))(
  "keeps a value written again during the field deletion, even if unchanged: %s",
  async (_, write) => {
    const project = await server.createProject();
    const { byKey } = project;
    const [first = "", second] = await fill(project, [{ plan: "old" }, { plan: "old" }, { plan: "old" }]);
    await remove(byKey, "plan");
    await write(project, first, { plan: "old" });
    // Other writers change another key and must not bring the old value back.
    await server.call("PATCH", `/contacts/${second}`, byKey, { subscribed: false });
    await server.call(v1.track, byKey, {
      body: {
        email: "p2@example.com",
        event: "e",
        data: { other: 1 },
      },
    });
    const expected = [{ plan: "old" }, {}, { other: 1 }];
    const { body } = await server.call(contacts.listContacts, byKey, {
      query: { sort: "createdAt", dir: "asc" },
    });
    expect(body.data.map(({ data }) => data)).toEqual(expected);
    expect(await usage(byKey, "plan")).toMatchObject({ contactCount: 1 });
    expect(await values(byKey, "plan")).toMatchObject({ values: ["old"] });
    await workOff(project);
    expect(await dataOf(project)).toEqual(expected);
  },
);

test("the field is removed from all contacts if it is not written again", async () => {
  const project = await server.createProject();
  const { byKey } = project;
  const ids = await fill(project, [{ plan: "old" }, { plan: "old" }]);
  await remove(byKey, "data.plan");
  await server.call("PATCH", `/contacts/${ids[1]}`, byKey, { data: { other: 1 } });
  await workOff(project);
  expect(await dataOf(project)).toEqual([{}, { other: 1 }]);
});

test("the job processes thousands in steps and notifies tracked segments of changed contacts", async () => {
  const project = await server.createProject();
  const { byKey, id } = project;
  await server.rows(
    `insert into contacts (project_id, id, email, subscribed, data)
     select $1, new_id(), n || '@example.com', true, case n % 2 when 0 then '{"plan": 1}' else '{"b": 1}' end::jsonb
     from generate_series(1, 4500) n`,
    id,
  );
  await server.rows("insert into contact_fields (project_id, field, type) values ($1, 'plan', 'number')", id);
  await server.rows(
    `insert into segments (project_id, id, name, type, slug, filters, track_membership, causes)
     values ($1, new_id(), 's', 'DYNAMIC', 's', '{}', true, '{*}')`,
    id,
  );
  await server.rows("insert into event_subscriptions values ($1, '*', 'segments')", id);
  expect((await remove(byKey, "plan")).body).toEqual({ deletedFrom: 2_250 });
  await workOff(project);
  const [left] = await server.rows<{ count: string }>(
    "select count(*) from contacts where project_id = $1 and data ? 'plan'",
    id,
  );
  expect(Number(left?.count)).toBe(0);
  const [noted] = await server.rows<{ count: string }>(
    "select count(distinct contact_id) from event_reactions where project_id = $1 and subscriber = 'segments'",
    id,
  );
  expect(Number(noted?.count)).toBe(2_250);
});

test("the job waits for an open writer of the key and keeps the new value", async () => {
  const project = await server.createProject();
  const { byKey, id } = project;
  await fill(project, [{ plan: "old" }, { plan: "old" }]);
  await remove(byKey, "plan");
  const writer = await server.pool.connect();
  await writer.query("begin");
  await writer.query(
    `update contacts set data = data || '{"plan": "new"}', updated_at = now() where project_id = $1 and email = 'p1@example.com'`,
    [id],
  );
  await writer.query("insert into contact_fields (project_id, field, type) values ($1, 'plan', 'string')", [
    id,
  ]);
  const worked = workOff(project);
  const isWaiting =
    "select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'";
  await vi.waitFor(async () => expect(await server.rows(isWaiting)).toHaveLength(1), WAIT);
  await writer.query("commit");
  writer.release();
  await worked;
  expect(await dataOf(project)).toEqual([{}, { plan: "new" }]);
});

test("concurrent writes and field deletions lose no value written last", async () => {
  const project = await server.createProject();
  const { byKey } = project;
  await fill(
    project,
    Array.from({ length: 10 }, () => ({ plan: 0 })),
  );
  const jobs = startJobs({
    database: server.database,
    kinds: contactJobs(contactContext, importConsequences),
    log: createLog({ level: "silent" }),
    metrics: createMetrics(),
  });
  for (let round = 1; round <= 10; round++) {
    await Promise.all([
      remove(byKey, "plan"),
      ...Array.from({ length: 10 }, (_, at) =>
        server.call(v1.track, byKey, {
          body: {
            email: `p${at}@example.com`,
            event: "e",
            data: { other: round },
          },
        }),
      ),
    ]);
    // These requests begin after the deletion returned, so none of their values may be lost.
    await Promise.all(
      Array.from({ length: 10 }, (_, at) =>
        server.call(v1.track, byKey, {
          body: {
            email: `p${at}@example.com`,
            event: "e",
            data: { plan: round },
          },
        }),
      ),
    );
  }
  await vi.waitFor(
    async () =>
      expect(
        await server.rows("select 1 from jobs where project_id = $1 and state <> 'completed'", project.id),
      ).toEqual([]),
    WAIT,
  );
  await jobs.stop();
  expect(await dataOf(project)).toEqual(Array.from({ length: 10 }, () => ({ plan: 10, other: 10 })));
});

const reset = (caller: TestCaller, field: string) =>
  server.call<{ type: string }>("POST", path(field, "/reset-type"), caller);

test("reset sets the type of most values, and string for a tie", async () => {
  const project = await server.createProject();
  const { byKey } = project;
  await fill(await server.createProject(), [{ age: "old", since: 1 }]);
  await fill(project, [
    { age: "unknown", since: "soon", even: true, kept: 1, list: 1 },
    { age: 7, since: "2026-01-31", even: true, list: [1] },
    { age: 8, since: "2026-01-31T10:00:00Z", even: "yes", list: { a: 1 } },
    { even: "no" },
  ]);
  const typeOf = async (field: string) => (await list(project)).find((one) => one.field === field)?.type;
  expect([await typeOf("data.age"), await typeOf("data.since")]).toEqual(["string", "string"]);
  const age = await reset(byKey, "age");
  expect([age.status, age.body]).toEqual([
    200,
    { field: "data.age", type: "number", contactCount: 3, ofType: 2 },
  ]);
  expect((await reset(byKey, "data.since")).body).toMatchObject({ type: "date", contactCount: 3, ofType: 2 });
  expect((await reset(byKey, "even")).body).toMatchObject({ type: "string", ofType: 2 });
  expect((await reset(byKey, "list")).body).toMatchObject({ type: "string", ofType: 2 });
  expect((await reset(byKey, "kept")).body).toMatchObject({ type: "number", ofType: 1 });
  expect([await typeOf("data.age"), await typeOf("data.since")]).toEqual(["number", "date"]);
  // The next value does not change the type. A reset without values keeps the type.
  await server.call(contacts.upsertContact, byKey, {
    body: { email: "later@example.com", data: { age: "ten" } },
  });
  expect(await typeOf("data.age")).toBe("number");
  const { body } = await server.call(contacts.listContacts, byKey);
  for (const { id } of body.data)
    await server.call(contacts.updateContact, byKey, { params: { id }, body: { data: { kept: null } } });
  expect((await reset(byKey, "kept")).body).toEqual({
    field: "data.kept",
    type: "number",
    contactCount: 0,
    ofType: 0,
  });
  const refused = await reset(byKey, "email");
  expect([refused.status, faultsOf(refused as never)]).toEqual([422, ["field custom"]]);
  await remove(byKey, "age");
  expect(errorOf((await reset(byKey, "age")) as never)).toBe("404 FIELD_NOT_FOUND");
});

test("rejects deletion of standard fields but deletes custom ones with the same name", async () => {
  const project = await server.createProject();
  const { byKey } = project;
  for (const field of ["email", "subscribed", "createdAt", "updatedAt"]) {
    const reply = await server.call("DELETE", path(field, ""), byKey);
    expect([reply.status, faultsOf(reply)]).toEqual([422, ["field custom"]]);
  }
  await fill(project, [{ createdAt: "x" }]);
  expect((await remove(byKey, "data.createdAt")).body).toEqual({ deletedFrom: 1 });
  await workOff(project);
  expect(await dataOf(project)).toEqual([{}]);
});

test("an unknown field returns 404 from every endpoint", async () => {
  const project = await server.createProject();
  await fill(server.project, [{ foreign: 1 }]);
  const names = [
    "nothing",
    "data.nothing",
    "foreign",
    "data.",
    "data.email",
    "x\u0000y",
    "data.\u0000",
    "k".repeat(300),
  ];
  const responses = await responsesByName(names, String, async (name) => {
    const listed = await server.call(contactFields.listFieldValues, project.byKey, {
      params: { field: name },
    });
    const used = await server.call(contactFields.getFieldUsage, project.byKey, { params: { field: name } });
    const typed = await server.call(contactFields.resetFieldType, project.byKey, { params: { field: name } });
    const removed = await server.call(contactFields.deleteContactField, project.byKey, {
      params: { field: name },
    });
    return [listed, used, typed, removed].map(errorOf);
  });
  expect(responses).toEqual(sameByName(names, String, () => Array(4).fill("404 FIELD_NOT_FOUND")));
});

test("rejects invalid value queries and unauthorized callers", async () => {
  const project = await server.createProject();
  await fill(project, [{ plan: 1 }]);
  const faults = async (query: string) =>
    faultsOf(await server.call("GET", path("plan", `/values?${query}`), project.byKey));
  expect(await faults("limit=0")).toEqual(["limit too_small"]);
  expect(await faults("limit=201")).toEqual(["limit too_big"]);
  expect(await faults(`search=${"x".repeat(255)}`)).toEqual(["search too_big"]);
  const responses: string[] = [];
  for (const caller of [{}, { key: project.publicKey }])
    responses.push(
      errorOf(await server.call(contactFields.listContactFields, caller)),
      errorOf(await server.call("DELETE", path("plan", ""), caller)),
    );
  expect(responses).toEqual([
    "401 MISSING_AUTH",
    "401 MISSING_AUTH",
    "401 INVALID_API_KEY",
    "401 INVALID_API_KEY",
  ]);
  await server.rows("update projects set disabled = true where id = $1", project.id);
  expect(errorOf(await server.call("DELETE", path("plan", ""), project.byKey))).toBe("403 PROJECT_DISABLED");
  expect(await list(project)).toHaveLength(5);
});
