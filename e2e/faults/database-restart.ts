// Shuts PostgreSQL down fast, immediately and by kill during a campaign with API calls. Programs must survive, and every 2xx must have
// taken effect.
import { setTimeout as delay } from "node:timers/promises";
import { waitUntil } from "../wait-until.ts";
import { checkCalls, startApiLoad, type ApiLoad, type Call } from "./api-load.ts";
import type { FaultCase, FaultRow, FaultRun, Size } from "./fault-case.ts";
import { checkCampaign, startSampler, waitForEnd } from "./oracle.ts";
import { readPostmasterPid, type Shutdown } from "./shared-database.ts";
import { startEnvironment, type Environment } from "./environment.ts";
import { startEnvironmentBehindProxy } from "./proxied-environment.ts";

const RECIPIENTS: Record<Size, number> = { small: 1_000, large: 50_000 };
const ROUNDS: Record<Size, number> = { small: 2, large: 5 };
/** Slow enough that the campaign outlasts the restarts. */
const SENDS_PER_SECOND: Record<Size, number> = { small: 40, large: 200 };
const LOAD: Record<Size, { track: number; send: number }> = {
  small: { track: 30, send: 5 },
  large: { track: 100, send: 10 },
};
const SHUTDOWNS: readonly Shutdown[] = ["SIGINT", "SIGQUIT", "SIGKILL"];
/** Minimum time until the database is restarted; a random time is added. */
const AWAY_MS = 500;
/** Everything must work again within 10 s. */
const RECOVERY_MS = 10_000;
const PROGRESS_TIMEOUT_MS = 60_000;
const END_TIMEOUT_MS = 600_000;

export const databaseRestart: FaultCase = {
  name: "database-restart",
  shows:
    "PostgreSQL shut down fast, immediately and killed during a campaign with API calls; the embedded one killed too",
  run: async (run) => [await playShared(run), await playEmbedded(run)],
};

/** Uses a separate database behind a proxy that follows it across restarts. */
async function playShared(run: FaultRun): Promise<FaultRow> {
  const { environment, proxy } = await startEnvironmentBehindProxy({ settings: settingsOf(run) });
  try {
    return await play(run, environment, "database restarted", async (how) => {
      await environment.restartDatabase(how, AWAY_MS + run.random() * AWAY_MS);
      proxy.setTarget(Number(new URL(environment.databaseUrl).port));
    });
  } finally {
    await environment.close();
    await proxy.close();
  }
}

/** Uses the embedded database, which the program restarts itself. */
async function playEmbedded(run: FaultRun): Promise<FaultRow> {
  const environment = await startEnvironment({ database: "own", settings: settingsOf(run) });
  try {
    return await play(run, environment, "embedded database killed", async (how) =>
      process.kill(await readPostmasterPid(environment.folder), how),
    );
  } finally {
    await environment.close();
  }
}

const settingsOf = ({ size }: FaultRun) => ({ PROJECT_SENDS_PER_SECOND: String(SENDS_PER_SECOND[size]) });

async function play(
  run: FaultRun,
  environment: Environment,
  name: string,
  restart: (how: Shutdown) => Promise<unknown>,
): Promise<FaultRow> {
  await environment.start();
  const recipients = await environment.importContacts(RECIPIENTS[run.size]);
  const campaignId = await environment.startCampaign();
  await waitUntil("the first emails", PROGRESS_TIMEOUT_MS, () => environment.sink.journal.length > 0);
  const sampler = startSampler(environment, [campaignId]);
  const load = startApiLoad(environment, LOAD[run.size]);
  const faults: string[] = [];
  for (let round = 0; round < ROUNDS[run.size]; round++)
    for (const how of SHUTDOWNS) {
      await delay(500 + run.random() * 1_000);
      await restart(how);
      environment.noteFault();
      faults.push(...(await faultsOfRecovery(load, `after ${how}`)));
    }
  const calls: readonly Call[] = await load.stop();
  await waitForEnd(environment, campaignId, END_TIMEOUT_MS);
  faults.push(...(await checkCalls(environment, calls)));
  const found = [...faults, ...(await sampler.stop())];
  return checkCampaign(environment, campaignId, { name, recipients, recoveryMs: RECOVERY_MS }, found);
}

/** Checks that the API accepts requests again. */
async function faultsOfRecovery(load: ApiLoad, when: string): Promise<string[]> {
  const before = load.acceptedCount();
  const startedMs = performance.now();
  await waitUntil(
    "the API to accept requests again",
    PROGRESS_TIMEOUT_MS,
    () => load.acceptedCount() > before + 10,
  );
  const tookMs = performance.now() - startedMs;
  return tookMs <= RECOVERY_MS ? [] : [`${when} the API took ${Math.round(tookMs)} ms to recover`];
}
