// Webhook endpoints: settings, signed calls in order or in parallel, retries, and endpoints that never respond, redirect or fail for days.
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { Webhook } from "standardwebhooks";
import { afterAll, beforeAll, beforeEach, expect, test, vi } from "vitest";
import * as contacts from "@postloft/contract/contacts.ts";
import * as eventStream from "@postloft/contract/event-stream.ts";
import * as v1 from "@postloft/contract/v1.ts";
import * as deliveries from "@postloft/contract/webhook-deliveries.ts";
import * as hooks from "@postloft/contract/webhook-endpoints.ts";
import { eventCalls } from "@postloft/contract/openapi/event-call.ts";
import { LIMITS } from "@postloft/contract/limits/limits.ts";
import { newId } from "../platform/ids.ts";
import { addFailedDelivery } from "../testing/event-delivery.ts";
import { readPlatformEmails } from "../testing/platform-emails.ts";
import { errorOf, faultsOf, useTestServer, type TestProject } from "../testing/test-server.ts";
import { sweepDeliveries } from "./delivery-log.ts";
import { chainMatches, matchesTypes, retryWait } from "./rules.ts";

const WAIT = { timeout: 30_000, interval: 50 };
const server = useTestServer({
  ROLES: "api,worker",
  WEBHOOK_ALLOW_PRIVATE: "127.0.0.1",
  WEBHOOK_ALLOW_PORTS: "1024-65535",
});

interface Received {
  id: string;
  type: string;
  number: number;
  previous: number;
  redacted: boolean;
  data: unknown;
}
interface Arrival {
  path: string;
  headers: Record<string, string | string[] | undefined>;
  body: string;
  event: Received;
}

const arrivals: Arrival[] = [];
/** The status of each call, by path. Paths that begin with `/hang` never respond. */
let statusOf: (path: string, event: Received) => number = () => 200;
const receiver = createServer(async (request, response) => {
  let body = "";
  for await (const part of request) body += String(part);
  const path = request.url ?? "";
  const event = JSON.parse(body) as Received;
  arrivals.push({ path, headers: request.headers, body, event });
  if (path.startsWith("/hang")) return;
  const status = statusOf(path, event);
  response.writeHead(status, {
    ...(status === 302 ? { location: "http://127.0.0.1/other" } : {}),
    ...(status === 429 ? { "retry-after": "7200" } : {}),
  });
  response.end(`received ${event.number}`);
});
const urlOf = (path: string) => `http://127.0.0.1:${(receiver.address() as AddressInfo).port}${path}`;
beforeAll(async () => new Promise<void>((resolve) => receiver.listen(0, "127.0.0.1", resolve)));
afterAll(() => void receiver.close().closeAllConnections());
beforeEach(() => {
  arrivals.length = 0;
  statusOf = () => 200;
});

type Settings = Partial<Parameters<typeof create>[1]>;
const create = ({ byKey }: TestProject, body: Record<string, unknown>) =>
  server.call(hooks.createWebhookEndpoint, byKey, { anyBody: body });
const added = async (project: TestProject, path: string, settings: Settings = {}) =>
  (await create(project, { url: urlOf(path), eventTypes: ["*"], ...settings })).body;
const change = ({ byKey }: TestProject, id: string, body: Record<string, unknown>) =>
  server.call(hooks.updateWebhookEndpoint, byKey, { params: { id }, anyBody: body });
const listed = async ({ byKey }: TestProject) =>
  (await server.call(hooks.listWebhookEndpoints, byKey)).body.data;
const track = async ({ byKey }: TestProject, event: string, email = "ada@example.com") =>
  (await server.call(v1.track, byKey, { body: { email, event } })).body.data;
const arrivalsAt = (path: string) => arrivals.filter((arrival) => arrival.path === path);
/** Verifies a call with the library that docs/webhooks.md recommends, and returns its body. @throws WebhookVerificationError */
const verified = (secret: string, call: Pick<Arrival, "headers" | "body"> | undefined) =>
  new Webhook(secret).verify(call?.body ?? "", call?.headers as Record<string, string>);
const numbersAt = (path: string) => arrivalsAt(path).map(({ event }) => event.number);
const arrived = async (path: string, count: number): Promise<void> => {
  await expect.poll(() => numbersAt(path).length, WAIT).toBeGreaterThanOrEqual(count);
};
const deliveriesOf = (endpointId: string) =>
  server.rows<{ number: number; state: string; tries: number; wait: number | null; claimed: boolean }>(
    `select number::integer, state, tries, extract(epoch from due_at - now())::float8 as wait, claim_id is not null as claimed
     from event_deliveries where endpoint_id = $1 order by number, id`,
    endpointId,
  );
const numbersOf = (page: { data: Array<{ number: number }> }) => page.data.map(({ number }) => number);
/** Ends the waits between attempts. */
const letTimePass = async (endpointId: string) => {
  await server.rows(
    "update event_deliveries set due_at = now() where endpoint_id = $1 and state = 'waiting' and claim_id is null",
    endpointId,
  );
  await server.rows("select pg_notify('postloft_work', 'stream')");
};

test("delivers matching events with a signature of the endpoint's own secret", async () => {
  const project = await server.createProject();
  await track(project, "before");
  const one = await added(project, "/one", { eventTypes: ["plan.*", "signed-up"] });
  const two = await added(project, "/two");
  for (const name of ["plan.changed", "other", "signed-up"]) await track(project, name);
  await arrived("/two", 3);
  await arrived("/one", 2);
  const { body: stream } = await server.call(eventStream.streamEvents, project.byKey, { query: {} });
  const ofOne = arrivalsAt("/one").toSorted((a, b) => a.event.number - b.event.number);
  expect(ofOne.map(({ event }) => [event.type, event.number, event.previous])).toEqual([
    ["plan.changed", 1, 0],
    ["signed-up", 3, 1],
  ]);
  expect(ofOne[1]?.event).toEqual({ ...stream.events[2], previous: 1 });
  const described = eventCalls("Webhooks").event.post.parameters.map(({ name }) => name);
  for (const { path, headers, body, event } of arrivals) {
    expect(eventStream.numberedEvent.strict().parse(event)).toEqual(event);
    expect(Object.keys(headers)).toEqual(expect.arrayContaining(described));
    const { secret } = path === "/one" ? one : two;
    expect(verified(secret, { headers, body })).toEqual(event);
    expect(headers).toMatchObject({ "webhook-id": event.id, "content-type": "application/json" });
  }
  await expect
    .poll(async () => (await deliveriesOf(one.id)).map(({ state }) => state), WAIT)
    .toEqual(["done", "done"]);
});

test("an ordered endpoint gets each event after all earlier ones, also from two processes", async () => {
  const another = await server.startAnother({
    ROLES: "worker",
    WEBHOOK_ALLOW_PRIVATE: "127.0.0.1",
    WEBHOOK_ALLOW_PORTS: "1024-65535",
  });
  const project = await server.createProject();
  const left = new Map(
    [2, 2, 4, 9, 9, 15].map((number, _at, all) => [number, all.filter((n) => n === number).length]),
  );
  const expected = Array.from({ length: 20 }, (_, at) => at + 1).flatMap((number) =>
    Array.from({ length: 1 + (left.get(number) ?? 0) }, () => number),
  );
  statusOf = (_path, { number }) => {
    const failures = left.get(number) ?? 0;
    left.set(number, failures - 1);
    return failures > 0 ? 503 : 200;
  };
  const { id } = await added(project, "/ordered", { ordered: true });
  for (let n = 1; n <= 20; n++) await track(project, `event-${n}`);
  await vi.waitFor(async () => {
    await letTimePass(id);
    expect((await deliveriesOf(id)).filter(({ state }) => state === "done")).toHaveLength(20);
  }, WAIT);
  expect(numbersAt("/ordered")).toEqual(expected);
  await another.stop();
});

test("endpoints that never respond do not delay others, and get one call at a time while they fail", async () => {
  const project = await server.createProject();
  const hanging = await added(project, "/hang");
  await server.rows("update webhook_endpoints set failing_since = now() where id = $1", hanging.id);
  await added(project, "/quick");
  for (let n = 1; n <= 10; n++) await track(project, `event-${n}`);
  await arrived("/quick", 10);
  expect(new Set(numbersAt("/quick")).size).toBe(10);
  await arrived("/hang", 1);
  expect(numbersAt("/hang")).toHaveLength(1);
});

test("an ordered endpoint that works again waits seconds after its next failure, not for earlier tries", async () => {
  const project = await server.createProject();
  statusOf = () => 503;
  const { id } = await added(project, "/shaky", { ordered: true });
  await track(project, "one");
  await track(project, "two");
  const tried = async () => (await deliveriesOf(id)).map(({ tries }) => tries);
  await expect.poll(tried, WAIT).toEqual([expect.any(Number), 0]);
  await expect.poll(async () => (await tried())[0], WAIT).toBeGreaterThan(0);
  // Both events failed often in an earlier outage.
  await server.rows("update event_deliveries set tries = 5 where endpoint_id = $1", id);
  statusOf = (_path, { number }) => (number === 1 ? 200 : 503);
  await vi.waitFor(async () => {
    await letTimePass(id);
    expect((await deliveriesOf(id))[0]?.state).toBe("done");
  }, WAIT);
  const wait = await vi.waitFor(async () => {
    const [, second] = await deliveriesOf(id);
    // A claimed delivery has its lease instead of a wait.
    if (second?.wait == null || second.wait < 0 || second.claimed || second.tries < 6)
      throw new Error("no wait yet");
    return second.wait;
  }, WAIT);
  expect(wait).toBeLessThan(30);
});

test("a redirect is not followed, Retry-After is honored, and the reason is stored", async () => {
  const project = await server.createProject();
  statusOf = (path) => (path === "/moved" ? 302 : 429);
  const [moved, busy] = [await added(project, "/moved"), await added(project, "/busy")];
  await track(project, "event");
  const tried = async (id: string) => (await deliveriesOf(id)).map(({ state, tries }) => [state, tries]);
  for (const { id } of [moved, busy])
    await expect.poll(async () => tried(id), WAIT).toEqual([["waiting", 1]]);
  const rows = await server.rows(
    "select response_status, response_body, error from event_deliveries where endpoint_id = $1",
    moved.id,
  );
  expect(rows).toEqual([
    {
      responseStatus: 302,
      responseBody: "received 1",
      error: "The endpoint responded with 302, a redirect, which is not followed. Use the target address.",
    },
  ]);
  expect((await deliveriesOf(busy.id))[0]?.wait).toBeGreaterThan(7_000);
  expect((await listed(project)).map(({ failingSince }) => failingSince)).toEqual([
    expect.any(String),
    expect.any(String),
  ]);
});

test("disables an endpoint after three days without a success, and loses nothing", async () => {
  const project = await server.createProject();
  statusOf = () => 500;
  const { id } = await added(project, "/down");
  await track(project, "one");
  await expect.poll(async () => (await listed(project))[0]?.failingSince, WAIT).not.toBeNull();
  const days = LIMITS.eventRetryDays.value;
  const past = `now() - make_interval(days => ${days}, mins => 1)`;
  await server.rows(`update webhook_endpoints set failing_since = ${past} where id = $1`, id);
  await server.rows(`update event_deliveries set first_failed_at = ${past} where endpoint_id = $1`, id);
  await vi.waitFor(async () => {
    await letTimePass(id);
    expect((await listed(project))[0]).toMatchObject({
      enabled: false,
      disabledReason: "All calls failed for 3 days.",
    });
  }, WAIT);
  const [mail, ...others] = await readPlatformEmails(server.pool, { to: project.owner.email });
  expect([mail?.subject, others]).toEqual(["A webhook endpoint is disabled", []]);
  expect(mail?.text).toContain("The endpoint responded with 500.");
  expect(mail?.text).toContain(`/app/${project.id}/settings?tab=webhooks&endpoint=${id}`);
  const log = await server.call("GET", `/projects/${project.id}/audit-log`, project.byKey);
  expect(log.text).toContain("webhookEndpoint.disabled");
  await track(project, "two");
  arrivals.length = 0;
  statusOf = () => 200;
  expect((await change(project, id, { enabled: true })).body).toMatchObject({
    enabled: true,
    disabledReason: null,
    failingSince: null,
  });
  await arrived("/down", 2);
  expect(numbersAt("/down").toSorted()).toEqual([1, 2]);
});

test("a delivery fails after three days if the endpoint accepted others meanwhile", async () => {
  const project = await server.createProject();
  statusOf = (_path, { number }) => (number === 1 ? 400 : 200);
  const { id } = await added(project, "/picky");
  await track(project, "bad");
  await expect.poll(async () => (await deliveriesOf(id))[0]?.tries, WAIT).toBe(1);
  await server.rows(
    `update event_deliveries set first_failed_at = now() - make_interval(days => $2, mins => 1) where endpoint_id = $1`,
    id,
    LIMITS.eventRetryDays.value,
  );
  await track(project, "good");
  await vi.waitFor(async () => {
    await letTimePass(id);
    expect((await deliveriesOf(id)).map(({ state }) => state)).toEqual(["failed", "done"]);
  }, WAIT);
  expect((await listed(project))[0]).toMatchObject({ enabled: true });
});

test("lists deliveries by state with request and response, and resends one or all failed", async () => {
  const [project, other] = [await server.createProject(), await server.createProject()];
  const { id } = await added(project, "/log?token=secret-token-1", { enabled: false });
  const { id: otherId } = await added(project, "/log", { enabled: false });
  const failed = [
    await addFailedDelivery(server, project.id, id),
    await addFailedDelivery(server, project.id, id),
  ];
  const list = async (query: { state?: "waiting" | "done" | "failed"; limit?: number; cursor?: string }) =>
    (await server.call(deliveries.listDeliveries, project.byKey, { params: { id }, query })).body;
  const first = await list({ limit: 1 });
  expect(numbersOf(first)).toEqual([2]);
  expect(numbersOf(await list({ limit: 1, cursor: first.cursor ?? "" }))).toEqual([1]);
  expect(numbersOf(await list({ state: "failed" }))).toEqual([2, 1]);
  expect(numbersOf(await list({ state: "done" }))).toEqual([]);
  const at = (deliveryId = failed[0] ?? "") => ({ params: { id, deliveryId } });
  const { body: read } = await server.call(deliveries.getDelivery, project.byKey, at());
  expect(read).toMatchObject({
    state: "failed",
    tries: 20,
    nextTryAt: null,
    status: 500,
    responseBody: "broken",
    durationMs: 12,
    request: { url: urlOf("/log?token=••••"), body: { type: "order placed", number: 1, previous: 0 } },
  });
  for (const asked of [deliveries.getDelivery, deliveries.resendDelivery])
    for (const [{ byKey }, params] of [
      [other, at()],
      [project, { params: { ...at().params, id: otherId } }],
      [project, at(newId())],
      [project, at("no-id")],
    ] as const)
      expect(errorOf(await server.call(asked, byKey, params))).toBe("404 RESOURCE_NOT_FOUND");
  expect(errorOf(await server.call(deliveries.resendFailed, other.byKey, { params: { id } }))).toBe(
    "404 RESOURCE_NOT_FOUND",
  );
  const { body: resent } = await server.call(deliveries.resendDelivery, project.byKey, at());
  expect(resent).toMatchObject({ state: "waiting", tries: 0, endedAt: null });
  const all = await server.call(deliveries.resendFailed, project.byKey, { params: { id } });
  expect(all.body).toEqual({ resent: 1, hasMore: false });
  await change(project, id, { enabled: true });
  await expect.poll(async () => numbersOf(await list({ state: "done" })), WAIT).toEqual([2, 1]);
  arrivals.length = 0;
  await server.call(deliveries.resendDelivery, project.byKey, at());
  await arrived("/log?token=secret-token-1", 1);
  expect(numbersAt("/log?token=secret-token-1")).toEqual([1]);

  await expect.poll(async () => numbersOf(await list({ state: "done" })), WAIT).toEqual([2, 1]);
  await server.rows(
    "update event_deliveries set ended_at = now() - make_interval(days => $2, mins => 1) where id = $1",
    failed[0],
    LIMITS.eventDeliveryDays.value,
  );
  await sweepDeliveries(server.database);
  expect(numbersOf(await list({}))).toEqual([2]);
});

test("resending leaves a running call alone", async () => {
  const project = await server.createProject();
  const { id } = await added(project, "/hang-on");
  await track(project, "event");
  await arrived("/hang-on", 1);
  const [page] = (await server.call(deliveries.listDeliveries, project.byKey, { params: { id } })).body.data;
  const params = { id, deliveryId: page?.id ?? "" };
  const { body } = await server.call(deliveries.resendDelivery, project.byKey, { params });
  expect(body.nextTryAt).toBe(page?.nextTryAt);
});

test("replays events from a number or a time, and skips none", async () => {
  const project = await server.createProject();
  const { id } = await added(project, "/replay", { eventTypes: ["a.*"] });
  for (const name of ["a.1", "b.2", "a.3", "a.4"]) await track(project, name);
  await arrived("/replay", 3);
  const replay = async (body: Record<string, unknown>) =>
    server.call(deliveries.replayEvents, project.byKey, { params: { id }, anyBody: body });
  arrivals.length = 0;
  expect((await replay({ after: 1 })).body).toEqual({ after: 1, lastNumber: 4 });
  await arrived("/replay", 2);
  const replayed = arrivalsAt("/replay").toSorted((a, b) => a.event.number - b.event.number);
  expect(replayed.map(({ event }) => [event.number, event.previous])).toEqual([
    [3, 1],
    [4, 3],
  ]);
  arrivals.length = 0;
  expect((await replay({ since: "2026-01-01T00:00:00Z" })).body).toEqual({ after: 0, lastNumber: 4 });
  await arrived("/replay", 3);
  expect((await replay({ since: "2126-01-01T00:00:00Z" })).body).toEqual({ after: 4, lastNumber: 4 });

  // Waiting events are neither doubled nor skipped.
  statusOf = () => 500;
  await track(project, "a.5");
  await expect.poll(async () => (await deliveriesOf(id)).at(-1)?.tries, WAIT).toBe(1);
  await change(project, id, { enabled: false });
  expect((await replay({ after: 3 })).status).toBe(200);
  expect((await deliveriesOf(id)).filter(({ state }) => state === "waiting")).toEqual([]);
  expect((await replay({ after: 5 })).status).toBe(200);
  statusOf = () => 200;
  arrivals.length = 0;
  await change(project, id, { enabled: true });
  await expect.poll(async () => numbersAt("/replay").toSorted(), WAIT).toEqual([4, 5]);

  await server.rows("update event_streams set first_number = 3 where project_id = $1", project.id);
  expect(faultsOf(await replay({ after: 1 }))).toEqual(["after too_small"]);
  expect(faultsOf(await replay({ after: 6 }))).toEqual(["after too_big"]);
  expect(faultsOf(await replay({}))).toEqual(["after required"]);
  expect(faultsOf(await replay({ after: 3, since: "2026-01-01T00:00:00Z" }))).toEqual(["since custom"]);
  const other = await server.createProject();
  const foreign = { params: { id }, anyBody: { after: 0 } };
  expect(errorOf(await server.call(deliveries.replayEvents, other.byKey, foreign))).toBe(
    "404 RESOURCE_NOT_FOUND",
  );
});

test("an event after deleted ones has a previous number that the endpoint does not know", async () => {
  const project = await server.createProject();
  const { id } = await added(project, "/late", { enabled: false });
  for (const name of ["one", "two", "three"]) await track(project, name);
  const lastNumber = async () =>
    (await server.call(eventStream.streamEvents, project.byKey, { query: {} })).body.lastNumber;
  await expect.poll(lastNumber, WAIT).toBe(3);
  await server.rows("delete from event_log where project_id = $1 and number <= 2", project.id);
  await server.rows("update event_streams set first_number = 3 where project_id = $1", project.id);
  await change(project, id, { enabled: true });
  await arrived("/late", 1);
  expect(arrivalsAt("/late").map(({ event }) => [event.number, event.previous])).toEqual([[3, 2]]);
});

test("a delivery of a crashed process is made again when its lease ends", async () => {
  const project = await server.createProject();
  const { id } = await added(project, "/again", { enabled: false });
  await track(project, "event");
  await change(project, id, { enabled: true });
  await arrived("/again", 1);
  await expect.poll(async () => (await deliveriesOf(id))[0]?.state, WAIT).toBe("done");
  await server.rows(
    `update event_deliveries set state = 'waiting', due_at = now(), ended_at = null, claim_id = $2 where endpoint_id = $1`,
    id,
    newId(),
  );
  await server.rows("select pg_notify('postloft_work', 'stream')");
  await arrived("/again", 2);
  const [first, second] = arrivalsAt("/again");
  expect(second?.headers["webhook-id"]).toBe(first?.headers["webhook-id"]);
});

test("the payload and the response of a deleted contact are redacted", async () => {
  const project = await server.createProject();
  statusOf = () => 500;
  const { id } = await added(project, "/redact");
  const { contact } = await track(project, "event");
  await expect.poll(async () => (await deliveriesOf(id))[0]?.tries, WAIT).toBe(1);
  await server.call(contacts.deleteContact, project.byKey, { params: { id: contact } });
  const [row] = await server.rows("select response_body from event_deliveries where endpoint_id = $1", id);
  expect(row).toEqual({ responseBody: null });
  arrivals.length = 0;
  await letTimePass(id);
  await arrived("/redact", 1);
  expect(arrivalsAt("/redact")[0]?.event).toMatchObject({ number: 1, redacted: true, data: null });
});

test("credentials in a URL are masked, and a new secret signs together with the previous one", async () => {
  const project = await server.createProject();
  const made = (await create(project, { url: urlOf("/hook?token=secret-token-1"), eventTypes: ["*"] })).body;
  const [shown] = await listed(project);
  expect(JSON.stringify(shown)).not.toContain("secret-token-1");
  const stored = await server.rows("select url from webhook_endpoints where id = $1", made.id);
  expect(JSON.stringify(stored)).not.toContain("secret-token-1");
  expect((await change(project, made.id, { url: shown?.url, description: "Mine" })).status).toBe(200);
  const rotated = await server.call(hooks.rotateEndpointSecret, project.byKey, { params: { id: made.id } });
  expect(rotated.body.secret).not.toBe(made.secret);
  const tested = await server.call(hooks.testWebhookEndpoint, project.byKey, { params: { id: made.id } });
  expect(tested.body).toEqual({ status: 200, error: null });
  const [arrival] = arrivalsAt("/hook?token=secret-token-1");
  expect(arrival?.event).toMatchObject({ type: "test", number: 0 });
  for (const secret of [made.secret, rotated.body.secret])
    expect(verified(secret, arrival)).toEqual(arrival?.event);
  expect(String(arrival?.headers["webhook-signature"]).split(" ")).toHaveLength(2);
});

test("rejects private addresses, bad types, unknown fields and too many endpoints", async () => {
  const project = await server.createProject();
  const url = urlOf("/");
  const faults = async (body: Record<string, unknown>) => faultsOf(await create(project, body));
  expect(await faults({ url: "http://10.0.0.1/hook", eventTypes: ["*"] })).toEqual(["url invalid_string"]);
  expect(await faults({ url: "https://me:pw@example.com", eventTypes: ["*"] })).toEqual([
    "url invalid_string",
  ]);
  expect(await faults({ url, eventTypes: ["email*", "*.sent", ""] })).toEqual([
    "eventTypes.0 invalid_string",
    "eventTypes.1 invalid_string",
    "eventTypes.2 too_small",
  ]);
  expect(await faults({ url, eventTypes: [] })).toEqual(["eventTypes too_small"]);
  expect(await faults({ url, eventTypes: ["*"], secret: "mine" })).toEqual(["secret unknown_field"]);
  await server.rows(`insert into event_streams (project_id) values ($1)`, project.id);
  await server.rows(
    `insert into webhook_endpoints (project_id, id, url, event_types, ordered, enabled, sealed, position, previous)
     select $1, new_id(), 'https://example.com', '{*}', false, false, '', 0, 0 from generate_series(1, $2)`,
    project.id,
    LIMITS.webhookEndpoints.value,
  );
  expect(errorOf(await create(project, { url, eventTypes: ["*"] }))).toBe("409 CONFLICT");
  for (const id of [newId(), "no-id"])
    expect(errorOf(await change(project, id, { enabled: false }))).toBe("404 RESOURCE_NOT_FOUND");
});

test("a type is a name, a beginning or everything, and previous skips other types", () => {
  expect(["email.sent", "email", "emails.x"].map((name) => matchesTypes(["email.*"], name))).toEqual([
    true,
    false,
    false,
  ]);
  expect(matchesTypes(["order placed"], "order placed")).toBe(true);
  expect(matchesTypes(["*"], "anything")).toBe(true);
  const events = ["a", "b", "a", "b"].map((type, at) => ({
    number: at + 5,
    type,
    isRedacted: false,
    tags: null,
    address: null,
  }));
  expect(chainMatches(events, { eventTypes: ["b"], tags: null, addresses: null }, 3)).toEqual({
    matches: [
      { number: 6, previous: 3 },
      { number: 8, previous: 6 },
    ],
    previous: 8,
  });
  expect(chainMatches(events, { eventTypes: ["c"], tags: null, addresses: null }, 3)).toEqual({
    matches: [],
    previous: 3,
  });
});

test("waits grow to four hours, vary by a fifth, and are at least what the endpoint asks for", () => {
  const failed = { ordered: false, tries: 1, failingForSeconds: null, askedSeconds: null };
  const waits = [1, 2, 6, 7, 50].map((tries) => retryWait({ ...failed, tries }, 0));
  expect(waits).toEqual([5, 30, 7_200, 14_400, 14_400]);
  expect(retryWait(failed, 1)).toBe(4);
  expect(retryWait({ ...failed, askedSeconds: 60 }, 1)).toBe(60);
});

test("an ordered endpoint waits as long as it has been failing, however often its events were tried", () => {
  const failed = { ordered: true, tries: 50, askedSeconds: null };
  const waits = [null, 1, 5, 600, 20_000].map((failingForSeconds) =>
    retryWait({ ...failed, failingForSeconds }, 0),
  );
  expect(waits).toEqual([5, 5, 5, 600, 14_400]);
  expect(retryWait({ ...failed, tries: 2, failingForSeconds: 20_000 }, 0)).toBe(30);
  expect(retryWait({ ...failed, failingForSeconds: 600, askedSeconds: 700 }, 1)).toBe(700);
  expect(retryWait({ ...failed, failingForSeconds: 600 }, 1)).toBe(480);
});
