// Tests waits with a filter that passes over very many events. The matching event is found at any position, with a part of the events read
// per transaction.
import { expect, test } from "vitest";
import * as contacts from "@postloft/contract/contacts.ts";
import { createSealer } from "../../platform/crypto.ts";
import { transaction } from "../../platform/database/database.ts";
import { createDns } from "../../platform/dns.ts";
import { newId } from "../../platform/ids.ts";
import { createLog } from "../../platform/log.ts";
import { createDomains } from "../../domains/domains.ts";
import { APP_SECRET, useTestServer } from "../../testing/test-server.ts";
import { graphOf } from "../../testing/workflow-fixture.ts";
import { createDatabaseEnvironment } from "./database-environment.ts";
import { walkable, type Execution } from "./execution.ts";
import { newExecution } from "./simulate.ts";
import { walk } from "./walk.ts";

const NO_LIMITS = {
  PUBLIC_KEY_EMAILS_PER_HOUR: 0,
  PUBLIC_KEY_EMAILS_PER_DAY: 0,
  PUBLIC_KEY_FIRST_EMAILS_PER_HOUR: 0,
};
const server = useTestServer({ ROLES: "api" });
const START = Date.UTC(2026, 2, 1, 12);
const HOUR = 3_600_000;
const MANY = 1_250;

/** A wait, begun at `START`, for the event with a certain `n`, and the engine's check of it at a given time. */
async function beginWait(n: number, timeout: number) {
  const { id: projectId, byKey } = await server.createProject();
  const { body } = await server.call(contacts.upsertContact, byKey, {
    body: {
      email: "ada@example.com",
    },
  });
  const filter = { operator: "AND", conditions: [{ field: "data.n", operator: "equals", value: n }] };
  const graph = graphOf({
    steps: [
      ["trigger", "TRIGGER"],
      ["wait", "WAIT_FOR_EVENT", { eventName: "seen", filter, timeout }],
    ],
    links: [["trigger", "wait"]],
  });
  const execution = newExecution({
    projectId,
    workflow: { id: newId(), name: "Waits", triggerEvent: null },
    version: 1,
    graph: walkable(graph),
    contactId: body.id,
    context: {},
    startedAt: new Date(START),
  });
  const domains = createDomains({
    database: server.database,
    sealer: createSealer(APP_SECRET),
    dns: createDns([]),
    log: createLog({ level: "silent" }),
    staysHere: true,
    returnPath: null,
    baseUrl: () => "https://post.example",
  });
  const look = (atMs: number) =>
    transaction(server.database, (tx) =>
      walk(
        createDatabaseEnvironment(tx, {
          projectId,
          now: new Date(atMs),
          domains,
          publicKeyLimits: NO_LIMITS,
          sealer: createSealer(APP_SECRET),
        }),
        [execution],
      ),
    );
  await look(START);
  return { projectId, contactId: body.id, execution, look };
}

/** The events 1 to `count`, in intervals of `everyMs` from a given time. */
async function happen(
  { projectId, contactId }: { projectId: string; contactId: string },
  { count, atMs, everyMs }: { count: number; atMs: number; everyMs: number },
) {
  await server.rows(
    `insert into events (project_id, id, contact_id, name, data, created_at)
     select $1, new_id(), $2, 'seen', jsonb_build_object('n', n), $4::timestamptz + (n - 1) * $5::float8 * interval '1 millisecond'
     from generate_series(1, $3::integer) n`,
    projectId,
    contactId,
    count,
    new Date(atMs),
    everyMs,
  );
}

const wayOf = ({ status, trace }: Execution) => [status, trace.at(-1)?.via, trace.at(-1)?.behind];

test.each([
  [101, 1_000],
  [MANY, 1_000],
  // At the same time, or closer than millisecond clocks can tell.
  [MANY, 0],
  [MANY, 0.003],
])("finds the match behind other events when there are %i events %d ms apart", async (n, everyMs) => {
  const wait = await beginWait(n, 24 * 3_600);
  await happen(wait, { count: MANY, atMs: START + HOUR, everyMs });
  let looks = 0;
  while (wait.execution.status === "WAITING" && looks < 10) {
    await wait.look(START + 2 * HOUR);
    looks++;
  }
  expect(wayOf(wait.execution)).toEqual(["COMPLETED", "event", undefined]);
  expect(looks).toBe(n > 1_000 ? 2 : 1);
});

test("continues waiting after all events were checked without a match, until its timeout", async () => {
  const wait = await beginWait(MANY + 1, 7_200);
  await happen(wait, { count: MANY, atMs: START + HOUR, everyMs: 1_000 });
  await wait.look(START + 3 * HOUR);
  expect(wait.execution).toMatchObject({
    status: "WAITING",
    dueAt: new Date(START + 3 * HOUR),
    waitsFor: "seen",
  });
  await wait.look(START + 3 * HOUR);
  expect(wayOf(wait.execution)).toEqual(["COMPLETED", "timeout", undefined]);
});

test("reads events of the last minute again because earlier ones may still be committed", async () => {
  const wait = await beginWait(MANY + 1, 24 * 3_600);
  await happen(wait, { count: MANY, atMs: START + HOUR, everyMs: 10 });
  const last = START + HOUR + 999 * 10;
  await wait.look(START + HOUR + MANY * 10);
  expect(wait.execution.dueAt).toEqual(new Date(last + 60_000));
  expect(wait.execution.trace.at(-1)?.behind).toBeUndefined();
  await wait.look(last + 60_000);
  expect(wait.execution.trace.at(-1)?.behind).toBeDefined();
  await wait.look(last + 60_000);
  expect(wait.execution).toMatchObject({ status: "WAITING", dueAt: new Date(START + 24 * HOUR) });
});
