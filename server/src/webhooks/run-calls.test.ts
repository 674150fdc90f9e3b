// Queued calls against real endpoints. Each ends once together with its consequences, is retried by the database's clock, continues after a
// crash under the same id, and never waits for other projects' endpoints.
import { createHmac } from "node:crypto";
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { sql } from "kysely";
import { Webhook } from "standardwebhooks";
import { afterAll, afterEach, beforeAll, beforeEach, expect, onTestFinished, test, vi } from "vitest";
import { createSealer } from "../platform/crypto.ts";
import { createDatabase, transaction, type Database, type Tx } from "../platform/database/database.ts";
import { newId } from "../platform/ids.ts";
import { createLog } from "../platform/log.ts";
import { createMetrics } from "../platform/metrics.ts";
import { notify, subscribe } from "../platform/notify.ts";
import { createTestDatabase, type TestDatabase } from "../platform/database/test-database.ts";
import { asCluster } from "../testing/as-cluster.ts";
import { makeProject } from "../testing/sent-mails.ts";
import type { Loop } from "../platform/background/background.ts";
import { createWebhookCaller } from "./call-webhook.ts";
import { parseNetworks } from "./networks.ts";
import { listWaitingProjects } from "./queries.ts";
import { startWebhookCalls, type EndedCall, type WebhookCallsOptions } from "./run-calls.ts";
import {
  cancelWebhookCalls,
  queueWebhookCalls,
  sweepWebhookCalls,
  type NewWebhookCall,
} from "./webhook-calls.ts";
import { createWebhookSecrets } from "./webhook-secrets.ts";

const log = createLog({ level: "silent" });
const sealer = createSealer("a secret that is long enough");
const secrets = createWebhookSecrets(sealer);
const WAIT = { timeout: 30_000, interval: 10 };

let testDatabase: TestDatabase;
let database: Database;
let projectId = "";
let ended: EndedCall[] = [];
const loops: Loop[] = [];

interface Arrival {
  path: string;
  headers: Record<string, string | string[] | undefined>;
  body: string;
}

/** Responds with 200 `{"n": …}`. Paths in `statuses` respond with those in turn, and paths that begin with `/hang` never respond. */
function startEndpoint() {
  const arrivals: Arrival[] = [];
  const statuses = new Map<string, number[]>();
  const open = { now: 0, most: 0 };
  const server = createServer(async (request, response) => {
    open.now += 1;
    open.most = Math.max(open.most, open.now);
    response.on("close", () => (open.now -= 1));
    let body = "";
    for await (const part of request) body += String(part);
    arrivals.push({ path: request.url ?? "", headers: request.headers, body });
    if (request.url?.startsWith("/hang")) return;
    response.writeHead(statuses.get(request.url ?? "")?.shift() ?? 200);
    response.end(JSON.stringify({ n: arrivals.length }));
  });
  return { arrivals, statuses, open, server, url: "" };
}
let endpoint = startEndpoint();

beforeAll(async () => {
  testDatabase = await createTestDatabase();
  database = createDatabase(testDatabase.pool);
});
beforeEach(async () => {
  projectId = await makeProject(database);
  ended = [];
  endpoint = startEndpoint();
  await new Promise<void>((resolve) => endpoint.server.listen(0, "127.0.0.1", resolve));
  endpoint.url = `http://127.0.0.1:${(endpoint.server.address() as AddressInfo).port}`;
});
afterEach(async () => {
  endpoint.server.close().closeAllConnections();
  await Promise.all(loops.splice(0).map((loop) => loop.stop()));
  await sql`delete from projects`.execute(database);
});
afterAll(async () => testDatabase.drop());

function start(over: Partial<WebhookCallsOptions> = {}): Loop {
  const dns = { records: async () => ({ kind: "none" as const }) };
  const loop = startWebhookCalls({
    database,
    secrets,
    sealer,
    call: createWebhookCaller({
      dns,
      targets: { networks: parseNetworks(["127.0.0.1"]), ports: [[1, 65_535]] },
    }),
    onEnded: async (_tx, calls) => void ended.push(...calls),
    log,
    metrics: createMetrics(),
    ...over,
  });
  loops.push(loop);
  return loop;
}

type TestCall = Partial<NewWebhookCall> & { path?: string };

function queue(calls: readonly TestCall[]): Promise<string[]> {
  return transaction(database, (tx) => queueIn(tx, calls));
}

function queueIn(tx: Tx, calls: readonly TestCall[]): Promise<string[]> {
  return queueWebhookCalls(
    tx,
    calls.map(({ path = "/", ...call }) => ({
      projectId,
      ownerKind: "workflow",
      ownerId: newId(),
      ownerRef: "step 1",
      url: `${endpoint.url}${path}`,
      method: "POST",
      headers: {},
      body: '{"hello":"wörld"}',
      ...call,
    })),
  );
}

async function rowOf(id: string) {
  const { rows } = await sql<{
    state: string;
    tries: number;
    wait: number;
    claimId: string | null;
    error: string | null;
  }>`select state, tries, extract(epoch from due_at - now())::float8 as wait, claim_id, error
    from webhook_calls where id = ${id}`.execute(database);
  return rows[0];
}

/** Simulates that the wait until the next attempt, or a lease, is over. */
async function letTimePass(id: string): Promise<void> {
  await sql`update webhook_calls set due_at = now() where id = ${id}`.execute(database);
}

const untilEnded = (count: number) => vi.waitFor(() => expect(ended).toHaveLength(count), WAIT);

test("ends a call with its response in the recording transaction, and does not repeat it", async () => {
  const ownerId = newId();
  const [id = ""] = await queue([{ ownerId, ownerRef: "ref", headers: { "x-token": "t" } }]);
  const seen: unknown[] = [];
  const loop = start({
    onEnded: async (tx, calls) => {
      seen.push(
        (await sql<{ state: string }>`select state from webhook_calls where id = ${id}`.execute(tx)).rows,
      );
      seen.push((await rowOf(id))?.state);
      ended.push(...calls);
    },
  });
  await untilEnded(1);
  expect(ended).toEqual([
    {
      projectId,
      id,
      ownerKind: "workflow",
      ownerId,
      ownerRef: "ref",
      state: "done",
      tries: 1,
      status: 200,
      body: { n: 1 },
      isCut: false,
      error: null,
    },
  ]);
  expect(seen).toEqual([[{ state: "done" }], "waiting"]);
  loop.wake();
  await loop.stop();
  expect(await rowOf(id)).toMatchObject({ state: "done", wait: null, claimId: null });
  expect(endpoint.arrivals).toMatchObject([{ body: '{"hello":"wörld"}', headers: { "x-token": "t" } }]);
});

/** Standard Webhooks, implemented from the specification instead of our code. */
function isSigned({ headers, body }: Arrival, secret: string): boolean {
  const hmac = createHmac("sha256", Buffer.from(secret.replace("whsec_", ""), "base64"));
  hmac.update([headers["webhook-id"], headers["webhook-timestamp"], body].join("."));
  const expected = hmac.digest("base64");
  return String(headers["webhook-signature"]).split(" ").includes(`v1,${expected}`);
}

test("signs with the project's secret, and with the former one for a day after a rotation", async () => {
  const [former] = await secrets.read(database, projectId);
  const secret = await transaction(database, async (tx) => secrets.rotate(tx, projectId));
  await queue([{}, { method: "GET" }]);
  start();
  await untilEnded(2);
  for (const arrival of endpoint.arrivals) {
    expect([isSigned(arrival, secret), isSigned(arrival, former)]).toEqual([true, true]);
    expect(Math.abs(Date.now() / 1000 - Number(arrival.headers["webhook-timestamp"]))).toBeLessThan(10);
  }
  expect(await secrets.read(database, projectId)).toEqual([secret, former]);
  await sql`update webhook_secrets set made_at = now() - interval '24 hours 1 second'`.execute(database);
  expect(await secrets.read(database, projectId)).toEqual([secret]);
});

test("the documented examples accept our signatures and reject anything changed", async () => {
  const page = await readFile(new URL("../../../docs/webhooks.md", import.meta.url), "utf8");
  const [withLibrary = "", example = ""] = [...page.matchAll(/```js\n([^]+?)```/g)].map(([, code]) => code);
  expect(withLibrary).toContain("new Webhook(secret).verify(body, headers)");
  const { isFromPostloft } = (await import(`data:text/javascript,${encodeURIComponent(example)}`)) as {
    isFromPostloft: (secret: string, headers: Arrival["headers"], body: string) => boolean;
  };
  const [former] = await secrets.read(database, projectId);
  const secret = await transaction(database, async (tx) => secrets.rotate(tx, projectId));
  await queue([{}]);
  start();
  await untilEnded(1);
  const { headers = {}, body = "" } = endpoint.arrivals[0] ?? {};
  expect([secret, former].map((one) => isFromPostloft(one, headers, body))).toEqual([true, true]);
  expect(new Webhook(secret).verify(body, headers as Record<string, string>)).toEqual(JSON.parse(body));
  expect(isFromPostloft(secret, headers, `${body} `)).toBe(false);
  expect(isFromPostloft(secret, { ...headers, "webhook-id": newId() }, body)).toBe(false);
  expect(isFromPostloft(secret, { ...headers, "webhook-timestamp": "1700000000" }, body)).toBe(false);
  expect(isFromPostloft("whsec_AAAA", headers, body)).toBe(false);
});

test("creates one secret for concurrent requests, and another for another project", async () => {
  const [one, two] = await Promise.all([
    secrets.read(database, projectId),
    secrets.read(database, projectId),
  ]);
  expect(one).toEqual(two);
  expect(await secrets.read(database, await makeProject(database))).not.toEqual(one);
});

test("fails only calls of the project with a secret that cannot be decrypted", async () => {
  const [id = ""] = await queue([{}]);
  await createWebhookSecrets(createSealer("another secret, long enough")).read(database, projectId);
  await queue([{ projectId: await makeProject(database) }]);
  start();
  await untilEnded(1);
  await vi.waitFor(async () => expect((await rowOf(id))?.error).toBe("The secret cannot be read."), WAIT);
  expect(endpoint.arrivals).toHaveLength(1);
});

test("retries a failed call after each wait under one id, and then fails it", async () => {
  endpoint.statuses.set("/", [500, 404, 301, 410, 503, 500]);
  const [id = ""] = await queue([{}]);
  const loop = start();
  for (const [at, wait] of [5, 30, 120, 600, 2700].entries()) {
    await vi.waitFor(
      async () => expect(await rowOf(id)).toMatchObject({ tries: at + 1, claimId: null }),
      WAIT,
    );
    const left = (await rowOf(id))?.wait ?? 0;
    expect(left).toBeLessThanOrEqual(wait);
    expect(left).toBeGreaterThan(wait - 5);
    expect(ended).toEqual([]);
    await letTimePass(id);
    loop.wake();
  }
  await untilEnded(1);
  expect(ended).toMatchObject([
    { id, state: "failed", tries: 6, status: 500, error: "The endpoint responded with 500." },
  ]);
  expect(endpoint.arrivals.map(({ headers }) => headers["webhook-id"])).toEqual(Array(6).fill(id));
});

test("ends a call at the second attempt when it responds with 500 and then 200", async () => {
  endpoint.statuses.set("/", [500]);
  const [id = ""] = await queue([{}]);
  const loop = start();
  await vi.waitFor(async () => expect((await rowOf(id))?.tries).toBe(1), WAIT);
  await letTimePass(id);
  loop.wake();
  await untilEnded(1);
  expect(ended).toMatchObject([{ state: "done", tries: 2, body: { n: 2 }, error: null }]);
});

test("starts a retry when it is due without a notification of the loop", async () => {
  const [id = ""] = await queue([{}]);
  await sql`update webhook_calls set due_at = now() + interval '700 milliseconds'`.execute(database);
  const loop = start();
  await untilEnded(1);
  await loop.stop();
  const { rows } = await sql<{ early: boolean }>`
    select ended_at < created_at + interval '700 milliseconds' as early from webhook_calls where id = ${id}`.execute(
    database,
  );
  expect(rows).toEqual([{ early: false }]);
});

test("repeats a dead process' call under the same id after its lease, and records it once", async () => {
  const [id = ""] = await queue([{}]);
  const began = Promise.withResolvers<void>();
  const goOn = Promise.withResolvers<void>();
  // Stops between the response and its recording, like a paused or dead process.
  const first = start({
    async call() {
      began.resolve();
      await goOn.promise;
      return { status: 200, body: "late", isCut: false, askedSeconds: null, error: null };
    },
  });
  await began.promise;
  expect((await rowOf(id))?.wait).toBeGreaterThan(50);
  const second = start();
  second.wake();
  await letTimePass(id);
  second.wake();
  await untilEnded(1);
  goOn.resolve();
  await first.stop();
  expect(ended).toMatchObject([{ id, body: { n: 1 } }]);
  expect(endpoint.arrivals[0]?.headers["webhook-id"]).toBe(id);
});

test("ignores a response after the lease when another process has tried without success", async () => {
  endpoint.statuses.set("/", [500]);
  const [id = ""] = await queue([{}]);
  const began = Promise.withResolvers<void>();
  const goOn = Promise.withResolvers<void>();
  const first = start({
    async call() {
      began.resolve();
      await goOn.promise;
      return { status: 200, body: "late", isCut: false, askedSeconds: null, error: null };
    },
  });
  await began.promise;
  await letTimePass(id);
  start();
  await vi.waitFor(async () => expect((await rowOf(id))?.tries).toBe(1), WAIT);
  goOn.resolve();
  await first.stop();
  expect(await rowOf(id)).toMatchObject({
    state: "waiting",
    tries: 1,
    error: "The endpoint responded with 500.",
  });
  expect(ended).toEqual([]);
});

test("starts calls of a project in the order in which they became due", async () => {
  const ids = await queue([1, 2, 3, 4, 5].map((at) => ({ path: `/hang${at}` })));
  await sql`update webhook_calls set due_at = now() - interval '1 hour' where id = ${ids[4]}`.execute(
    database,
  );
  start();
  await vi.waitFor(() => expect(endpoint.arrivals).toHaveLength(4), WAIT);
  const paths = endpoint.arrivals.map(({ path }) => path).toSorted();
  expect(paths).toContain("/hang5");
});

test("makes each call once with two processes", async () => {
  await queue(Array.from({ length: 60 }, () => ({})));
  const two = [start(), start()];
  await untilEnded(60);
  await Promise.all(two.map((loop) => loop.stop()));
  expect(new Set(endpoint.arrivals.map(({ headers }) => headers["webhook-id"])).size).toBe(60);
  expect(endpoint.arrivals).toHaveLength(60);
});

test("keeps four calls of 1,000 hanging endpoints of a project open and delays no other", async () => {
  await queue(Array.from({ length: 1_000 }, () => ({ path: "/hang" })));
  const loop = start();
  await vi.waitFor(() => expect(endpoint.open.now).toBe(4), WAIT);
  const [quick] = await queue([{ projectId: await makeProject(database) }]);
  loop.wake();
  // It ends first, so it waited for none of the hanging calls.
  await vi.waitUntil(() => ended.length > 0, WAIT);
  expect(ended.map(({ id }) => id)).toEqual([quick]);
  expect(endpoint.open.now).toBe(4);
  expect(endpoint.open.most).toBe(5);
});

test("shares connections among projects with hanging endpoints, and reserves a quarter", async () => {
  const others = await Promise.all(Array.from({ length: 12 }, async () => makeProject(database)));
  await queue(others.flatMap((one) => Array.from({ length: 4 }, () => ({ projectId: one, path: "/hang" }))));
  const loop = start();
  await vi.waitFor(() => expect(endpoint.open.now).toBe(24), WAIT);
  const { rows } = await sql<{ count: number }>`
    select count(*) filter (where claim_id is not null) as count from webhook_calls group by project_id`.execute(
    database,
  );
  expect(rows.map(({ count }) => count)).toEqual(Array(12).fill(2));
  await queue([{}]);
  loop.wake();
  await untilEnded(1);
  expect(endpoint.open.most).toBe(25);
});

test("skips a cancelled call or ignores its end, and keeps one that has ended", async () => {
  const [over = ""] = await queue([{}]);
  start();
  await untilEnded(1);
  const [inFlight = ""] = await queue([{ path: "/hang" }]);
  loops.at(-1)?.wake();
  await vi.waitFor(() => expect(endpoint.open.now).toBe(1), WAIT);
  const [later = ""] = await transaction(database, async (tx) => {
    const ids = await queueIn(tx, [{}]);
    await sql`update webhook_calls set due_at = now() + interval '1 hour' where id = any(${ids})`.execute(tx);
    return ids;
  });
  const keys = [over, inFlight, later].map((id) => ({ projectId, id }));
  const gone = await transaction(database, async (tx) => cancelWebhookCalls(tx, keys));
  expect(gone.toSorted()).toEqual([inFlight, later].toSorted());
  endpoint.server.closeAllConnections();
  await loops.splice(0)[0]?.stop();
  expect(ended).toHaveLength(1);
  expect(await rowOf(over)).toMatchObject({ state: "done" });
});

test("the end of a call notifies its owners after the commit, and a try that is made again doesn't", async () => {
  endpoint.statuses.set("/", [503]);
  const [id = ""] = await queue([{}]);
  const seen: Array<Promise<string | undefined>> = [];
  const unsubscribe = subscribe(
    database,
    "workflows",
    () => void seen.push(rowOf(id).then((row) => row?.state)),
  );
  onTestFinished(unsubscribe);
  const loop = start({ onEnded: async (tx) => notify(tx, "workflows") });
  await vi.waitFor(async () => expect(await rowOf(id)).toMatchObject({ tries: 1, claimId: null }), WAIT);
  await letTimePass(id);
  // A commit so slow that any check before its end sees the old state.
  await sql`create function take_long() returns trigger language plpgsql
    as $$ begin perform pg_sleep(0.2); return null; end $$`.execute(database);
  await sql`create constraint trigger take_long after update on webhook_calls deferrable initially deferred
    for each row execute function take_long()`.execute(database);
  onTestFinished(async () => void (await sql`drop function take_long cascade`.execute(database)));
  loop.wake();
  await vi.waitFor(() => expect(seen).toHaveLength(1), WAIT);
  expect(await seen[0]).toBe("done");
});

test("leaves calls of a disabled project waiting", async () => {
  await sql`update projects set disabled = true`.execute(database);
  await queue([{}]);
  await queue([{ projectId: await makeProject(database) }]);
  const loop = start();
  await untilEnded(1);
  await loop.stop();
  expect(endpoint.arrivals).toHaveLength(1);
});

test("repeats a call later when its consequences cannot be stored, without blocking others", async () => {
  const [bad = "", good = ""] = await queue([{ ownerRef: "bad" }, {}]);
  start({
    onEnded: async (_tx, calls) => {
      if (calls.some(({ ownerRef }) => ownerRef === "bad")) throw new Error("a bug");
      ended.push(...calls);
    },
  });
  await untilEnded(1);
  await vi.waitFor(async () => expect(await rowOf(bad)).toMatchObject({ tries: 1, claimId: null }), WAIT);
  expect(await rowOf(bad)).toMatchObject({ state: "waiting" });
  expect((await rowOf(bad))?.wait).toBeGreaterThan(2_600);
  expect(ended).toMatchObject([{ id: good }]);
});

test("sweeps only calls that ended a week ago", async () => {
  const ids = await queue([{}, {}, {}]);
  await sql`update webhook_calls set state = 'done', due_at = null, ended_at = now() - interval '8 days' where id = ${ids[0]}`.execute(
    database,
  );
  await sql`update webhook_calls set state = 'done', due_at = null, ended_at = now() - interval '6 days' where id = ${ids[1]}`.execute(
    database,
  );
  await sweepWebhookCalls(database);
  expect(await Promise.all(ids.map(async (id) => (await rowOf(id))?.state))).toEqual([
    undefined,
    "done",
    "waiting",
  ]);
});

const listed = async (on: Database) => (await listWaitingProjects(on)).map((one) => one.projectId);

test("lists the same projects with waiting calls on a cluster as on one PostgreSQL", async () => {
  const waiting = projectId;
  await queue([{}, {}]);
  projectId = await makeProject(database);
  await queue([{}]);
  await sql`update projects set disabled = true where id = ${projectId}`.execute(database);
  expect(await listed(database)).toEqual([waiting]);
  expect(await asCluster(testDatabase.pool, listed)).toEqual([waiting]);
});
