// The numbered events of a project: complete, without gaps, redacted with their contact, and kept for a limited time.
import { expect, test } from "vitest";
import * as contacts from "@postloft/contract/contacts.ts";
import * as eventStream from "@postloft/contract/event-stream.ts";
import * as v1 from "@postloft/contract/v1.ts";
import { LIMITS } from "@postloft/contract/limits/limits.ts";
import { transaction } from "../platform/database/database.ts";
import { recordEvents } from "../events/events.ts";
import { makeSentMails } from "../testing/sent-mails.ts";
import { enqueueSentEvents } from "../reactions/reactions.ts";
import {
  errorOf,
  faultsOf,
  useTestServer,
  type TestCaller,
  type TestProject,
} from "../testing/test-server.ts";
import { sweepEventLog } from "./numbered-log.ts";
import { numberEvents } from "./assign-numbers.ts";

// The tests number events themselves.
const server = useTestServer({ ROLES: "api" });

const read = async (caller: TestCaller, query: { after?: number; limit?: number } = {}) =>
  (await server.call(eventStream.streamEvents, caller, { query })).body;
const track = async ({ byKey }: TestProject, email: string, event: string) =>
  (
    await server.call(v1.track, byKey, {
      body: { email, event, data: { plan: { value: "pro", persistent: false } } },
    })
  ).body.data;
const numberOnce = ({ id }: TestProject) => transaction(server.database, (tx) => numberEvents(tx, id));
const numberAll = async (project: TestProject) => {
  while (await numberOnce(project));
};

async function recordingProject(): Promise<TestProject> {
  const project = await server.createProject();
  await read(project.byKey);
  return project;
}

test("records every event from the first read on, with its payload", async () => {
  const project = await server.createProject();
  await track(project, "ada@example.com", "before");
  expect(await read(project.byKey)).toEqual({ events: [], firstNumber: 1, lastNumber: 0, hasMore: false });
  const tracked = await track(project, "ada@example.com", "signed-up");
  const mails = await makeSentMails(server.database, project.id, 1);
  const sent = mails.map(({ projectId, contactId, id }) => ({ projectId, contactId, emailId: id }));
  await transaction(server.database, async (tx) => enqueueSentEvents(tx, sent));
  await numberAll(project);
  const { events, lastNumber } = await read(project.byKey);
  expect(lastNumber).toBe(2);
  expect(events[0]).toEqual({
    id: tracked.event,
    type: "signed-up",
    version: 1,
    number: 1,
    previous: 0,
    createdAt: tracked.timestamp,
    project: project.id,
    redacted: false,
    data: {
      contact: { id: tracked.contact, email: "ada@example.com" },
      emailId: null,
      properties: { plan: "pro" },
    },
  });
  expect(events[1]).toMatchObject({
    type: "email.sent",
    number: 2,
    data: {
      contact: { email: mails[0]?.address },
      emailId: mails[0]?.id,
      properties: { subject: "Hello Ada" },
    },
  });
});

test("numbers have no gaps while transactions commit late and two processes number", async () => {
  const project = await recordingProject();
  const { contact } = await track(project, "ada@example.com", "first");
  const EVENTS = 400;
  let isWriting = true;
  const writer = async (count: number) => {
    for (let n = 0; n < count; n++)
      await transaction(server.database, async (tx) => {
        await recordEvents(tx, [{ projectId: project.id, contactId: contact, name: `event-${n}` }]);
        // Other transactions commit first, with later ids.
        if (n % 3 === 0) await tx.selectFrom("projects").select("id").execute();
      });
  };
  const numberer = async () => {
    while (isWriting) await numberOnce(project);
  };
  const numbering = [numberer(), numberer()];
  await Promise.all(Array.from({ length: 4 }, () => writer(EVENTS / 4)));
  isWriting = false;
  await Promise.all(numbering);
  await numberAll(project);
  const numbers = [];
  const ids = new Set<string>();
  for (let after = 0, hasMore = true; hasMore; after = numbers.at(-1) ?? 0) {
    const page = await read(project.byKey, { after, limit: 150 });
    for (const event of page.events) {
      numbers.push(event.number);
      ids.add(event.id);
    }
    hasMore = page.hasMore;
  }
  expect(numbers).toEqual(Array.from({ length: EVENTS + 1 }, (_, at) => at + 1));
  expect(ids.size).toBe(EVENTS + 1);
});

test("a deleted contact leaves numbers without data, also if it is deleted during the numbering", async () => {
  const project = await recordingProject();
  const [ada, bob] = [
    await track(project, "ada@example.com", "one"),
    await track(project, "bob@example.com", "one"),
  ];
  const remove = (id: string) => server.call(contacts.deleteContact, project.byKey, { params: { id } });
  await numberAll(project);
  await track(project, "ada@example.com", "two");
  expect((await remove(ada.contact)).status).toBe(204);
  await track(project, "bob@example.com", "two");
  const deletion = await transaction(server.database, async (tx) => {
    await numberEvents(tx, project.id);
    const removed = remove(bob.contact);
    const waiting =
      "select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'";
    await expect.poll(() => server.rows(waiting), { timeout: 30_000 }).toHaveLength(1);
    return { removed };
  });
  expect((await deletion.removed).status).toBe(204);
  const { events } = await read(project.byKey);
  expect(events.map(({ number, redacted, data }) => [number, redacted, data])).toEqual(
    [1, 2, 3, 4].map((number) => [number, true, null]),
  );
  const stored = await server.rows("select * from event_log where project_id = $1", project.id);
  expect(JSON.stringify(stored)).not.toContain("@example.com");
});

test("deletes old events and names the first number that is left", async () => {
  const project = await recordingProject();
  for (const name of ["one", "two", "three"]) await track(project, "ada@example.com", name);
  await numberAll(project);
  await server.rows(
    `update event_log set recorded_at = now() - make_interval(days => $2) where project_id = $1 and number <= 2`,
    project.id,
    LIMITS.eventLogDays.value + 1,
  );
  await sweepEventLog(server.database);
  const reply = await server.call(eventStream.streamEvents, project.byKey, { query: { after: 1 } });
  expect(faultsOf(reply)).toEqual(["after too_small"]);
  expect(reply.text).toContain("the first one kept has number 3. Use 2 to read from there.");
  expect(await read(project.byKey, { after: 2 })).toMatchObject({ events: [{ number: 3 }], firstNumber: 3 });
  expect(await read(project.byKey)).toMatchObject({ events: [{ number: 3 }], lastNumber: 3, hasMore: false });
});

test("rejects a malformed number, an empty page and a public key", async () => {
  const { byKey, publicKey } = await server.createProject();
  const reply = await server.call("GET", "/events/stream?after=-1&limit=0", byKey);
  expect(faultsOf(reply)).toEqual(["after too_small", "limit too_small"]);
  expect(errorOf(await server.call("GET", "/events/stream", { key: publicKey }))).toBe("401 INVALID_API_KEY");
});
