// `npm run bench track`: tracked events a second, durable, beside the naive way and beside no database at all.
// Before it: bench.ts. After it: a table; what it must show is in docs/benchmarks.md.
import { SECRET_KEY } from "../e2e/program.ts";
import { COMPARISON_HEAD, createComparison, NAIVE, NO_DATABASE } from "./compare.ts";
import { ADDRESS_NUMBER, makeRequest, UNIQUE_NUMBER } from "./request.ts";
import { startDatabase, startOurs, startRival, type BenchServer } from "./servers.ts";
import { print, printTable } from "./table.ts";

const CONNECTIONS = [64, 256];
const ROUNDS = 4;

function trackRequest(data: object) {
  return makeRequest("/v1/track", SECRET_KEY, {
    email: `person-${ADDRESS_NUMBER}@example.com`,
    event: "order placed",
    data,
  });
}

/** A number that is another in every request changes the contact each time. */
const REQUESTS = {
  "data as it was": trackRequest({ plan: "pro" }),
  "data changes": trackRequest({ plan: "pro", order: UNIQUE_NUMBER, total: 129.5 }),
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
      for (const [data, request] of Object.entries(REQUESTS)) {
        const compared = await compareServers(connections, request, servers);
        rows.push(...compared.map((row) => [String(connections), data, ...row]));
      }
    }
    printTable(["connections", "contact", "server", ...COMPARISON_HEAD], rows);
    print("\nBars: ours at least 5 × naive and 55 % of no database, p99 at most 60 ms, at 256 connections.");
  } finally {
    for (const close of closing.toReversed()) await close();
  }
}
