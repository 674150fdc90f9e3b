// `npm run bench track`: durable tracked events a second, compared with the naive way and with no database.
import { createDatabase, createPool } from "../server/src/platform/database/database.ts";
import { createLog } from "../server/src/platform/log.ts";
import { SECRET_KEY } from "../e2e/program.ts";
import { COMPARISON_HEAD, createComparison, NAIVE, NO_DATABASE } from "./compare.ts";
import { recountAll, countingShare } from "./counting.ts";
import { ADDRESS_NUMBER, makeRequest, UNIQUE_NUMBER } from "./request.ts";
import { startDatabase, startOurs, startRival, type BenchDatabase, type BenchServer } from "./servers.ts";
import { oneDecimal, print, printTable } from "./table.ts";

const CONNECTIONS = [64, 256];
const ROUNDS = 4;

function trackRequest(data: object) {
  return makeRequest("/v1/track", SECRET_KEY, {
    email: `person-${ADDRESS_NUMBER}@example.com`,
    event: "order placed",
    data,
  });
}

/** The unique number changes the contact with each request. */
const TRACK_REQUESTS = {
  "unchanged data": trackRequest({ plan: "pro" }),
  "changing data": trackRequest({ plan: "pro", order: UNIQUE_NUMBER, total: 129.5 }),
};

export async function benchTrack(): Promise<void> {
  const closing: Array<() => Promise<void>> = [];
  try {
    const databases = [await startDatabase(), await startDatabase(), await startDatabase()] as const;
    closing.push(...databases.map((database) => () => database.stop()));
    const servers: Record<string, BenchServer> = {
      [NO_DATABASE]: await startRival(null),
      [NAIVE]: await startRival(databases[0]),
      "naive, prepared": await startRival(databases[1], true),
      ours: await startOurs(databases[2], { ROLES: "api" }),
    };
    closing.push(...Object.values(servers).map((server) => () => server.stop()));
    const rows: string[][] = [];
    const compareServers = createComparison(ROUNDS);
    for (const connections of CONNECTIONS) {
      for (const [data, request] of Object.entries(TRACK_REQUESTS)) {
        const compared = await compareServers(connections, request, servers);
        rows.push(...compared.map((row) => [String(connections), data, ...row]));
      }
    }
    printTable(["connections", "contact", "server", ...COMPARISON_HEAD], rows);
    await printCounting(databases[2]);
    print(
      "\nTargets: ours at least 5 × naive and 55 % of no database, p99 at most 60 ms, at 256 connections.",
    );
  } finally {
    for (const close of closing.toReversed()) await close();
  }
}

/** Prints the worker's counting cost, which is not part of the comparison. */
async function printCounting({ connection }: BenchDatabase): Promise<void> {
  const database = createDatabase(
    createPool({ connection, maxConnections: 1, log: createLog({ level: "silent" }) }),
  );
  try {
    const countedMs = await recountAll(database);
    const { count } = await database
      .selectFrom("events")
      .select((select) => select.fn.countAll<number>().as("count"))
      .executeTakeFirstOrThrow();
    const msPerThousand = (1_000 * countedMs) / count;
    print(
      `\nCounting takes ${oneDecimal(msPerThousand)} µs per event: ${countingShare(msPerThousand, 1_000)} % of the cores for each 1,000 a second.`,
    );
  } finally {
    await database.destroy();
  }
}
