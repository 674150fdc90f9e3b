// Streams of activity: delivery once and within seconds, access, and limits.
import { expect, test, vi } from "vitest";
import { sql } from "kysely";
import * as account from "@postloft/contract/account.ts";
import * as activity from "@postloft/contract/activity.ts";
import * as keys from "@postloft/contract/keys.ts";
import * as members from "@postloft/contract/members.ts";
import * as projectsContract from "@postloft/contract/projects.ts";
import * as users from "@postloft/contract/users.ts";
import * as v1 from "@postloft/contract/v1.ts";
import { ENDPOINTS } from "@postloft/contract/endpoints.ts";
import { LIMITS } from "@postloft/contract/limits/limits.ts";
import { transaction } from "../platform/database/database.ts";
import { newId } from "../platform/ids.ts";
import { followStream } from "../testing/follow-stream.ts";
import {
  useTestServer,
  type OneServer,
  type TestCaller,
  type TestPerson,
  type TestProject,
} from "../testing/test-server.ts";
import type { ResponseOf } from "../testing/typed-call.ts";

const server = useTestServer({ ROLES: "api" });
const WAIT = { timeout: 30_000, interval: 20 };

type Reported = ResponseOf<typeof activity.listActivity>["data"][number];

const follow = (project: TestProject, after?: string, from: OneServer = server) =>
  followAs(project.byKey, { after, from });
const followAs = (
  caller: TestCaller,
  { from = server, ...more }: Parameters<typeof followStream>[2] & { from?: OneServer } = {},
) => followStream<Reported>(from, caller, { path: "/activity/stream", ...more });
type Following = Awaited<ReturnType<typeof followAs>>;

/** Queries that wait for a lock on events. */
const countWaiting = async () =>
  (
    await server.rows<{ count: number }>(
      "select count(*) from pg_locks where relation = 'events'::regclass and not granted",
    )
  )[0]?.count;

/** An id from this long ago (UUIDv7). */
const idOf = (msAgo: number) => {
  const hex = (Date.now() - msAgo).toString(16).padStart(12, "0");
  return `${hex.slice(0, 8)}-${hex.slice(8)}${newId().slice(13)}`;
};
const track = (project: TestProject, event: string) =>
  server.call(v1.track, project.byKey, { body: { email: "ada@example.com", event } });
const namesIn = (following: Following) =>
  following.told().flatMap(({ metadata }) => metadata.eventName ?? []);

test("starts a stream after the first poll so that a list read then leaves no gap", async () => {
  const project = await server.createProject();
  let isFollowed = false;
  let following: Promise<Following> | undefined;
  await transaction(server.database, async (tx) => {
    await sql`lock table events in access exclusive mode`.execute(tx);
    following = follow(project).finally(() => (isFollowed = true));
    await vi.waitFor(async () => expect(await countWaiting()).toBe(1), WAIT);
    expect(isFollowed).toBe(false);
  });
  const followed = await following;
  await track(project, "next");
  await vi.waitFor(() => expect(followed && namesIn(followed)).toEqual(["next"]), WAIT);
  followed?.stop();
});

test("sends each new activity once to all followers of the project, and nothing older", async () => {
  const [project, other] = [await server.createProject(), await server.createProject()];
  await track(project, "before");
  const first = await follow(project);
  const foreign = await follow(other);
  expect(first.headers).toMatchObject({
    "content-type": "text/event-stream; charset=utf-8",
    "cache-control": "no-store",
  });
  await vi.waitFor(() => expect(first.text()).toContain("retry: "), WAIT);
  const second = await follow(project);
  await track(project, "one");
  await track(other, "theirs");
  for (const one of [first, second]) await vi.waitFor(() => expect(namesIn(one)).toContain("one"), WAIT);
  await vi.waitFor(() => expect(foreign.told().length).toBeGreaterThan(0), WAIT);
  await track(project, "two");
  await vi.waitFor(() => expect(namesIn(first)).toContain("two"), WAIT);
  expect(namesIn(first).filter((name) => name !== "probe")).toEqual(["one", "two"]);
  expect(namesIn(foreign)).toEqual(["theirs"]);
  const [reported] = first.told().filter(({ metadata }) => metadata.eventName === "one");
  const listed = await server.call(activity.listActivity, project.byKey, { query: { eventName: "one" } });
  expect(reported).toEqual(listed.body.data[0]);
  expect(first.text()).toContain(`id: ${reported?.id}\n`);
  for (const one of [first, second, foreign]) one.stop();
});

test("sends a row that is committed after a younger one", async () => {
  const project = await server.createProject();
  await track(project, "made");
  const following = await follow(project);
  await vi.waitFor(async () => {
    await track(project, "young");
    expect(namesIn(following)).toContain("young");
  }, WAIT);
  const old = idOf(3_000);
  await server.rows(
    `insert into events (project_id, id, name, contact_id, data)
     select project_id, $2, 'late', contact_id, data from events where project_id = $1 and name = 'made'`,
    project.id,
    old,
  );
  await vi.waitFor(() => expect(namesIn(following)).toContain("late"), WAIT);
  // The id that a client sends when it reconnects only increases.
  const cursors = [...following.text().matchAll(/^id: (.*)$/gm)].map(([, id]) => id);
  expect(cursors).toEqual(cursors.toSorted());
  expect(cursors.at(-1)).toBe(
    following.told().findLast(({ metadata }) => metadata.eventName === "young")?.id,
  );
  following.stop();
});

test("sends a row committed between two connections, even with a lower id than the last sent", async () => {
  const project = await server.createProject();
  await track(project, "made");
  const insert = (id: string, name: string) =>
    server.rows(
      `insert into events (project_id, id, name, contact_id, data)
       select project_id, $2, $3, contact_id, data from events where project_id = $1 and name = 'made'`,
      project.id,
      id,
      name,
    );
  // A second follower ensures that this is not the first poll.
  const other = await follow(project);
  await vi.waitFor(async () => {
    await track(project, "probe");
    expect(namesIn(other)).toContain("probe");
  }, WAIT);
  const young = idOf(3_000);
  await insert(young, "young");
  await insert(idOf(12_000), "late");
  await insert(idOf(40_000), "long ago");
  const again = await follow(project, young.toUpperCase());
  await vi.waitFor(() => expect(namesIn(again)).toContain("late"), WAIT);
  expect(namesIn(again).slice(0, 2)).toEqual(["late", "young"]);
  expect(again.text()).not.toContain("event: more");
  const cursors = [...again.text().matchAll(/^id: (.*)$/gm)].map(([, id]) => id);
  expect(cursors.slice(0, 2)).toEqual([young, young]);
  await track(project, "next");
  for (const one of [other, again]) await vi.waitFor(() => expect(namesIn(one)).toContain("next"), WAIT);
  expect(namesIn(again).filter((name) => name === "late" || name === "next")).toEqual(["late", "next"]);
  expect(namesIn(other)).not.toContain("late");
  for (const one of [other, again]) one.stop();
});

test("resumes from Last-Event-ID within seconds, and reports a gap after a longer time", async () => {
  const project = await server.createProject();
  await track(project, "known");
  await track(project, "missed");
  const { body } = await server.call(activity.listActivity, project.byKey, { query: { eventName: "known" } });
  const again = await follow(project, body.data[0]?.id);
  await vi.waitFor(() => expect(namesIn(again)).toContain("missed"), WAIT);
  expect(again.text()).not.toContain("event: more");
  const late = await follow(project, idOf(3_600_000));
  await vi.waitFor(() => expect(late.text()).toContain("event: more"), WAIT);
  for (const one of [again, late]) one.stop();
});

test("limits followers per project, frees slots and ends all streams on shutdown", async () => {
  const project = await server.createProject();
  const another = await server.startAnother();
  // On a busy machine a process that has just started may ask some callers to come back.
  const followUntilOpen = async () =>
    vi.waitFor(async () => {
      const one = await follow(project, undefined, another);
      expect([one.status, one.text()]).toEqual([200, expect.any(String)]);
      return one;
    }, WAIT);
  const all = await Promise.all(Array.from({ length: LIMITS.liveStreams.value }, followUntilOpen));
  expect(all.filter((one) => one.isOver())).toEqual([]);
  expect((await follow(project, undefined, another)).status).toBe(429);
  all[0]?.stop();
  await followUntilOpen();
  const began = Date.now();
  await another.stop();
  expect(Date.now() - began).toBeLessThan(10_000);
  await vi.waitFor(() => expect(all.every((one) => one.isOver())).toBe(true), WAIT);
});

/** A user who joined a project, with a scoped key of their own. */
interface Joined {
  project: TestProject;
  person: TestPerson;
  session: TestCaller;
  key: { id: string; key: string };
}

async function join(role = "ADMIN"): Promise<Joined> {
  const project = await server.createProject();
  const person = await server.signUp();
  await server.rows("insert into memberships values ($1, $2, $3)", project.id, person.id, role);
  const session = { cookie: person.cookie, projectId: project.id };
  const made = { name: "A reader", scopes: ["*:read"] };
  const { body } = await server.call(keys.createKey, session, {
    params: { projectId: project.id },
    body: made,
  });
  return { project, person, session, key: body.data };
}

const bySession = ({ session }: Joined): TestCaller => session;
const byScopedKey = ({ key }: Joined): TestCaller => ({ key: key.key });
const owner = ({ project }: Joined): TestCaller => ({ cookie: project.owner.cookie });

/** Each way to lose access, with the follower and the action that ends it. */
const REVOCATIONS: Record<string, [(joined: Joined) => TestCaller, (joined: Joined) => Promise<unknown>]> = {
  "a sign-out": [bySession, ({ session }) => server.call(users.logOut, session)],
  "a new password, in another session": [
    bySession,
    async ({ person }) => {
      const { headers } = await server.call(
        users.logIn,
        {},
        { body: { email: person.email, password: person.password } },
      );
      const cookie = headers.getSetCookie()[0]?.split(";")[0] ?? "";
      const change = { currentPassword: person.password, newPassword: "another good password 5" };
      return server.call(account.changePassword, { cookie }, { body: change });
    },
  ],
  "the removal of the member": [
    bySession,
    (joined) =>
      server.call(members.removeMember, owner(joined), {
        params: { projectId: joined.project.id, userId: joined.person.id },
      }),
  ],
  "the removal of the member who made its key": [
    byScopedKey,
    (joined) =>
      server.call(members.removeMember, owner(joined), {
        params: { projectId: joined.project.id, userId: joined.person.id },
      }),
  ],
  "leaving the project": [
    bySession,
    ({ project, session }) =>
      server.call(members.leaveProject, session, { params: { projectId: project.id } }),
  ],
  "the revocation of its key": [
    byScopedKey,
    ({ project, session, key }) =>
      server.call(keys.revokeKey, session, { params: { projectId: project.id, keyId: key.id } }),
  ],
  "the expiry of its key": [
    byScopedKey,
    ({ key }) => server.rows("update scoped_keys set expires_at = now() where id = $1", key.id),
  ],
  "a rotation of the keys": [
    ({ project }) => project.byKey,
    (joined) =>
      server.call(projectsContract.regenerateKeys, owner(joined), {
        params: { projectId: joined.project.id },
      }),
  ],
};
const STREAMS = ENDPOINTS.filter(({ contentType }) => contentType === "text/event-stream");

test.for(Object.entries(REVOCATIONS))(
  "ends every stream within a second after %s, on another process too",
  async ([, revocation]) => {
    const another = await server.startAnother();
    let tookMs = Number.POSITIVE_INFINITY;
    // A busy machine may delay one check, but not each of them.
    for (let tries = 0; tries < 5 && tookMs >= 1_000; tries++)
      tookMs = await timeRevocation(revocation, another);
    expect(tookMs).toBeLessThan(1_000);
    await another.stop();
  },
);

/** Returns the milliseconds from a revocation to the end of the last stream on both processes. */
async function timeRevocation(
  [callerOf, revoke]: (typeof REVOCATIONS)[string],
  another: OneServer,
): Promise<number> {
  const joined = await join();
  const caller = callerOf(joined);
  const ended = await Promise.all(
    STREAMS.flatMap(({ path }) => [server, another].map((from) => followAs(caller, { path, from }))),
  );
  // A caller that keeps its access keeps its stream.
  const staying = await follow(joined.project);
  const keeps = caller !== joined.project.byKey;
  expect([...ended, staying].map(({ status }) => status)).toEqual(Array(ended.length + 1).fill(200));
  // Most are calls, one is a query.
  expect(((await revoke(joined)) as { status?: number }).status ?? 200).toBeLessThan(300);
  const revokedAt = performance.now();
  await vi.waitFor(() => expect(ended.every((one) => one.isOver())).toBe(true), WAIT);
  const tookMs = performance.now() - revokedAt;
  expect(staying.isOver()).toBe(!keeps);
  staying.stop();
  return tookMs;
}

test("limits the connections of a person across their projects and keys", async () => {
  const projects = [await server.createProject()];
  for (let more = 0; more < 2; more++) projects.push(await server.createProject(projects[0]?.owner));
  const another = await server.startAnother();
  const most = LIMITS.liveStreamsOfPerson.value;
  const callers = Array.from({ length: most + 1 }, (_, at) => {
    const project = projects[at % projects.length] ?? server.project;
    return at % 2 === 0 ? project.byKey : { cookie: project.owner.cookie, projectId: project.id };
  });
  const all: Following[] = [];
  for (const caller of callers) all.push(await followAs(caller, { from: another }));
  expect(all.map(({ status }) => status)).toEqual([...Array(most).fill(200), 429]);
  const stranger = await follow(server.project, undefined, another);
  expect(stranger.status).toBe(200);
  for (const one of [...all, stranger]) one.stop();
  await another.stop();
});
