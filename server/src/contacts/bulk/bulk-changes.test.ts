// Bulk changes over HTTP: targets, effects, results, and concurrent requests.
import { randomUUID } from "node:crypto";
import { expect, test, vi } from "vitest";
import * as contactBulk from "@postloft/contract/contact-bulk.ts";
import * as segments from "@postloft/contract/segments.ts";
import * as v1 from "@postloft/contract/v1.ts";
import { newId } from "../../platform/ids.ts";
import { faultsOf, errorOf, useTestServer, type Reply, type TestCaller } from "../../testing/test-server.ts";
import type { BodyOf } from "../../testing/typed-call.ts";

const server = useTestServer();
const WAIT = { timeout: 30_000, interval: 20 };

interface BulkResult {
  operation: string;
  totalRequested: number;
  successCount: number;
  unchangedCount: number;
  failureCount: number;
  errors: Array<{ contactId: string; email: string | null; error: string }>;
}

/** Creates contacts p0@…, p1@…, every third of them unsubscribed, and returns their ids in order. */
async function fill(projectId: string, count: number): Promise<string[]> {
  const rows = await server.rows<{ id: string }>(
    `insert into contacts (project_id, id, email, subscribed, data)
     select $1, new_id(), 'p' || n || '@example.com', n % 3 <> 0, jsonb_build_object('n', n)
     from generate_series(0, $2::int - 1) n returning id`,
    projectId,
    count,
  );
  return rows.map(({ id }) => id);
}

type Operation = "subscribe" | "unsubscribe" | "delete";

async function start(caller: TestCaller, operation: Operation, body: unknown): Promise<string> {
  const reply = await server.call<{ jobId: string; message: string }>(
    "POST",
    `/contacts/bulk-${operation}`,
    caller,
    body,
  );
  expect(reply.status).toBe(202);
  expect(reply.body).toEqual({
    message: expect.any(String),
    jobId: expect.stringMatching(/^[0-9a-f-]{36}$/),
  });
  return reply.body.jobId;
}

const read = (caller: TestCaller, jobId: string) =>
  server.call(contactBulk.getBulk, caller, { params: { jobId } });

async function finish(caller: TestCaller, jobId: string): Promise<BulkResult> {
  await vi.waitFor(async () => expect((await read(caller, jobId)).body.state).toBe("completed"), WAIT);
  const { body } = await read(caller, jobId);
  expect(body).toMatchObject({ id: jobId, progress: 100, failedReason: null });
  if (body.result === null) throw new Error("A completed job has a result.");
  return body.result;
}

const run = async (caller: TestCaller, operation: Operation, body: unknown) =>
  finish(caller, await start(caller, operation, body));

const countOf = async (projectId: string, condition: string) =>
  Number(
    (
      await server.rows<{ count: string }>(
        `select count(*) from contacts where project_id = $1 and ${condition}`,
        projectId,
      )
    )[0]?.count,
  );
const eventsOf = async (projectId: string) =>
  server.rows<{ name: string; contactId: string }>(
    "select name, contact_id from events where project_id = $1",
    projectId,
  );

test("unsubscribe reports changed, unchanged and missing contacts and adds one event per flip", async () => {
  const { byKey, id } = await server.createProject();
  const ids = await fill(id, 30);
  const elsewhere = await server.createProject();
  const [foreign = ""] = await fill(elsewhere.id, 3);
  const missing = randomUUID();
  const input = [...ids.slice(0, 12), missing, ids[1]?.toUpperCase(), foreign];
  const result = await run(byKey, "unsubscribe", { contactIds: input });
  const error = "Contact not found.";
  expect(result).toEqual({
    operation: "unsubscribe",
    totalRequested: 14,
    successCount: 8,
    unchangedCount: 4,
    failureCount: 2,
    errors: [
      { contactId: missing, email: null, error },
      { contactId: foreign, email: null, error },
    ],
  });
  expect(await countOf(id, "subscribed")).toBe(12);
  const flipped = ids.slice(0, 12).filter((_, at) => at % 3 !== 0);
  const events = await eventsOf(id);
  expect(events.map(({ contactId }) => contactId).toSorted()).toEqual(flipped.toSorted());
  expect(new Set(events.map(({ name }) => name))).toEqual(new Set(["contact.unsubscribed"]));
  expect(await countOf(elsewhere.id, "subscribed")).toBe(2);
  expect(await eventsOf(elsewhere.id)).toEqual([]);

  const again = await run(byKey, "unsubscribe", { mode: "ids", contactIds: input });
  expect(again).toMatchObject({ successCount: 0, unchangedCount: 12, failureCount: 2 });
  expect(await eventsOf(id)).toHaveLength(8);
  const back = await run(byKey, "subscribe", { contactIds: ids });
  expect(back).toMatchObject({
    operation: "subscribe",
    successCount: 18,
    unchangedCount: 12,
    failureCount: 0,
  });
  expect(await countOf(id, "subscribed")).toBe(30);
});

test("consent log names the bulk change and the user who requested it", async () => {
  const { byKey, bySession, id, owner } = await server.createProject();
  const [first, second] = await fill(id, 3);
  await run(byKey, "subscribe", { contactIds: [first] });
  await run(bySession, "unsubscribe", { contactIds: [second] });
  const rows = await server.rows(
    "select contact_id, subscribed, source, actor from consent_changes where project_id = $1 order by id",
    id,
  );
  expect(rows).toEqual([
    { contactId: first, subscribed: true, source: "bulk", actor: "key" },
    { contactId: second, subscribed: false, source: "bulk", actor: owner.id },
  ]);
});

test("delete removes contacts, their events and messages, and skips waiting emails", async () => {
  const { byKey, id } = await server.createProject();
  const ids = await fill(id, 20);
  const event = { email: "p0@example.com", event: "seen" };
  await server.call(v1.track, byKey, { body: event });
  for (const [at, contactId] of ids.slice(0, 3).entries())
    await server.rows(
      `with c as (insert into email_contents (project_id, id, from_address, subject, html)
                  values ($1, $2, 'a@sandbox.localhost', 's', 'b'))
       insert into emails (project_id, id, contact_id, content_id, priority, status, to_address, due_at)
       values ($1, $2, $3, $2, 1, $4, 'p@example.com', now() + interval '1 hour')`,
      id,
      newId(),
      contactId,
      ["QUEUED", "DELIVERED", "QUEUED"][at],
    );
  const result = await run(byKey, "delete", { contactIds: [...ids.slice(0, 2), randomUUID()] });
  expect(result).toMatchObject({ operation: "delete", totalRequested: 3, successCount: 2, failureCount: 1 });
  expect(await countOf(id, "true")).toBe(18);
  expect(await eventsOf(id)).toEqual([]);
  expect(
    await server.rows(
      "select status, to_address, contact_id is null as erased from emails where project_id = $1 order by id",
      id,
    ),
  ).toEqual([
    { status: "SKIPPED", toAddress: "", erased: true },
    { status: "DELIVERED", toAddress: "", erased: true },
    { status: "QUEUED", toAddress: "p@example.com", erased: false },
  ]);
});

test("an empty filter matches all contacts, and a filter without matches finishes immediately", async () => {
  const { byKey, id } = await server.createProject();
  await fill(id, 10);
  const none = await run(byKey, "delete", { mode: "query", filter: { search: "nobody" } });
  expect(none).toEqual({
    operation: "delete",
    totalRequested: 0,
    successCount: 0,
    unchangedCount: 0,
    failureCount: 0,
    errors: [],
  });
  expect(await run(byKey, "delete", { all: true })).toMatchObject({ successCount: 10 });
  expect(await countOf(id, "true")).toBe(0);
});

const NO_ID = "01890a5d-0000-7000-8000-00000000000g";
const many = (count: number) => Array.from({ length: count }, () => randomUUID());
const BAD: Array<[string, unknown, string[]]> = [
  ["an empty body", {}, ["contactIds required"]],
  ["no ids", { contactIds: [] }, ["contactIds too_small"]],
  ["1,001 ids", { contactIds: many(1_001) }, ["contactIds too_big"]],
  ["an invalid id", { contactIds: [randomUUID(), NO_ID] }, ["contactIds.1 invalid_string"]],
  ["an id outside a list", { contactIds: randomUUID() }, ["contactIds invalid_type"]],
  ["another mode", { mode: "all" }, ["mode invalid_enum_value"]],
  ["a query without a filter", { mode: "query" }, ["filter required"]],
  ["a null filter", { mode: "query", filter: null }, ["filter invalid_type"]],
  ["ids and a filter", { contactIds: many(1), filter: {} }, ["filter custom"]],
  ["a query with ids", { mode: "query", filter: { all: true }, contactIds: many(1) }, ["contactIds custom"]],
  ["a filter without the mode", { filter: {} }, ["contactIds required", "filter custom"]],
  ["exclusions from ids", { contactIds: many(1), excludeIds: many(1) }, ["excludeIds custom"]],
  [
    "a misspelled condition",
    { mode: "query", filter: { subscribed: true, serach: "x" } },
    ["filter.serach unknown_field"],
  ],
  ["a filter without conditions", { mode: "query", filter: {} }, ["filter custom"]],
  ["a filter with an empty search", { mode: "query", filter: { search: " " } }, ["filter custom"]],
  ["all contacts with a condition", { mode: "query", filter: { all: true, search: "x" } }, ["filter custom"]],
  ["all contacts in two ways", { all: true, mode: "query", filter: { all: true } }, ["all custom"]],
  ["all contacts with ids", { all: true, contactIds: many(1) }, ["contactIds custom"]],
  ["all set to false", { all: false }, ["all invalid_enum_value"]],
  [
    "a filter in another place",
    { filters: { search: "x" } },
    ["contactIds required", "filters unknown_field"],
  ],
  [
    "a filter with errors",
    { mode: "query", filter: { search: 5, subscribed: "true", segmentId: "x" }, excludeIds: [NO_ID] },
    [
      "excludeIds.0 invalid_string",
      "filter.search invalid_type",
      "filter.segmentId invalid_string",
      "filter.subscribed invalid_type",
    ],
  ],
  [
    "a long search and too many exclusions",
    { mode: "query", filter: { search: "x".repeat(255) }, excludeIds: many(10_001) },
    ["excludeIds too_big", "filter.search too_big"],
  ],
];

test.for(BAD)("rejects %s and queues no job", async ([, body, faults]) => {
  const before = await server.countRows();
  const reply = await server.call(contactBulk.bulkDelete, server.project.byKey, { anyBody: body });
  expect([reply.status, faultsOf(reply)]).toEqual([422, faults]);
  expect(await server.countRows()).toEqual(before);
});

test("unknown segments and segments of other projects return the same 404", async () => {
  const { byKey } = server.project;
  const elsewhere = await server.createProject();
  const segmentId = newId();
  await server.rows(
    "insert into segments (project_id, id, name, type, slug) values ($1, $2, 's', 'STATIC', 's')",
    elsewhere.id,
    segmentId,
  );
  const before = await server.countRows();
  const responses: string[] = [];
  for (const id of [segmentId, newId()]) {
    const filter = { segmentId: id };
    const reply = await server.call(contactBulk.bulkDelete, byKey, { body: { mode: "query", filter } });
    responses.push(errorOf(reply), reply.body.message);
  }
  const appError = ["404 SEGMENT_NOT_FOUND", "Segment not found."];
  expect(responses).toEqual([...appError, ...appError]);
  expect(await server.countRows()).toEqual(before);
});

test("a segment target changes its members, and a filter target changes matching contacts", async () => {
  const { byKey, id } = await server.createProject();
  const ids = await fill(id, 9);
  const segment = async (body: BodyOf<typeof segments.createSegment>) =>
    (await server.call(segments.createSegment, byKey, { body })).body.id;
  const first = await segment({ name: "First", type: "STATIC" });
  const emails = [0, 1, 2, 3].map((at) => `p${at}@example.com`);
  await server.call(segments.addSegmentMembers, byKey, { params: { id: first }, body: { emails } });
  const condition = { field: "data.n", operator: "greaterThan", value: 5 };
  const last = await segment({ name: "Last", filters: { operator: "AND", conditions: [condition] } });
  const query = (filter: object) => run(byKey, "delete", { mode: "query", filter });
  expect(await query({ segmentId: first, subscribed: true })).toMatchObject({ successCount: 2 });
  expect(await query({ segmentId: last.toUpperCase() })).toMatchObject({ successCount: 3 });
  const isOneOf = { field: "data.n", operator: "in", value: [3, 4, 99] };
  const filters = { operator: "OR", conditions: [isOneOf] };
  expect(await query({ filters, segmentId: first })).toMatchObject({ successCount: 1 });
  const left = await server.rows<{ id: string }>("select id from contacts where project_id = $1", id);
  expect(new Set(left.map((contact) => contact.id))).toEqual(new Set([0, 4, 5].map((at) => ids[at])));
});

test("rejects unauthorized callers and hides jobs of other projects and other kinds", async () => {
  const { byKey, publicKey, id } = await server.createProject();
  const ids = await fill(id, 1);
  const body = { contactIds: ids };
  const call = (caller: TestCaller) => server.call(contactBulk.bulkDelete, caller, { body });
  expect(errorOf(await call({}))).toBe("401 MISSING_AUTH");
  expect(errorOf(await call({ key: publicKey }))).toBe("401 INVALID_API_KEY");
  const jobId = await start(byKey, "subscribe", body);
  const import_ = newId();
  await server.rows(
    "insert into jobs (project_id, id, kind, state, input) values ($1, $2, 'contacts.import', 'failed', '{}')",
    id,
    import_,
  );
  const lookups: Array<[TestCaller, string]> = [
    [server.project.byKey, jobId],
    [byKey, import_],
    [byKey, newId()],
    [byKey, "5"],
    [byKey, `${jobId}'`],
  ];
  for (const [caller, path] of lookups)
    expect(errorOf((await read(caller, path)) as unknown as Reply<never>)).toBe("404 JOB_NOT_FOUND");
  await server.rows("update projects set disabled = true where id = $1", id);
  expect(errorOf(await call(byKey))).toBe("403 PROJECT_DISABLED");
  expect((await read(byKey, jobId)).status).toBe(200);
});

test("the same Idempotency-Key queues one job and returns it again", async () => {
  const { byKey, id } = await server.createProject();
  const ids = await fill(id, 5);
  const caller = { ...byKey, headers: { "idempotency-key": "bulk-1" } };
  const first = await start(caller, "unsubscribe", { contactIds: ids });
  const second = await start(caller, "unsubscribe", { contactIds: ids });
  expect(second).toBe(first);
  const other = await server.call(contactBulk.bulkUnsubscribe, caller, {
    body: { contactIds: ids.slice(1) },
  });
  expect(errorOf(other)).toBe("409 IDEMPOTENCY_KEY_REUSED");
  await finish(byKey, first);
  expect(await server.rows("select 1 from jobs where project_id = $1", id)).toHaveLength(1);
});

test("twenty overlapping concurrent changes end with exact totals and one event per flip", async () => {
  const { byKey, id } = await server.createProject();
  const another = await server.startAnother({ ROLES: "worker" });
  const ids = await fill(id, 300);
  const shuffled = (seed: number) =>
    ids
      .map((contactId, at) => ({ contactId, rank: ((at + 1) * 7_919 * (seed + 1)) % 104_729 }))
      .toSorted((one, other) => one.rank - other.rank)
      .slice(0, 200)
      .map(({ contactId }) => contactId);
  const jobs = await Promise.all(
    Array.from({ length: 20 }, (_, at) =>
      start(byKey, at % 2 === 0 ? "unsubscribe" : "subscribe", { contactIds: shuffled(at) }),
    ),
  );
  // Tracks events for the same contacts while the changes run.
  const tracked = Promise.all(
    Array.from({ length: 60 }, (_, at) =>
      server.call(v1.track, byKey, {
        body: {
          email: `p${(at * 37) % 300}@example.com`,
          event: "seen",
          subscribed: at % 2 === 0,
          data: { at },
        },
      }),
    ),
  );
  const unfinished = "select 1 from jobs where project_id = $1 and state <> 'completed'";
  // Twenty changes of the same contacts wait for each other, for 16 s on a busy machine.
  await vi.waitFor(async () => expect(await server.rows(unfinished, id)).toEqual([]), {
    ...WAIT,
    timeout: 45_000,
  });
  const results = await Promise.all(jobs.map((jobId) => finish(byKey, jobId)));
  expect((await tracked).map(({ status }) => status)).toEqual(Array(60).fill(200));
  await another.stop();
  for (const { successCount, unchangedCount, failureCount } of results) {
    expect(successCount + unchangedCount).toBe(200);
    expect(failureCount).toBe(0);
  }
  const wrong = await server.rows(
    `select c.id from contacts c left join lateral (
       select count(*) filter (where name = 'contact.subscribed') as up, count(*) filter (where name = 'contact.unsubscribed') as down
       from events e where e.project_id = c.project_id and e.contact_id = c.id) e on true
     where c.project_id = $1
       and ((c.data ->> 'n')::int % 3 <> 0)::int + up - down <> c.subscribed::int`,
    id,
  );
  expect(wrong).toEqual([]);
  const flips = (await eventsOf(id)).filter(({ name }) => name.startsWith("contact."));
  expect(flips.length).toBeGreaterThanOrEqual(
    results.reduce((sum, { successCount }) => sum + successCount, 0),
  );
});
