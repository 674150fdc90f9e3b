// Bulk changes that set fields or add to a segment: effects, results, limits, and segments that are gone.
import { randomUUID } from "node:crypto";
import { expect, test, vi } from "vitest";
import * as contactBulk from "@postloft/contract/contact-bulk.ts";
import { LIMITS } from "@postloft/contract/limits/limits.ts";
import * as segments from "@postloft/contract/segments.ts";
import { startJobs } from "../../platform/background/jobs.ts";
import { newId } from "../../platform/ids.ts";
import { createLog } from "../../platform/log.ts";
import { createMetrics } from "../../platform/metrics.ts";
import { importConsequences } from "../../segments/import-consequences.ts";
import { followChanges } from "../../segments/sync-members.ts";
import { errorOf, faultsOf, useTestServer, type TestProject } from "../../testing/test-server.ts";
import type { BodyOf } from "../../testing/typed-call.ts";
import { contactContext } from "../../workflows/usage.ts";
import { contactJobs } from "../jobs.ts";
import { contactsAStep, settingFields } from "./bulk-changes.ts";

/** No job runs until a test runs it. */
const server = useTestServer({ ROLES: "api" });
const WAIT = { timeout: 30_000, interval: 20 };

/** Creates contacts p0@…, p1@… with the data `{ n, plan: "free" }`, and returns their ids in order. */
async function fill(projectId: string, count: number): Promise<string[]> {
  const rows = await server.rows<{ id: string }>(
    `insert into contacts (project_id, id, email, subscribed, data)
     select $1, new_id(), 'p' || n || '@example.com', true, jsonb_build_object('n', n, 'plan', 'free')
     from generate_series(0, $2::int - 1) n returning id`,
    projectId,
    count,
  );
  return rows.map(({ id }) => id);
}

const request = {
  update: contactBulk.bulkUpdate,
  addToSegment: contactBulk.bulkAddToSegment,
} as const;
type Operation = keyof typeof request;

const ask = (project: TestProject, operation: Operation, body: object, headers = {}) =>
  server.call(request[operation], { ...project.byKey, headers }, { anyBody: body });

async function start(project: TestProject, operation: Operation, body: object): Promise<string> {
  const reply = await ask(project, operation, body);
  expect(reply.status).toBe(202);
  return reply.body.jobId;
}

/** Runs jobs in this process until this one has ended, and returns it. */
async function finish({ byKey }: TestProject, jobId: string) {
  const jobs = startJobs({
    database: server.database,
    kinds: contactJobs(contactContext, importConsequences),
    log: createLog({ level: "silent" }),
    metrics: createMetrics(),
  });
  const read = async () => (await server.call(contactBulk.getBulk, byKey, { params: { jobId } })).body;
  await vi.waitFor(async () => expect((await read()).finishedAt).not.toBeNull(), WAIT);
  await jobs.stop();
  return read();
}

const run = async (project: TestProject, operation: Operation, body: object) =>
  (await finish(project, await start(project, operation, body))).result;

/** Returns the data of the contacts in the order of `fill`, then of others. */
const dataOf = async ({ id }: TestProject) =>
  (
    await server.rows<{ data: Record<string, unknown> }>(
      "select data from contacts where project_id = $1 order by substring(email from '[0-9]+')::integer",
      id,
    )
  ).map(({ data }) => data);

const segment = async ({ byKey }: TestProject, body: BodyOf<typeof segments.createSegment>) =>
  (await server.call(segments.createSegment, byKey, { body })).body.id;

const members = async ({ id }: TestProject, segmentId: string) =>
  (
    await server.rows<{ contactId: string }>(
      "select contact_id from segment_members where project_id = $1 and segment_id = $2",
      id,
      segmentId,
    )
  ).map(({ contactId }) => contactId);

const memberCount = async ({ byKey }: TestProject, segmentId: string) =>
  (await server.call(segments.getSegment, byKey, { params: { id: segmentId } })).body.memberCount;

test("update sets and removes fields, and reports changed, unchanged and missing contacts", async () => {
  const project = await server.createProject();
  const elsewhere = await server.createProject();
  const [foreign = ""] = await fill(elsewhere.id, 1);
  const ids = await fill(project.id, 6);
  await server.rows(`update contacts set data = '{"plan": "pro", "paid": 3}' where id = $1`, ids[0]);
  const missing = randomUUID();
  const data = { plan: "pro", n: null, paid: { value: 3, persistent: true }, since: "2026-01-31", note: "" };
  await server.rows(`update contacts set data = data || '{"since": "2026-01-31"}' where id = $1`, ids[0]);
  const contactIds = [...ids.slice(0, 4), missing, foreign, ids[1]?.toUpperCase()];
  const error = "Contact not found.";
  expect(await run(project, "update", { contactIds, data })).toEqual({
    operation: "update",
    totalRequested: 6,
    successCount: 3,
    unchangedCount: 1,
    failureCount: 2,
    errors: [
      { contactId: missing, email: null, error },
      { contactId: foreign, email: null, error },
    ],
  });
  const pro = { plan: "pro", paid: 3, since: "2026-01-31" };
  expect(await dataOf(project)).toEqual([pro, pro, pro, pro, { n: 4, plan: "free" }, { n: 5, plan: "free" }]);
  expect(await dataOf(elsewhere)).toEqual([{ n: 0, plan: "free" }]);
  const fields = "select field, type from contact_fields where project_id = $1 order by field";
  expect(await server.rows(fields, project.id)).toEqual([
    { field: "paid", type: "number" },
    { field: "plan", type: "string" },
    { field: "since", type: "date" },
  ]);
  expect(await server.rows(fields, elsewhere.id)).toEqual([]);
});

test("update changes the contacts that matched at the request, in steps, except excluded ones", async () => {
  const project = await server.createProject();
  const ids = await fill(project.id, 2_300);
  const excludeIds = [ids[3], ids[2_200]];
  const jobId = await start(project, "update", { all: true, excludeIds, data: { plan: "pro" } });
  await server.call("POST", "/contacts", project.byKey, { email: "later@example.com" });
  const { result } = await finish(project, jobId);
  expect(result).toMatchObject({ totalRequested: 2_298, successCount: 2_298, failureCount: 0 });
  const plans = (await dataOf(project)).map(({ plan }) => plan);
  expect(plans).toEqual([...ids.map((id) => (excludeIds.includes(id) ? "free" : "pro")), undefined]);
  // The excluded contacts and the later one differ from the others.
  const again = await run(project, "update", { all: true, data: { plan: "pro" } });
  expect(again).toMatchObject({ successCount: 3, unchangedCount: 2_298 });
});

test("tracked segments follow contacts that a bulk change updates or adds to a segment", async () => {
  const project = await server.createProject();
  const ids = await fill(project.id, 3);
  const guests = await segment(project, { name: "Guests", type: "STATIC" });
  const isPro = { field: "data.plan", operator: "equals", value: "pro" };
  const isGuest = { field: `segment.${guests}`, operator: "memberOfSegment" };
  for (const [name, condition] of Object.entries({ Pro: isPro, Over: isGuest })) {
    const filters = { operator: "AND" as const, conditions: [condition] };
    const id = await segment(project, { name, filters, trackMembership: true });
    const reply = await server.call(segments.computeSegment, project.byKey, { params: { id } });
    expect(reply.status).toBe(200);
  }
  const moves = async () => {
    await followChanges(server.database, project.id);
    return server.rows("select name, contact_id from events where project_id = $1 order by id", project.id);
  };
  const [contactId] = ids;
  await run(project, "update", { contactIds: [contactId], data: { plan: "pro" } });
  const entered = { name: "segment.pro.entry", contactId };
  expect(await moves()).toEqual([entered]);
  await run(project, "addToSegment", { contactIds: [ids[1]], targetSegmentId: guests });
  expect(await moves()).toEqual([entered, { name: "segment.over.entry", contactId: ids[1] }]);
});

test("a contact whose data would be too large fails alone, with its address and the reason", async () => {
  const project = await server.createProject();
  const ids = await fill(project.id, 20);
  const large = "x".repeat(LIMITS.dataBytes.value - 1_000);
  const set = "update contacts set data = data || jsonb_build_object('large', $1::text) where id = any($2)";
  await server.rows(set, large, [ids[4], ids[13]]);
  const missing = randomUUID();
  const contactIds = [...ids.slice(0, 5), missing, ...ids.slice(5)];
  const result = await run(project, "update", { contactIds, data: { note: "y".repeat(2_000) } });
  const error = "The data of one contact may have at most 1,048,576 bytes.";
  expect(result).toEqual({
    operation: "update",
    totalRequested: 21,
    successCount: 18,
    unchangedCount: 0,
    failureCount: 3,
    errors: [
      { contactId: ids[4], email: "p4@example.com", error },
      { contactId: missing, email: null, error: "Contact not found." },
      { contactId: ids[13], email: "p13@example.com", error },
    ],
  });
  const noted = (await dataOf(project)).map((data) => "note" in data);
  expect(noted).toEqual(ids.map((_, at) => at !== 4 && at !== 13));
  // No address outlives its contact in the result.
  const results = "select result from jobs where project_id = $1";
  expect(JSON.stringify(await server.rows(results, project.id))).not.toContain("@example.com");
});

test("update fails with the reason when the project has too many fields", async () => {
  const project = await server.createProject();
  const ids = await fill(project.id, 2);
  await server.rows(
    `insert into contact_fields (project_id, field, type) select $1, 'f' || n, 'string' from generate_series(1, ${LIMITS.fields.value}) n`,
    project.id,
  );
  const jobId = await start(project, "update", { contactIds: ids, data: { extra: 1 } });
  const job = await finish(project, jobId);
  expect(job).toMatchObject({ state: "failed", result: null });
  expect(job.failedReason).toContain("may have at most 2,000 fields");
  expect(await dataOf(project)).toEqual([0, 1].map((n) => ({ n, plan: "free" })));
});

const stepOf = (data: Record<string, unknown>) => contactsAStep({ ...settingFields(data), actor: "key" });

test("a step changes fewer contacts when it sends more data to each", () => {
  expect(stepOf({ plan: "pro" })).toBe(1_000);
  expect(stepOf({ text: "x".repeat(39_900) })).toBe(100);
  expect(stepOf({ text: "x".repeat(LIMITS.dataBytes.value) })).toBe(3);
  expect(stepOf({ text: "x".repeat(5_000_000) })).toBe(1);
});

const NO_CHANGE: ReadonlyArray<[string, object]> = [
  ["an empty object", {}],
  ["only empty texts", { plan: "", note: { value: "", persistent: true } }],
  ["only reserved keys", { email: "ada@example.com" }],
  ["only values that are not stored", { code: { value: 5, persistent: false } }],
];

test.for(NO_CHANGE)("update rejects data with %s because nothing would change", async ([, data]) => {
  const before = await server.countRows();
  const reply = await ask(server.project, "update", { all: true, data });
  expect([reply.status, faultsOf(reply)]).toEqual([422, ["data custom"]]);
  expect(reply.text).toContain("Set at least one field to a value");
  expect(await server.countRows()).toEqual(before);
});

const MANY_KEYS = Object.fromEntries(Array.from({ length: 1_001 }, (_, at) => [`k${at}`, at]));
const BAD: ReadonlyArray<[string, Operation, object, string[]]> = [
  ["no data", "update", { all: true }, ["data required"]],
  ["null as data", "update", { all: true, data: null }, ["data invalid_type"]],
  ["a list as data", "update", { all: true, data: ["pro"] }, ["data invalid_type"]],
  ["an empty key", "update", { all: true, data: { "": 1 } }, ["data. too_small"]],
  ["too many keys", "update", { all: true, data: MANY_KEYS }, ["data too_big"]],
  ["data without contacts", "update", { data: { plan: "pro" } }, ["contactIds required"]],
  [
    "a target of the other operation",
    "update",
    { all: true, data: { plan: "pro" }, targetSegmentId: newId() },
    ["targetSegmentId unknown_field"],
  ],
  ["no target segment", "addToSegment", { all: true }, ["targetSegmentId required"]],
  [
    "an invalid target segment",
    "addToSegment",
    { all: true, targetSegmentId: "guests" },
    ["targetSegmentId invalid_string"],
  ],
  [
    "the target as `segmentId`",
    "addToSegment",
    { all: true, targetSegmentId: newId(), segmentId: newId() },
    ["segmentId unknown_field"],
  ],
];

test.for(BAD)("rejects %s and queues no job", async ([, operation, body, faults]) => {
  const before = await server.countRows();
  const reply = await ask(server.project, operation, body);
  expect([reply.status, faultsOf(reply)]).toEqual([422, faults]);
  expect(await server.countRows()).toEqual(before);
});

test("adding to a segment counts new members, earlier members and missing contacts", async () => {
  const project = await server.createProject();
  const elsewhere = await server.createProject();
  const [foreign = ""] = await fill(elsewhere.id, 1);
  const ids = await fill(project.id, 1_500);
  const guests = await segment(project, { name: "Guests", type: "STATIC" });
  const few = [ids[2], ids[0], foreign];
  const first = await run(project, "addToSegment", {
    contactIds: few,
    targetSegmentId: guests.toUpperCase(),
  });
  expect(first).toMatchObject({ operation: "addToSegment", successCount: 2, failureCount: 1 });
  expect(first?.errors).toEqual([{ contactId: foreign, email: null, error: "Contact not found." }]);
  expect(new Set(await members(project, guests))).toEqual(new Set([ids[0], ids[2]]));
  const excludeIds = [ids[1], ids[2]];
  const rest = await run(project, "addToSegment", { all: true, excludeIds, targetSegmentId: guests });
  expect(rest).toMatchObject({ totalRequested: 1_498, successCount: 1_497, unchangedCount: 1 });
  expect(await memberCount(project, guests)).toBe(1_499);
  // The members of one segment are added to another one.
  const others = await segment(project, { name: "Others", type: "STATIC" });
  const filter = { segmentId: guests, search: "p7@" };
  const body = { mode: "query", filter, targetSegmentId: others };
  expect(await run(project, "addToSegment", body)).toMatchObject({ totalRequested: 1, successCount: 1 });
  expect(await members(project, others)).toEqual([ids[7]]);
  expect(await memberCount(project, others)).toBe(1);
});

test("a dynamic, unknown or foreign segment gets the error of adding members", async () => {
  const { project } = server;
  const elsewhere = await server.createProject();
  const filters = {
    operator: "AND" as const,
    conditions: [{ field: "email", operator: "contains", value: "@" }],
  };
  const targets = [
    await segment(project, { name: "Dynamic", filters }),
    await segment(elsewhere, { name: "Foreign", type: "STATIC" }),
    newId(),
  ];
  const expected = ["409 CONFLICT", "404 SEGMENT_NOT_FOUND", "404 SEGMENT_NOT_FOUND"];
  const before = await server.countRows();
  for (const [at, targetSegmentId] of targets.entries()) {
    const reply = await ask(project, "addToSegment", { all: true, targetSegmentId });
    const same = await server.call(segments.addSegmentMembers, project.byKey, {
      params: { id: targetSegmentId },
      body: { emails: ["ada@example.com"] },
    });
    expect([errorOf(reply), errorOf(same)]).toEqual([expected[at], expected[at]]);
    expect(same.text).toContain(reply.body.message);
  }
  expect(await server.countRows()).toEqual(before);
});

test("the job fails with the reason when the segment is deleted first, and a repeated call returns it", async () => {
  const project = await server.createProject();
  await fill(project.id, 2);
  const guests = await segment(project, { name: "Guests", type: "STATIC" });
  const body = { all: true, targetSegmentId: guests };
  const headers = { "idempotency-key": "guests-1" };
  const first = await ask(project, "addToSegment", body, headers);
  expect(first.status).toBe(202);
  await server.call("DELETE", `/segments/${guests}`, project.byKey);
  expect(await finish(project, first.body.jobId)).toMatchObject({
    state: "failed",
    result: null,
    failedReason: "The segment was deleted before all contacts were added.",
  });
  expect(await members(project, guests)).toEqual([]);
  expect((await ask(project, "addToSegment", body, headers)).body).toEqual(first.body);
});
