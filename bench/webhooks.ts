// `npm run bench webhooks [events]`: events a second to one endpoint, alone and in batches, compared with the same calls without a database.
import { createServer, Agent, request } from "node:http";
import type { AddressInfo } from "node:net";
import { createDatabase, createPool, transaction } from "../server/src/platform/database/database.ts";
import { createLog } from "../server/src/platform/log.ts";
import { recordEvents } from "../server/src/events/events.ts";
import { createApiClient, type ApiClient } from "../e2e/api-client.ts";
import { waitUntil } from "../e2e/wait-until.ts";
import { readNumbers } from "./read-numbers.ts";
import { startDatabase, startOurs, type BenchDatabase, type BenchServer } from "./servers.ts";
import { oneDecimal, print, printTable, whole } from "./table.ts";

const EVENTS = 100_000;
/** Single events are slow, so there are fewer. */
const SINGLE_EVENTS = 10_000;
const RECORDED_AT_ONCE = 1_000;
const CALLS_AT_ONCE = 8;
const BATCHES = [500, 100, 1];
const SETTINGS = { WEBHOOK_ALLOW_PRIVATE: "127.0.0.1", WEBHOOK_ALLOW_PORTS: "1024-65535" };
const MINUTES = 10 * 60_000;

/** Counts the events that it receives, and parses them as a consumer would. */
async function startReceiver() {
  let received = 0;
  let lastBody = "";
  const server = createServer(async (call, response) => {
    const parts: Buffer[] = [];
    for await (const part of call) parts.push(part as Buffer);
    const body = Buffer.concat(parts).toString();
    const { events = [null] } = JSON.parse(body) as { events?: unknown[] };
    received += events.length;
    lastBody = body;
    response.end();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    reset: () => (received = 0),
    received: () => received,
    lastBody: () => lastBody,
    stop: async () => void server.close().closeAllConnections(),
  };
}

type Receiver = Awaited<ReturnType<typeof startReceiver>>;

const secondsSince = (startedAt: number) => (performance.now() - startedAt) / 1_000;

/** Repeats the last call until it carried as many events, over as many connections as an endpoint gets. Returns the seconds. */
async function floor(receiver: Receiver, events: number, batch: number): Promise<number> {
  const body = receiver.lastBody();
  const agent = new Agent({ keepAlive: true, maxSockets: CALLS_AT_ONCE });
  let left = Math.ceil(events / batch);
  const post = () =>
    new Promise<void>((resolve, reject) => {
      const sent = request(receiver.url, { method: "POST", agent }, (response) => {
        response.resume().once("end", resolve);
      });
      sent.once("error", reject).end(body);
    });
  const startedAt = performance.now();
  await Promise.all(
    Array.from({ length: CALLS_AT_ONCE }, async () => {
      while (left-- > 0) await post();
    }),
  );
  agent.destroy();
  return secondsSince(startedAt);
}

/** Records events in the outbox of the stream. */
async function record({ connection }: BenchDatabase, events: number): Promise<void> {
  const log = createLog({ level: "silent" });
  const database = createDatabase(createPool({ connection, maxConnections: 1, log }));
  try {
    const { projectId, id } = await database
      .selectFrom("contacts")
      .select(["projectId", "id"])
      .limit(1)
      .executeTakeFirstOrThrow();
    const data = { orderId: "1042", total: 129.5, plan: "pro" };
    for (let recorded = 0; recorded < events; recorded += RECORDED_AT_ONCE)
      await transaction(database, (tx) =>
        recordEvents(
          tx,
          Array.from({ length: Math.min(RECORDED_AT_ONCE, events - recorded) }, () => ({
            projectId,
            contactId: id,
            name: "order placed",
            data,
          })),
        ),
      );
  } finally {
    await database.destroy();
  }
}

/** Starts the program, runs the work with its client, and stops it. */
async function during<Result>(
  database: BenchDatabase,
  roles: string,
  work: (client: ApiClient) => Promise<Result>,
): Promise<Result> {
  const server = await startOurs(database, { ROLES: roles, ...SETTINGS });
  try {
    return await work(clientOf(server));
  } finally {
    await server.stop();
  }
}

const clientOf = ({ port }: BenchServer) => createApiClient(`http://127.0.0.1:${port}`);

export async function benchWebhooks(): Promise<void> {
  const [events = EVENTS] = readNumbers([EVENTS]);
  const database = await startDatabase();
  const receiver = await startReceiver();
  try {
    await during(database, "api", (client) => client.get("/events/stream"));
    await record(database, events);
    await during(database, "api,worker", async (client) => {
      const startedAt = performance.now();
      const isNumbered = async () =>
        (await client.get<{ lastNumber: number }>("/events/stream?limit=1")).lastNumber >= events;
      await waitUntil("numbers", MINUTES, isNumbered);
      print(`Numbering: ${whole(events / secondsSince(startedAt))} events/s.\n`);
      const rows = [];
      for (const batchSize of BATCHES) rows.push(await measure(client, receiver, { events, batchSize }));
      printTable(["events per call", "events", "events/s", "without a database", "% of it"], rows);
    });
    print("\nTarget: 5,000 events/s to one endpoint.");
  } finally {
    await receiver.stop();
    await database.stop();
  }
}

async function measure(
  client: ApiClient,
  receiver: Receiver,
  { events, batchSize }: { events: number; batchSize: number },
): Promise<string[]> {
  const count = batchSize === 1 ? Math.min(events, SINGLE_EVENTS) : events;
  const body = { url: receiver.url, eventTypes: ["*"], batchSize };
  const { id } = await client.post<{ id: string }>("/webhooks/endpoints", body);
  receiver.reset();
  const startedAt = performance.now();
  await client.post(`/webhooks/endpoints/${id}/replay`, { after: events - count });
  await waitUntil("the last event", MINUTES, () => receiver.received() >= count);
  const speed = count / secondsSince(startedAt);
  await client.call("DELETE", `/webhooks/endpoints/${id}`);
  const best = count / (await floor(receiver, count, batchSize));
  return [String(batchSize), whole(count), whole(speed), whole(best), oneDecimal((100 * speed) / best)];
}
