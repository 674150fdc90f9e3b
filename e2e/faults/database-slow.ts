// Adds latency, then also limits bandwidth to the database. No lease is lost, nothing is taken over, and the API responds.
import { waitUntil } from "../wait-until.ts";
import { checkCalls, percentileOf, startApiLoad } from "./api-load.ts";
import { startEnvironmentBehindProxy } from "./proxied-environment.ts";
import type { FaultCase, FaultRow, Size } from "./fault-case.ts";
import { faultsOfLeases } from "./lost-leases.ts";
import { checkCampaign, startSampler, waitForEnd } from "./oracle.ts";

const RECIPIENTS: Record<Size, number> = { small: 500, large: 10_000 };
const LATENCY_MS = 50;
const BYTES_PER_SECOND = 200_000;
const LOAD = { track: 50, send: 2 };
/** Limit for `/v1/track`. */
const TRACK_P99_MS = 2_000;
const PROGRESS_TIMEOUT_MS = 60_000;
const END_TIMEOUT_MS = 900_000;

export const databaseSlow: FaultCase = {
  name: "database-slow",
  shows: `the database has ${LATENCY_MS} ms latency each way, then also ${BYTES_PER_SECOND / 1000} kB/s; two senders keep their leases`,
  run: async ({ size }) => [await play(size)],
};

async function play(size: Size): Promise<FaultRow> {
  const { environment, proxy } = await startEnvironmentBehindProxy();
  try {
    const programs = [await environment.start(), await environment.start()];
    const recipients = await environment.importContacts(RECIPIENTS[size]);
    proxy.setWeather({ latencyMs: LATENCY_MS });
    const campaignId = await environment.startCampaign();
    await waitUntil("the first emails", PROGRESS_TIMEOUT_MS, () => environment.sink.journal.length > 0);
    const sampler = startSampler(environment, [campaignId]);
    const load = startApiLoad(environment, LOAD);
    await waitUntil(
      "half of the emails",
      END_TIMEOUT_MS,
      () => environment.sink.journal.length >= recipients.length / 2,
    );
    proxy.setWeather({ latencyMs: LATENCY_MS, bytesPerSecond: BYTES_PER_SECOND });
    await waitForEnd(environment, campaignId, END_TIMEOUT_MS);
    const calls = await load.stop();
    const faults = [...(await checkCalls(environment, calls)), ...(await faultsOfLeases(programs))];
    const p99 = percentileOf(
      calls.filter(({ door }) => door === "track"),
      0.99,
    );
    if (p99 > TRACK_P99_MS) faults.push(`the 99th percentile of /v1/track was ${Math.round(p99)} ms`);
    const name = `database ${LATENCY_MS} ms latency, track p99 ${Math.round(p99)} ms`;
    return await checkCampaign(environment, campaignId, { name, recipients }, [
      ...faults,
      ...(await sampler.stop()),
    ]);
  } finally {
    await environment.close();
    await proxy.close();
  }
}
