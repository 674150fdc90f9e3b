// Tests the live stream of numbered events: from a number on, without gaps or repeats, within limits.
import { expect, test, vi } from "vitest";
import * as eventStream from "@postloft/contract/event-stream.ts";
import * as v1 from "@postloft/contract/v1.ts";
import { LIMITS } from "@postloft/contract/limits/limits.ts";
import { transaction } from "../platform/database/database.ts";
import { followStream } from "../testing/follow-stream.ts";
import { useTestServer, type TestProject } from "../testing/test-server.ts";
import type { ResponseOf } from "../testing/typed-call.ts";
import { numberEvents } from "./assign-numbers.ts";

// The tests number events themselves.
const server = useTestServer({ ROLES: "api" });
const WAIT = { timeout: 30_000, interval: 20 };
const PATH = "/events/stream/live";

type Numbered = ResponseOf<typeof eventStream.streamEvents>["events"][number];

const follow = ({ byKey }: TestProject, options: { after?: string; path?: string } = {}) =>
  followStream<Numbered>(server, byKey, { path: PATH, ...options });
const numbersIn = (stream: Awaited<ReturnType<typeof follow>>) => stream.told().map(({ number }) => number);

async function recordingProject(): Promise<TestProject> {
  const project = await server.createProject();
  await server.call(eventStream.streamEvents, project.byKey, { query: {} });
  return project;
}

/** Tracks events and numbers all of them. */
async function track({ id, byKey }: TestProject, count: number): Promise<void> {
  await Promise.all(
    Array.from({ length: count }, (_, at) =>
      server.call(v1.track, byKey, { body: { email: "ada@example.com", event: `event-${at}` } }),
    ),
  );
  while (await transaction(server.database, (tx) => numberEvents(tx, id)));
}

test("sends what was missed and then each new event, once and in order", async () => {
  const project = await recordingProject();
  const other = await recordingProject();
  await track(project, 150);
  const stream = await follow(project, { path: `${PATH}?after=0` });
  expect(stream.headers["content-type"]).toBe("text/event-stream; charset=utf-8");
  await vi.waitFor(() => expect(stream.told()).toHaveLength(150), WAIT);
  await track(other, 5);
  await track(project, 30);
  await vi.waitFor(() => expect(stream.told()).toHaveLength(180), WAIT);
  const { body } = await server.call(eventStream.streamEvents, project.byKey, { query: { limit: 180 } });
  expect(stream.told()).toEqual(body.events);
  expect(stream.text()).toContain(`id: 180\ndata: ${JSON.stringify(body.events.at(-1))}\n\n`);
  stream.stop();
});

test("starts now without a number, and continues after the last one on reconnecting", async () => {
  const project = await recordingProject();
  await track(project, 3);
  const stream = await follow(project);
  await track(project, 2);
  await vi.waitFor(() => expect(numbersIn(stream)).toEqual([4, 5]), WAIT);
  stream.stop();
  await track(project, 2);
  // The header of a reconnecting client is newer than the query it began with.
  const again = await follow(project, { after: "5", path: `${PATH}?after=0` });
  await vi.waitFor(() => expect(numbersIn(again)).toEqual([6, 7]), WAIT);
  again.stop();
});

test("rejects a number below the kept events instead of opening a stream", async () => {
  const project = await recordingProject();
  await track(project, 3);
  await server.rows("delete from event_log where project_id = $1 and number < 3", project.id);
  await server.rows("update event_streams set first_number = 3 where project_id = $1", project.id);
  expect((await follow(project, { after: "1" })).status).toBe(422);
  const stream = await follow(project, { after: "2" });
  await vi.waitFor(() => expect(numbersIn(stream)).toEqual([3]), WAIT);
  stream.stop();
});

test("shares the limit of open streams with the activity of the project", async () => {
  const project = await recordingProject();
  const paths = Array.from({ length: LIMITS.liveStreams.value }, (_, at) =>
    at % 2 === 0 ? PATH : "/activity/stream",
  );
  const all = await Promise.all(paths.map((path) => follow(project, { path })));
  expect(all.map(({ status }) => status)).toEqual(paths.map(() => 200));
  for (const path of [PATH, "/activity/stream"]) expect((await follow(project, { path })).status).toBe(429);
  all[0]?.stop();
  await vi.waitFor(async () => expect((await follow(project)).status).toBe(200), WAIT);
});
