// Kills every process while events are numbered and delivered to endpoints that fail at random. Each event arrives, also in order if asked.
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { ApiClient } from "../api-client.ts";
import { waitUntil } from "../wait-until.ts";
import { addressOf, startEnvironment, type Environment } from "./environment.ts";
import type { FaultCase, FaultRow, FaultRun } from "./fault-case.ts";
import { faultsOfPrograms } from "./oracle.ts";

const EVENTS = { small: 4_000, large: 100_000 };
const KILLS = { small: 5, large: 20 };
const CALLERS = 32;
const PEOPLE = 500;
const BATCH = { small: 50, large: 500 };
const PROGRESS_TIMEOUT_MS = 120_000;
const END_TIMEOUT_MS = 1_200_000;
/** The shares of calls that are answered with an error, and that are cut off after they were accepted. */
const [FAILED, CUT] = [0.1, 0.02];
const SETTINGS = { WEBHOOK_ALLOW_PRIVATE: "127.0.0.1", WEBHOOK_ALLOW_PORTS: "1024-65535" };

interface Arrived {
  id: string;
  type: string;
  number: number;
}

/** An endpoint and the events that it accepted, in the order of arrival, with repeats. */
interface Endpoint {
  path: string;
  settings: object;
  accepted: Arrived[];
}

export const eventWebhooks: FaultCase = {
  name: "event-webhooks",
  shows:
    "kills of all processes while endpoints fail at random; each event arrives, in order where it is asked for",
  run: async (run) => [await play(run)],
};

async function startReceiver(endpoints: readonly Endpoint[], random: () => number) {
  const server = createServer(async (request, response) => {
    let body = "";
    for await (const part of request) body += String(part);
    const endpoint = endpoints.find(({ path }) => path === request.url);
    if (endpoint === undefined) return void response.writeHead(404).end();
    const chance = random();
    if (chance < FAILED) return void response.writeHead(503).end();
    const message = JSON.parse(body) as { events?: Arrived[] } & Arrived;
    endpoint.accepted.push(...(message.events ?? [message]));
    if (chance < FAILED + CUT) return void request.socket.destroy();
    response.writeHead(204).end();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () => void server.close().closeAllConnections(),
  };
}

async function play({ size, random }: FaultRun): Promise<FaultRow> {
  const [events, kills, batchSize] = [EVENTS[size], KILLS[size], BATCH[size]];
  const endpoints: Endpoint[] = [
    { path: "/ordered", settings: { ordered: true, batchSize }, accepted: [] },
    { path: "/batches", settings: { batchSize }, accepted: [] },
  ];
  const receiver = await startReceiver(endpoints, random);
  const environment = await startEnvironment({ database: "own", settings: SETTINGS });
  try {
    await environment.start();
    for (const { path, settings } of endpoints)
      await environment.insist("/webhooks/endpoints", {
        url: receiver.url + path,
        eventTypes: ["fault.*"],
        ...settings,
      });
    const tracking = trackAll(environment, events);
    for (let kill = 1; kill <= kills; kill++) {
      const before = countAccepted(endpoints);
      const more = 1 + Math.floor((random() * events) / kills);
      await waitUntil(
        `events before kill ${kill}`,
        PROGRESS_TIMEOUT_MS,
        () => countAccepted(endpoints) >= before + more,
      );
      await environment.killAll();
      await environment.start();
    }
    await tracking;
    await waitUntil("the last event", END_TIMEOUT_MS, () =>
      endpoints.every(({ accepted }) => new Set(accepted.map(({ id }) => id)).size >= events),
    );
    return await judge(environment, endpoints, { events, kills });
  } finally {
    await environment.close();
    receiver.close();
  }
}

const countAccepted = (endpoints: readonly Endpoint[]) =>
  endpoints.reduce((sum, { accepted }) => sum + accepted.length, 0);

/** Tracks each event once, over all kills. */
async function trackAll(environment: Environment, events: number): Promise<void> {
  let next = 0;
  await Promise.all(
    Array.from({ length: CALLERS }, async () => {
      for (let number = next++; number < events; number = next++)
        await environment.insist("/v1/track", {
          email: addressOf(number % PEOPLE),
          event: `fault.${number}`,
        });
    }),
  );
}

async function judge(
  environment: Environment,
  endpoints: readonly Endpoint[],
  { events, kills }: { events: number; kills: number },
): Promise<FaultRow> {
  const stream = await readStream(environment.api());
  const tracked = stream.filter(({ type }) => type.startsWith("fault."));
  const names = new Set(tracked.map(({ type }) => type));
  const gaps = stream.filter(({ number }, at) => number !== at + 1).length;
  const results = endpoints.map((endpoint) => faultsOfEndpoint(endpoint, tracked));
  const faults = [
    ...(gaps === 0 ? [] : [`${gaps} numbers are out of place in the stream`]),
    ...(tracked.length === events && names.size === events
      ? []
      : [`the stream has ${tracked.length} events with ${names.size} names instead of ${events}`]),
    ...results.flatMap((result) => result.faults),
    ...faultsOfPrograms(environment),
  ];
  const lost = results.reduce((sum, result) => sum + result.lost, 0);
  return {
    name: `event-webhooks × ${kills}`,
    recipients: events,
    kills: environment.faultsAt.length,
    sent: events - lost,
    failed: 0,
    unconfirmed: 0,
    // A repeated event is allowed and has the same id.
    twice: 0,
    lost,
    recoveryMs: null,
    faults,
  };
}

/** Returns what an endpoint missed, and whether an event that it asked for in order came before an earlier one. */
function faultsOfEndpoint({ path, settings, accepted }: Endpoint, tracked: readonly Arrived[]) {
  const idOf = new Map(accepted.map(({ number, id }) => [number, id]));
  const missing = tracked.filter(({ number, id }) => idOf.get(number) !== id).length;
  const first = [...new Set(accepted.map(({ number }) => number))];
  const isOrdered = "ordered" in settings;
  const early = isOrdered ? first.filter((number, at) => number < (first[at - 1] ?? 0)).length : 0;
  return {
    lost: missing,
    faults: [
      ...(missing === 0 ? [] : [`${path} missed ${missing} events`]),
      ...(early === 0 ? [] : [`${path} got ${early} events after later ones`]),
    ],
  };
}

async function readStream(api: ApiClient): Promise<Arrived[]> {
  const found: Arrived[] = [];
  for (let hasMore = true; hasMore;) {
    const after = found.at(-1)?.number ?? 0;
    const page = await api.get<{ events: Arrived[]; hasMore: boolean }>(
      `/events/stream?after=${after}&limit=1000`,
    );
    found.push(...page.events);
    hasMore = page.hasMore;
  }
  return found;
}
