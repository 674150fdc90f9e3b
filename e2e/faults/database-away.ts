// Cuts the network between program and database silently for a while.
import { setTimeout as delay } from "node:timers/promises";
import { createApiClient } from "../api-client.ts";
import { waitUntil } from "../wait-until.ts";
import { checkCalls, startApiLoad } from "./api-load.ts";
import type { FaultCase, FaultRow, Size } from "./fault-case.ts";
import { complain, emailIdOf } from "./evidence.ts";
import { checkCampaign, startSampler, waitForEnd } from "./oracle.ts";
import { startEnvironmentBehindProxy } from "./proxied-environment.ts";
import type { Environment } from "./environment.ts";

const RECIPIENTS: Record<Size, number> = { small: 1_000, large: 20_000 };
const AWAY_MS: Record<Size, number> = { small: 30_000, large: 90_000 };
/** Slow enough that the campaign is still running when the database goes away. */
const SENDS_PER_SECOND: Record<Size, number> = { small: 50, large: 200 };
const LOAD = { track: 10, send: 2 };
const PROGRESS_TIMEOUT_MS = 60_000;
const END_TIMEOUT_MS = 600_000;
/** Emails that already passed their pre-send check are sent within this time. */
const SUBMISSION_MS = 2_000;
const HEALTH_MS = 5_000;

export const databaseBlackhole: FaultCase = {
  name: "database-blackhole",
  shows:
    "the database is unreachable for a while; nothing is sent without its commit, the API returns errors, everything resumes afterwards",
  run: async ({ size }) => [await playBlackhole(size)],
};

async function playBlackhole(size: Size): Promise<FaultRow> {
  const settings = { PROJECT_SENDS_PER_SECOND: String(SENDS_PER_SECOND[size]) };
  const { environment, proxy } = await startEnvironmentBehindProxy({ settings });
  try {
    const program = await environment.start();
    const recipients = await environment.importContacts(RECIPIENTS[size]);
    const campaignId = await environment.startCampaign();
    const sampler = startSampler(environment, [campaignId]);
    await waitUntil("the first emails", PROGRESS_TIMEOUT_MS, () => environment.sink.journal.length >= 100);
    // From now on these contacts are callers, no recipients.
    const load = startApiLoad(environment, LOAD);
    const peakBefore = proxy.peakConnectionCount();

    proxy.setWeather({ isBlackhole: true });
    const awayAt = Date.now();
    await delay(SUBMISSION_MS);
    const faults = [...(await faultsOfCheck(environment)), ...(await faultsOfHealth(program.url))];
    await delay(AWAY_MS[size] - (Date.now() - awayAt));
    faults.push(...(await faultsOfCheck(environment)));
    const left = environment.sink.journal.filter(({ at }) => at > awayAt + SUBMISSION_MS);
    faults.push(
      ...complain(
        left.map(({ messageId }) => messageId),
        "emails were sent while no commit was possible",
      ),
    );
    proxy.setWeather({});
    environment.noteFault();
    await waitUntil("the program to be ready again", PROGRESS_TIMEOUT_MS, async () => {
      return (await createApiClient(program.url).call("GET", "/ready")).status === 200;
    });

    await waitForEnd(environment, campaignId, END_TIMEOUT_MS);
    const calls = await load.stop();
    faults.push(...(await checkCalls(environment, calls)));
    if (proxy.peakConnectionCount() > Math.max(peakBefore, MAX_CONNECTIONS))
      faults.push(`${proxy.peakConnectionCount()} database connections were opened`);
    const name = `database away ${AWAY_MS[size] / 1000} s`;
    return await checkCampaign(environment, campaignId, { name, recipients }, [
      ...faults,
      ...(await sampler.stop()),
    ]);
  } finally {
    await environment.close();
    await proxy.close();
  }
}

/** A program's pool (main.ts), one health check connection, and one that listens for hints (decision 0037). */
const MAX_CONNECTIONS = 18;

/** Each email at the mail server must have its submission committed, so none may be waiting, only claimed or in a batch. */
async function faultsOfCheck(environment: Environment): Promise<string[]> {
  const ids = environment.sink.journal.map(({ messageId }) => emailIdOf(messageId));
  const rows = await environment.query<{ id: string; status: string }>(
    `select i.id, coalesce(e.status, 'in a batch') as status
     from unnest($1::uuid[]) as i (id) left join emails e on e.id = i.id
     where (e.id is null or e.status in ('QUEUED', 'CLAIMED'))
       and not exists (select 1 from senders s where s.id = e.sender_id and i.id = any(s.in_doubt))`,
    [ids],
  );
  return complain(
    rows.map(({ id, status }) => `${id} ${status}`),
    "emails were sent without a committed submission",
  );
}

async function faultsOfHealth(url: string): Promise<string[]> {
  const ask = async (path: string, expected: number) => {
    const startedMs = performance.now();
    const { status } = await createApiClient(url).call("GET", path);
    const tookMs = Math.round(performance.now() - startedMs);
    if (status === expected && tookMs <= HEALTH_MS + 1_000) return [];
    return [`${path} returned ${status} after ${tookMs} ms while the database was away`];
  };
  return (await Promise.all([ask("/health", 200), ask("/ready", 503)])).flat();
}
