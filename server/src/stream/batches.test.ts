// Batches, rates and tags of webhook endpoints: every event once, smaller batches after a failure, and no more calls than allowed.
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { Webhook } from "standardwebhooks";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import * as deliveries from "@postloft/contract/webhook-deliveries.ts";
import * as hooks from "@postloft/contract/webhook-endpoints.ts";
import * as v1 from "@postloft/contract/v1.ts";
import { transaction } from "../platform/database/database.ts";
import { newId } from "../platform/ids.ts";
import { recordEvents } from "../events/events.ts";
import { faultsOf, useTestServer, type TestProject } from "../testing/test-server.ts";
import type { BodyOf } from "../testing/typed-call.ts";
import { claimDeliveries } from "./delivery-queries.ts";
import { chainMatches, matchesPattern } from "./rules.ts";

const server = useTestServer({
  ROLES: "api,worker",
  WEBHOOK_ALLOW_PRIVATE: "127.0.0.1",
  WEBHOOK_ALLOW_PORTS: "1024-65535",
});
const WAIT = { timeout: 45_000, interval: 50 };

interface Received {
  id: string;
  type: string;
  number: number;
  previous: number;
}
interface Call {
  /** The project, from the path. */
  projectId: string;
  headers: Record<string, string | string[] | undefined>;
  body: string;
  events: Received[];
  isAccepted: boolean;
}

const calls: Call[] = [];
let accepts: (events: readonly Received[]) => boolean = () => true;
const receiver = createServer(async (request, response) => {
  let body = "";
  for await (const part of request) body += String(part);
  const { events } = JSON.parse(body) as { events: Received[] };
  const projectId = request.url?.slice(1) ?? "";
  const isAccepted = accepts(events);
  calls.push({ projectId, headers: request.headers, body, events, isAccepted });
  response.writeHead(isAccepted ? 204 : 422).end(isAccepted ? "" : "rejected");
});
beforeAll(async () => new Promise<void>((resolve) => receiver.listen(0, "127.0.0.1", resolve)));
afterAll(() => void receiver.close().closeAllConnections());
beforeEach(() => {
  calls.length = 0;
  accepts = () => true;
});
const callsOf = ({ id }: TestProject) => calls.filter(({ projectId }) => projectId === id);
const accepted = (project: TestProject) =>
  callsOf(project).flatMap(({ events, isAccepted }) => (isAccepted ? events : []));
const acceptedNumbers = (project: TestProject) => accepted(project).map(({ number }) => number);

async function createEndpoint(
  { id, byKey }: TestProject,
  settings: Partial<BodyOf<typeof hooks.createWebhookEndpoint>>,
) {
  const { port } = receiver.address() as AddressInfo;
  const reply = await server.call(hooks.createWebhookEndpoint, byKey, {
    body: { url: `http://127.0.0.1:${port}/${id}`, eventTypes: ["*"], ...settings },
  });
  expect(reply.status).toBe(201);
  return reply.body;
}

/** Records events of one contact in one transaction. */
async function record({ id: projectId, byKey }: TestProject, names: readonly string[]): Promise<void> {
  const reply = await server.call(v1.track, byKey, { body: { email: "ada@example.com", event: "begin" } });
  const contactId = reply.body.data.contact;
  await transaction(server.database, (tx) =>
    recordEvents(
      tx,
      names.map((name) => ({ projectId, contactId, name })),
    ),
  );
}

const range = (count: number) => Array.from({ length: count }, (_, at) => at + 1);
/** Ends the waits between attempts. */
const letTimePass = async () => {
  await server.rows(
    "update event_deliveries set due_at = now() where state = 'waiting' and claim_id is null",
  );
  await server.rows("select pg_notify('postloft_work', 'stream')");
};

test("delivers events in signed batches, each event once", async () => {
  const project = await server.createProject();
  const { id, secret } = await createEndpoint(project, { batchSize: 100 });
  await record(
    project,
    range(999).map((n) => `event-${n}`),
  );
  await expect.poll(() => new Set(acceptedNumbers(project)).size, WAIT).toBe(1_000);
  expect(acceptedNumbers(project).toSorted((a, b) => a - b)).toEqual(range(1_000));
  expect(accepted(project).every(({ number, previous }) => previous === number - 1)).toBe(true);
  const list = await server.call(deliveries.listDeliveries, project.byKey, {
    params: { id },
    query: { limit: 100 },
  });
  expect(list.body.data.map(({ number }) => number)).toEqual(range(1_000).slice(-100).toReversed());
  const made = callsOf(project);
  expect(Math.max(...made.map(({ events }) => events.length))).toBe(100);
  const { headers, body } = made[0] as Call;
  const verified = new Webhook(secret).verify(body, headers as Record<string, string>);
  expect(verified).toEqual(JSON.parse(body));
  expect(new Set(made.map((call) => call.headers["webhook-id"])).size).toBe(made.length);
});

test("makes batches smaller after a failure, so that a rejected event holds up no others", async () => {
  const project = await server.createProject();
  accepts = (events) => events.every(({ type }) => type !== "poison");
  await createEndpoint(project, { batchSize: 64 });
  await record(
    project,
    range(64).map((n) => (n === 30 ? "poison" : `event-${n}`)),
  );
  const failedOnce = () =>
    server.rows<{ status: number; body: string | null }>(
      "select response_status as status, response_body as body from event_deliveries where project_id = $1 and state = 'waiting' and tries = 1",
      project.id,
    );
  await expect.poll(async () => (await failedOnce()).length, WAIT).toBeGreaterThan(1);
  expect(new Set((await failedOnce()).map(({ status, body }) => `${status} ${body}`))).toEqual(
    new Set(["422 null"]),
  );
  const others = range(65).filter((number) => number !== 31);
  await expect
    .poll(async () => {
      await letTimePass();
      return new Set(acceptedNumbers(project)).size;
    }, WAIT)
    .toBe(others.length);
  expect(acceptedNumbers(project).toSorted((a, b) => a - b)).toEqual(others);
  // The last result is recorded after its response.
  const unfinished = () =>
    server.rows(
      "select number::integer, state from event_deliveries where project_id = $1 and state <> 'done'",
      project.id,
    );
  await expect.poll(unfinished, WAIT).toEqual([{ number: 31, state: "waiting" }]);
});

test("keeps the order of an ordered endpoint across batches and failures", async () => {
  const project = await server.createProject();
  accepts = () => callsOf(project).length % 3 !== 1;
  await createEndpoint(project, { batchSize: 16, ordered: true });
  await record(
    project,
    range(99).map((n) => `event-${n}`),
  );
  await expect
    .poll(async () => {
      await letTimePass();
      return acceptedNumbers(project).length;
    }, WAIT)
    .toBe(100);
  expect(acceptedNumbers(project)).toEqual(range(100));
  expect(callsOf(project).some(({ isAccepted }) => !isAccepted)).toBe(true);
});

test("allows the calls of one second at once, and then as many as the rate", async () => {
  const project = await server.createProject();
  const { id } = await createEndpoint(project, { callsPerSecond: 3 });
  await server.call(hooks.updateWebhookEndpoint, project.byKey, { params: { id }, body: { enabled: false } });
  await record(project, []);
  await server.rows(
    `with last as (update event_streams set last_number = last_number + 20 where project_id = $1 returning last_number),
     logged as (
       insert into event_log (project_id, number, id, type, data, created_at)
       select $1, last_number - n, new_id(), 'x', '{}', now() from last, generate_series(0, 19) n returning number)
     insert into event_deliveries (project_id, id, endpoint_id, number, previous) select $1, new_id(), $2, number, 0 from logged`,
    project.id,
    id,
  );
  const claimAll = () =>
    transaction(server.database, async (tx) => {
      const key = { projectId: project.id, id, ordered: false, batchSize: 1 };
      const claim = { claimId: newId(), calls: 10, leaseSeconds: 60, mostBytes: 1_000 };
      const first = await claimDeliveries(tx, key, claim);
      const second = await claimDeliveries(tx, key, claim);
      return [first.length, second.length];
    });
  expect(await claimAll()).toEqual([3, 0]);
  await server.rows(
    "update webhook_endpoints set paced_until = now() + interval '0.3 seconds' where id = $1",
    id,
  );
  expect(await claimAll()).toEqual([2, 0]);
});

test("sends only events of emails with one of the tags", () => {
  const filter = { eventTypes: ["*"], tags: ["receipt"], addresses: null };
  const event = { type: "email.sent", isRedacted: false, address: null };
  const events = [
    { ...event, number: 1, tags: ["receipt", "order"] },
    { ...event, number: 2, tags: ["welcome"] },
    { ...event, number: 3, tags: null },
    { ...event, number: 4, tags: null, isRedacted: true },
    { ...event, number: 5, tags: null, isRedacted: true, type: "signed-up" },
  ];
  expect(chainMatches(events, filter, 0).matches.map(({ number }) => number)).toEqual([1, 4]);
});

test("sends only emails received at one of the addresses", () => {
  const filter = { eventTypes: ["*"], tags: null, addresses: ["us@a.example", "orders+*@a.example"] };
  const event = { type: "email.received", isRedacted: false, tags: null };
  const events = [
    { ...event, number: 1, address: "us@a.example" },
    { ...event, number: 2, address: "you@a.example" },
    { ...event, number: 3, address: "orders+7@a.example" },
    { ...event, number: 4, address: null, type: "email.sent" },
    { ...event, number: 5, address: null, isRedacted: true },
    { ...event, number: 6, address: "us@b.example" },
  ];
  expect(chainMatches(events, filter, 0).matches.map(({ number }) => number)).toEqual([1, 3, 5]);
});

test("sends received emails at the addresses and other emails with the tags if it has both", () => {
  const filter = { eventTypes: ["*"], tags: ["receipt"], addresses: ["us@a.example"] };
  const event = { type: "email.received", isRedacted: false, tags: null, address: null };
  const events = [
    { ...event, number: 1, address: "us@a.example" },
    { ...event, number: 2, address: "you@a.example" },
    { ...event, number: 3, type: "email.sent", tags: ["receipt"] },
    { ...event, number: 4, type: "email.sent", tags: ["order"] },
  ];
  expect(chainMatches(events, filter, 0).matches.map(({ number }) => number)).toEqual([1, 3]);
});

test.for([
  ["*@a.example", "x@a.example", true],
  ["a*a@a.example", "a@a.example", false],
  ["a*b*c@a.example", "a-b-b-c@a.example", true],
  ["a*b*c@a.example", "a-c-c@a.example", false],
  ["us@a.example", "us@a.example.org", false],
] as const)("matches %s with %s: %s", ([pattern, text, isMatch]) => {
  expect(matchesPattern(pattern, text)).toBe(isMatch);
});

test("rejects addresses that are no patterns", async () => {
  const project = await server.createProject();
  for (const address of ["us", "@a.example", "us@*", "us@*.example", "us@a example"]) {
    const body = { url: "https://hook.example/", eventTypes: ["*"], addresses: [address] };
    const reply = await server.call(hooks.createWebhookEndpoint, project.byKey, { body });
    expect([address, faultsOf(reply)]).toEqual([address, ["addresses.0 invalid_string"]]);
  }
  const endpoint = await createEndpoint(project, { addresses: ["Orders+*@A.example"] });
  expect(endpoint).toMatchObject({ addresses: ["orders+*@a.example"] });
});

test("finds the tags of an email in its events", async () => {
  const project = await server.createProject();
  await createEndpoint(project, { tags: ["receipt"], batchSize: 2, eventTypes: ["email.sent"] });
  for (const tags of [["welcome"], ["receipt", "order"]])
    await server.call(v1.send, project.byKey, {
      body: { to: "ada@example.com", from: "shop@sandbox.localhost", subject: "Hello", body: "Hello", tags },
    });
  await expect.poll(() => accepted(project).length, WAIT).toBe(1);
  expect(accepted(project)).toMatchObject([
    { type: "email.sent", data: { properties: { tags: ["receipt", "order"] } } },
  ]);
  // It was alone in its batch, so its empty response is stored.
  const stored = () =>
    server.rows(
      "select state, response_body as body from event_deliveries where project_id = $1",
      project.id,
    );
  await expect.poll(stored, WAIT).toEqual([{ state: "done", body: "" }]);
});

test("rejects sizes, rates and tags outside their limits, and shows the stored ones", async () => {
  const project = await server.createProject();
  const reply = await server.call(hooks.createWebhookEndpoint, project.byKey, {
    anyBody: {
      url: "https://example.com/",
      eventTypes: ["*"],
      batchSize: 501,
      callsPerSecond: 0,
      tags: [],
    },
  });
  expect(faultsOf(reply)).toEqual(["batchSize too_big", "callsPerSecond too_small", "tags too_small"]);
  const endpoint = await createEndpoint(project, { batchSize: 5, callsPerSecond: 7, tags: ["a"] });
  expect(endpoint).toMatchObject({ batchSize: 5, callsPerSecond: 7, tags: ["a"] });
  const changed = await server.call(hooks.updateWebhookEndpoint, project.byKey, {
    params: { id: endpoint.id },
    body: { callsPerSecond: null, tags: null },
  });
  expect(changed.body).toMatchObject({ batchSize: 5, callsPerSecond: null, tags: null });
});
