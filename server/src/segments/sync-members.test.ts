// Tracked segments in the background: time conditions, and two processes working on one project.
import { expect, onTestFinished, test, vi } from "vitest";
import * as contacts from "@postloft/contract/contacts.ts";
import * as segments from "@postloft/contract/segments.ts";
import { createLog } from "../platform/log.ts";
import { createMetrics } from "../platform/metrics.ts";
import { useTestServer } from "../testing/test-server.ts";
import type { BodyOf } from "../testing/typed-call.ts";
import { computeDueSegment } from "./compute-segment.ts";
import { followChanges, startFollowingChanges } from "./sync-members.ts";

// Only the test syncs segments.
const server = useTestServer({ ROLES: "api" });
const log = createLog({ level: "silent" });
const WAIT = { timeout: 30_000, interval: 20 };

function startFollower() {
  const follower = startFollowingChanges({ database: server.database, log, metrics: createMetrics() });
  onTestFinished(() => follower.stop());
  return follower;
}

/** Creates a project with a tracked segment of one condition, and a contact with this data. */
async function furnish(condition: object, data: Record<string, unknown>) {
  const { id: projectId, byKey } = await server.createProject();
  const email = "ada@example.com";
  await server.call(contacts.upsertContact, byKey, { body: { email, data } });
  const { body } = await server.call(segments.createSegment, byKey, {
    body: {
      name: "Tracked",
      filters: { operator: "AND", conditions: [condition] },
      trackMembership: true,
    },
  });
  const dueInSeconds = async () =>
    (
      await server.rows<{ seconds: number | null }>(
        "select extract(epoch from compute_due_at - now())::float8 as seconds from segments where id = $1",
        body.id,
      )
    )[0]?.seconds;
  const moves = async () =>
    (
      await server.rows<{ name: string }>(
        "select name from events where project_id = $1 and name like 'segment.%' order by id",
        projectId,
      )
    ).map(({ name }) => name);
  return { projectId, byKey, email, segmentId: body.id, dueInSeconds, moves };
}

/** Returns a time in some hours as text. */
const inHours = (hours: number) => new Date(Date.now() + hours * 3_600_000).toISOString();

/** Values of `data.at`: one that matches, and one as it is for the clock of another day. */
test.each([
  [{ operator: "within", value: 1, unit: "days" }, inHours(-1), inHours(-48)],
  [{ operator: "inNext", value: 1, unit: "days" }, inHours(1), inHours(-1)],
  [{ operator: "anniversary", value: 1 }, inHours(24).slice(0, 10), inHours(-72).slice(0, 10)],
])("a segment %j is recomputed within five minutes without any event", async (condition, near, far) => {
  const { projectId, segmentId, dueInSeconds, moves } = await furnish(
    { field: "data.at", ...condition },
    { at: near },
  );
  const first = startFollower();
  await vi.waitFor(async () => expect(await moves()).toHaveLength(1), WAIT);
  await first.stop();
  // Simulates days passing for the contact, without an event.
  await server.rows("update contacts set data = $2 where project_id = $1", projectId, { at: far });
  startFollower();
  await vi.waitFor(async () => expect(await dueInSeconds()).toBeGreaterThan(0), WAIT);
  expect(await dueInSeconds()).toBeLessThanOrEqual(300);
  const before = await moves();
  await server.rows("update segments set compute_due_at = now() where id = $1", segmentId);
  await vi.waitFor(async () => expect((await moves()).length).toBe(before.length + 1), WAIT);
  expect((await moves()).at(-1)).toMatch(/exit/);
});

const onPlan = (value: string) => ({
  operator: "AND",
  conditions: [{ field: "data.plan", operator: "equals", value }],
});

test("counts a contact once if its change is older than the segment or its new filter", async () => {
  const pro = { field: "data.plan", operator: "equals", value: "pro" };
  // The first segment makes the project record changes of contacts.
  const { projectId, byKey, email } = await furnish(pro, { plan: "pro" });
  await server.call(contacts.upsertContact, byKey, { body: { email, data: { plan: "team" } } });
  const { body: team } = await server.call(segments.createSegment, byKey, {
    body: { name: "Team", filters: onPlan("team"), trackMembership: true },
  });
  const count = async () =>
    (await server.call(segments.getSegment, byKey, { params: { id: team.id } })).body.memberCount;
  const follow = async () => [await followChanges(server.database, projectId), await count()];
  expect([await count(), await follow()]).toEqual([1, [false, 1]]);
  await computeDueSegment(server.database, projectId, team.id);
  expect(await count()).toBe(1);
  await server.call(contacts.upsertContact, byKey, { body: { email, data: { plan: "free" } } });
  await server.call(segments.updateSegment, byKey, {
    params: { id: team.id },
    body: { filters: onPlan("free") },
  });
  expect([await count(), await follow()]).toEqual([1, [false, 1]]);
  await computeDueSegment(server.database, projectId, team.id);
  expect(await count()).toBe(1);
});

test("takes no changes while another process has locked one of the project's segments", async () => {
  const pro = { field: "data.plan", operator: "equals", value: "pro" };
  const { projectId, byKey, email, segmentId, dueInSeconds, moves } = await furnish(pro, { plan: "free" });
  const follower = startFollower();
  await vi.waitFor(async () => expect(await dueInSeconds()).toBeNull(), WAIT);
  await follower.stop();
  await server.call(contacts.upsertContact, byKey, { body: { email, data: { plan: "pro" } } });
  const waiting = async () =>
    (
      await server.rows(
        "select 1 from event_reactions where subscriber = 'segments' and project_id = $1",
        projectId,
      )
    ).length;
  expect(await waiting()).toBeGreaterThan(0);
  const other = await server.pool.connect();
  try {
    await other.query("begin");
    await other.query("select 1 from segments where id = $1 for update", [segmentId]);
    expect(await followChanges(server.database, projectId)).toBe(false);
    expect(await waiting()).toBeGreaterThan(0);
  } finally {
    await other.query("rollback");
    other.release();
  }
  await followChanges(server.database, projectId);
  expect([await waiting(), (await moves()).length]).toEqual([0, 1]);
});

const membersOf = (id: string) => ({
  operator: "AND",
  conditions: [{ field: `segment.${id}`, operator: "memberOfSegment" }],
});

test("a tracked segment over a static one follows additions and removals of members", async () => {
  const { id: projectId, byKey } = await server.createProject();
  const make = async (body: BodyOf<typeof segments.createSegment>) =>
    (await server.call(segments.createSegment, byKey, { body })).body.id;
  const emails = ["ada@example.com"];
  await server.call("POST", "/contacts", byKey, { email: emails[0] });
  const guests = await make({ name: "Guests", type: "STATIC" });
  const through = await make({ name: "Through", filters: membersOf(guests) });
  const over = await make({ name: "Over", filters: membersOf(through), trackMembership: true });
  await computeDueSegment(server.database, projectId, over);
  for (const [method, moves] of [
    ["POST", ["segment.over.entry"]],
    ["DELETE", ["segment.over.entry", "segment.over.exit"]],
  ] as const) {
    expect((await server.call(method, `/segments/${guests}/members`, byKey, { emails })).status).toBe(200);
    await followChanges(server.database, projectId);
    expect(await server.rows("select name from events where project_id = $1 order by id", projectId)).toEqual(
      moves.map((name) => ({ name })),
    );
  }
});

test("a segment too large to evaluate delays no other and is computed once it fits", async () => {
  const pro = { field: "data.plan", operator: "equals", value: "pro" };
  const { projectId, byKey, email, segmentId, dueInSeconds, moves } = await furnish(pro, { plan: "free" });
  const { body } = await server.call(segments.createSegment, byKey, {
    body: {
      name: "Large",
      filters: { operator: "AND", conditions: [pro] },
      trackMembership: true,
    },
  });
  for (const id of [segmentId, body.id]) await computeDueSegment(server.database, projectId, id);
  const stored = (filters: object) =>
    server.rows("update segments set filters = $1 where id = $2", JSON.stringify(filters), segmentId);
  await stored({ operator: "AND", conditions: Array.from({ length: 2001 }, () => pro) });
  await server.call(contacts.upsertContact, byKey, { body: { email, data: { plan: "pro" } } });
  await followChanges(server.database, projectId);
  expect(await moves()).toEqual(["segment.large.entry"]);
  expect(await dueInSeconds()).toBeLessThanOrEqual(0);
  await stored({ operator: "AND", conditions: [pro] });
  await computeDueSegment(server.database, projectId, segmentId);
  expect(await moves()).toEqual(["segment.large.entry", "segment.tracked.entry"]);
});

/** Returns the counted and the stored number of members of each segment. */
const countsOf = (projectId: string) =>
  server.rows<{ name: string; told: number; stored: number }>(
    `select s.name, s.member_count as told,
       (select count(*)::integer from segment_members m where m.project_id = s.project_id and m.segment_id = s.id) as stored
     from segments s where s.project_id = $1 order by s.name`,
    projectId,
  );

test("refresh of a tracked segment counts its stored members, not pending ones", async () => {
  const pro = { field: "data.plan", operator: "equals", value: "pro" };
  const { projectId, byKey, email, segmentId } = await furnish(pro, { plan: "free" });
  const refresh = async () =>
    (await server.call(segments.refreshSegment, byKey, { params: { id: segmentId } })).body;
  await computeDueSegment(server.database, projectId, segmentId);
  await server.call(contacts.upsertContact, byKey, { body: { email, data: { plan: "pro" } } });
  expect(await refresh()).toEqual({ memberCount: 0 });
  await followChanges(server.database, projectId);
  expect(await countsOf(projectId)).toEqual([{ name: "Tracked", told: 1, stored: 1 }]);
  // Corrects a wrong count.
  await server.rows("update segments set member_count = 7 where id = $1", segmentId);
  expect(await refresh()).toEqual({ memberCount: 1 });
  expect(await countsOf(projectId)).toEqual([{ name: "Tracked", told: 1, stored: 1 }]);
});

test("deleting a contact updates segment counts, also while members are added concurrently", async () => {
  const pro = { field: "data.plan", operator: "equals", value: "pro" };
  const { projectId, byKey, segmentId } = await furnish(pro, { plan: "pro" });
  const emails = Array.from({ length: 12 }, (_, n) => `person${n}@example.com`);
  const ids: string[] = [];
  for (const one of emails)
    ids.push(
      (await server.call(contacts.upsertContact, byKey, { body: { email: one, data: { plan: "pro" } } })).body
        .id,
    );
  const { body: guests } = await server.call(segments.createSegment, byKey, {
    body: {
      name: "Guests",
      type: "STATIC",
    },
  });
  const add = (some: readonly string[]) =>
    server.call("POST", `/segments/${guests.id}/members`, byKey, { emails: some });
  const remove = (id: string) => server.call(contacts.deleteContact, byKey, { params: { id } });
  await computeDueSegment(server.database, projectId, segmentId);
  await add(emails.slice(0, 2));
  expect((await remove(ids[0] ?? "")).status).toBe(204);
  expect(await countsOf(projectId)).toEqual([
    { name: "Guests", told: 1, stored: 1 },
    { name: "Tracked", told: 12, stored: 12 },
  ]);
  const replies = await Promise.all([
    ...emails.slice(2).map((one) => add([one])),
    ...ids.slice(2, 9).map(remove),
  ]);
  expect(replies.filter(({ status }) => status !== 200 && status !== 204)).toEqual([]);
  await followChanges(server.database, projectId);
  const [reported, tracked] = await countsOf(projectId);
  expect([reported?.told, tracked]).toEqual([reported?.stored, { name: "Tracked", told: 5, stored: 5 }]);
});
