// Starts many programs simultaneously on a database that is empty, still down, or drops connections. Each becomes ready, and one account is
// created.
import { setTimeout as delay } from "node:timers/promises";
import { createApiClient } from "../api-client.ts";
import { BOOTSTRAP, makeDataFolder, startProgram, type Program } from "../program.ts";
import { startChaosProxy, throughProxy, type ChaosProxy } from "./chaos-proxy.ts";
import type { FaultCase, FaultRow, FaultRun, Size } from "./fault-case.ts";
import { startSharedDatabase, type SharedDatabase } from "./shared-database.ts";
import { CamelCaseClient } from "../../server/src/platform/database/column-names.ts";

const PROGRAMS = 4;
const ROUNDS: Record<Size, number> = { small: 1, large: 10 };
/** Shorter than the minute that programs wait for their database. */
const DOWN_MS = 4_000;
/** Duration of the cut connections, at random intervals. */
const CUTTING_MS = 3_000;
const MAX_PAUSE_MS = 150;
/** A port without a listener. */
const NOWHERE = 1;

export const firstStarts: FaultCase = {
  name: "first-starts",
  shows: `${PROGRAMS} simultaneous first starts on a database that is empty, still down, or drops connections; each becomes ready, one account is created`,
  run: async (run) => [
    await play(run, "simultaneous first starts", async () => undefined),
    await play(run, "database not up yet", async ({ proxy, database }) => {
      proxy.setTarget(NOWHERE);
      await delay(DOWN_MS * (0.5 + run.random()));
      proxy.setTarget(portOf(database));
    }),
    await play(run, "connections cut", ({ database }) => cutConnections(database, run.random)),
  ],
};

interface Scene {
  database: SharedDatabase;
  proxy: ChaosProxy;
}

async function play(
  run: FaultRun,
  name: string,
  disturb: (scene: Scene) => Promise<void>,
): Promise<FaultRow> {
  const faults: string[] = [];
  for (let round = 0; round < ROUNDS[run.size]; round++) faults.push(...(await playOnce(disturb)));
  const none = { recipients: 0, kills: 0, sent: 0, failed: 0, unconfirmed: 0, twice: 0, lost: 0 };
  return { name, ...none, recoveryMs: null, faults };
}

async function playOnce(disturb: (scene: Scene) => Promise<void>): Promise<string[]> {
  const folder = await makeDataFolder();
  const database = await startSharedDatabase(folder.path);
  const proxy = await startChaosProxy(portOf(database));
  const settings = {
    ...BOOTSTRAP,
    DATABASE_URL: throughProxy(database.url(), proxy),
    APP_SECRET: "one secret for all the processes",
  };
  const programs: Program[] = [];
  try {
    const [started] = await Promise.all([
      Promise.allSettled(Array.from({ length: PROGRAMS }, () => startProgram(settings))),
      disturb({ database, proxy }),
    ]);
    programs.push(...started.flatMap((one) => (one.status === "fulfilled" ? [one.value] : [])));
    const faults = started.flatMap((one) => (one.status === "rejected" ? [String(one.reason)] : []));
    for (const { url } of programs) faults.push(...(await faultsOfApi(url)));
    return [...faults, ...(await faultsOfAccounts(database))];
  } finally {
    await Promise.all(programs.map((program) => program.kill()));
    await proxy.close();
    await database.stop();
    await folder.remove();
  }
}

/** Checks that the configured key works on each program. */
async function faultsOfApi(url: string): Promise<string[]> {
  const { status } = await createApiClient(url).call("GET", "/contacts");
  return status === 200 ? [] : [`a call with the configured key returned ${status}`];
}

async function faultsOfAccounts(database: SharedDatabase): Promise<string[]> {
  const counts = await ask<{ users: number; projects: number }>(
    database,
    "select (select count(*)::int from users) as users, (select count(distinct project_id)::int from api_keys) as projects",
  );
  const isOnce = counts[0]?.users === 1 && counts[0].projects === 1;
  return isOnce
    ? []
    : [`the first account and project were not created exactly once: ${JSON.stringify(counts)}`];
}

async function cutConnections(database: SharedDatabase, random: () => number): Promise<void> {
  const endsMs = performance.now() + CUTTING_MS;
  while (performance.now() < endsMs) {
    await delay(random() * MAX_PAUSE_MS);
    await ask(
      database,
      "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'postloft'",
    );
  }
}

async function ask<Row extends object>(database: SharedDatabase, statement: string): Promise<Row[]> {
  const client = new CamelCaseClient({ connectionString: database.url() });
  await client.connect();
  try {
    return (await client.query<Row>(statement)).rows;
  } finally {
    await client.end();
  }
}

function portOf(database: SharedDatabase): number {
  return Number(new URL(database.url()).port);
}
