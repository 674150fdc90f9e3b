// `npm run bench logins [logins]`: that many people log in at the same moment, from as many networks, while another project tracks.
import { setTimeout as delay } from "node:timers/promises";
import { createApiClient } from "../e2e/api-client.ts";
import { BOOTSTRAP, startProgram } from "../e2e/program.ts";
import { percentile, startGentleLoad } from "./latency.ts";
import { costOf } from "./process-cost.ts";
import { readNumbers } from "./read-numbers.ts";
import { settingsOf, startDatabase } from "./servers.ts";
import { oneDecimal, print, printTable, progress, whole } from "./table.ts";

const LOGINS = 200;
const ROUNDS = 3;
const TRACKED_PER_SECOND = 50;
const QUIET_MS = 5_000;
const MEGABYTE = 1024 * 1024;

interface Round {
  /** Status → how many logins were answered with it. */
  statuses: ReadonlyMap<number, number>;
  lastMs: number;
  trackedMs: readonly number[];
}

export async function benchLogins(): Promise<void> {
  const [logins = LOGINS] = readNumbers([LOGINS]);
  const database = await startDatabase();
  try {
    const program = await startProgram({
      ...BOOTSTRAP,
      ...settingsOf(database),
      ROLES: "api",
      API_RATE_LIMIT_PER_MINUTE: "0",
      // Each login says where it comes from: one network alone would be refused.
      TRUST_PROXY: "loopback",
    });
    try {
      const api = createApiClient(program.url);
      const track = () => api.post("/v1/track", { email: "person-000000001@example.com", event: "seen" });
      progress("quiet");
      const quiet = startGentleLoad(TRACKED_PER_SECOND, track);
      await delay(QUIET_MS);
      const quietMs = await quiet.stop();
      const before = costOf(program.pid).residentBytes;
      const rounds: Round[] = [];
      for (let round = 1; round <= ROUNDS; round++) {
        progress(`round ${round} of ${ROUNDS}`);
        rounds.push(await logInAtOnce(program.url, logins, track));
      }
      show({ logins, quietMs, rounds, before, peak: costOf(program.pid).peakBytes });
    } finally {
      await program.stop();
    }
  } finally {
    await database.stop();
  }
}

async function logInAtOnce(url: string, logins: number, track: () => Promise<unknown>): Promise<Round> {
  const tracked = startGentleLoad(TRACKED_PER_SECOND, track);
  const startedMs = performance.now();
  const body = JSON.stringify({
    email: BOOTSTRAP.BOOTSTRAP_EMAIL,
    password: BOOTSTRAP.BOOTSTRAP_PASSWORD,
  });
  const answers = await Promise.all(
    Array.from({ length: logins }, async (_, at) => {
      const headers = {
        "content-type": "application/json",
        "x-forwarded-for": `203.0.${at >> 8}.${at & 255}`,
      };
      const reply = await fetch(`${url}/auth/login`, { method: "POST", headers, body });
      await reply.arrayBuffer();
      return reply.status;
    }),
  );
  const lastMs = performance.now() - startedMs;
  const counts = [...Map.groupBy(answers, (status) => status)].map(
    ([status, all]) => [status, all.length] as const,
  );
  return { statuses: new Map(counts), lastMs, trackedMs: await tracked.stop() };
}

const latency = (values: readonly number[]) => [
  whole(values.length),
  oneDecimal(percentile(values, 0.5)),
  oneDecimal(percentile(values, 0.99)),
  oneDecimal(percentile(values, 1)),
];

function show(seen: {
  logins: number;
  quietMs: readonly number[];
  rounds: readonly Round[];
  before: number;
  peak: number;
}): void {
  const { logins, quietMs, rounds, before, peak } = seen;
  printTable(
    ["", "answers", "last login s", "tracked", "track p50 ms", "p99 ms", "longest ms"],
    [
      ["nobody logs in", "", "", ...latency(quietMs)],
      ...rounds.map(({ statuses, lastMs, trackedMs }) => [
        `${whole(logins)} at once`,
        [...statuses].map(([status, count]) => `${count} × ${status}`).join(", "),
        oneDecimal(lastMs / 1_000),
        ...latency(trackedMs),
      ]),
    ],
  );
  print(
    `\nMemory of the process: ${whole(before / MEGABYTE)} MB before, ${whole(peak / MEGABYTE)} MB at most.`,
  );
}
