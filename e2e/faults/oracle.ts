// Judges a run: samples its counts while it lasts, then collects and checks the evidence.
import { setTimeout as delay } from "node:timers/promises";
import { costOf } from "../../bench/process-cost.ts";
import type { SinkMessage } from "../../server/src/testing/smtp-sink-rules.ts";
import type { ApiClient } from "../api-client.ts";
import { waitUntil } from "../wait-until.ts";
import {
  emailIdOf,
  faultsOfSample,
  checkEvidence,
  lostOf,
  mailedTwice,
  type Campaign,
  type CampaignRows,
  type Evidence,
  type Expectation,
  type Recipient,
} from "./evidence.ts";
import type { FaultRow } from "./fault-case.ts";
import type { Environment } from "./environment.ts";

/** Sending must resume within 30 s after a crash. */
const RECOVERY_MS = 30_000;
const MAX_PROGRAM_BYTES = 600 * 1024 * 1024;
const SAMPLE_MS = 1_000;
const POLL_MS = 250;
/** The program's log output for an uncaught error. */
const UNCAUGHT = /a bug"|Uncaught|triggerUncaughtException/;

export const readCampaign = (api: ApiClient, id: string) => api.get<Campaign>(`/campaigns/${id}`);

/** Waits until the campaign has ended on its own. */
export async function waitForEnd(
  environment: Environment,
  campaignId: string,
  timeoutMs: number,
): Promise<void> {
  await waitUntil(`the end of campaign ${campaignId}`, timeoutMs, async () => {
    const { status, pendingCount } = await readCampaign(environment.api(), campaignId);
    if (status === "SENT" || (status === "CANCELLED" && pendingCount === 0)) return true;
    // Every poll counts all of its emails.
    await delay(POLL_MS);
    return false;
  });
}

export interface Sampler {
  /** Stops sampling. Returns the faults found. */
  stop(): Promise<string[]>;
}

/** Samples the campaigns' counts every second. They must balance at every instant, even during crashes. */
export function startSampler(environment: Environment, campaignIds: readonly string[]): Sampler {
  const faults = new Set<string>();
  const before = new Map<string, Campaign>();
  const ending = new AbortController();
  let peakBytes = 0;

  async function look(id: string): Promise<void> {
    const now = await readCampaign(environment.api(), id);
    for (const fault of faultsOfSample(now, before.get(id), environment.sink.journal.length))
      faults.add(fault);
    before.set(id, now);
  }

  async function run(): Promise<void> {
    while (!ending.signal.aborted) {
      // The API is down while programs are killed, which is no fault.
      for (const id of campaignIds) await look(id).catch(() => undefined);
      peakBytes = Math.max(peakBytes, ...environment.actors.filter((actor) => actor.isRunning()).map(peakOf));
      await delay(SAMPLE_MS, undefined, { signal: ending.signal }).catch(() => undefined);
    }
  }

  const running = run();
  return {
    async stop() {
      ending.abort();
      await running;
      if (peakBytes > MAX_PROGRAM_BYTES)
        faults.add(`a program used ${Math.round(peakBytes / 2 ** 20)} MB of memory`);
      return [...faults];
    },
  };
}

function peakOf({ pid }: { pid: number }): number {
  try {
    return costOf(pid).peakBytes;
  } catch {
    // The process has just ended.
    return 0;
  }
}

/** Judges an ended campaign. `seen` lists the faults found by the sampler and the case. */
export async function checkCampaign(
  environment: Environment,
  campaignId: string,
  expected: Expectation,
  seen: readonly string[] = [],
): Promise<FaultRow> {
  const evidence = await gather(environment, campaignId);
  const { campaign, recipients, journal } = evidence;
  const recoveryMs = longestStop(environment, journal, Date.parse(campaign.startedAt ?? ""));
  const faults = [...seen, ...checkEvidence(evidence, expected), ...faultsOfPrograms(environment)];
  if (recoveryMs !== null && recoveryMs > (expected.recoveryMs ?? RECOVERY_MS))
    faults.push(`sending stopped for ${Math.round(recoveryMs)} ms after a fault`);
  return {
    name: expected.name,
    recipients: recipients.length,
    kills: environment.faultsAt.length,
    sent: campaign.sentCount,
    failed: campaign.failedCount + campaign.skippedCount,
    unconfirmed: campaign.unconfirmedCount,
    twice: mailedTwice(journal).length,
    lost: lostOf(evidence).length + Math.max(0, expected.recipients.length - recipients.length),
    recoveryMs,
    faults: [...new Set(faults)],
  };
}

async function gather(environment: Environment, campaignId: string): Promise<Evidence> {
  const api = environment.api();
  const campaign = await readCampaign(api, campaignId);
  const stats = await api.get<Campaign>(`/campaigns/${campaignId}/stats`);
  const recipients = await api.listAll<Recipient>(`/campaigns/${campaignId}/recipients`);
  const own = new Set(recipients.map(({ id }) => id));
  const journal = environment.sink.journal.filter(({ messageId }) => own.has(emailIdOf(messageId)));
  const sentEvents = await listSentEvents(api, campaign);
  return { campaign, stats, recipients, journal, sentEvents, rows: await countRows(environment, campaignId) };
}

async function listSentEvents(api: ApiClient, { id, startedAt }: Campaign): Promise<string[]> {
  const since = startedAt === null ? "" : `&since=${encodeURIComponent(startedAt)}`;
  const events = await api.listAll<{ emailId: string; data: { campaignId?: string } }>(
    `/events?eventName=email.sent${since}`,
  );
  return events.flatMap(({ emailId, data }) => (data.campaignId === id ? [emailId] : []));
}

async function countRows(environment: Environment, campaignId: string): Promise<CampaignRows> {
  const [row] = await environment.query<{ [Name in keyof CampaignRows]: number }>(
    `select c.total_recipients as fixed, count(e.id)::int as mails, count(distinct lower(e.to_address))::int as addresses,
       count(*) filter (where e.sent_at is not null)::int as sent
     from campaigns c left join emails e on e.project_id = c.project_id and e.campaign_id = c.id
     where c.id = $1 group by c.project_id, c.total_recipients`,
    [campaignId],
  );
  if (row === undefined) throw new Error(`the rows of campaign ${campaignId} could not be counted`);
  return row;
}

/** Checks that no program ended unless a failpoint killed it, and that none logged an uncaught error. */
export function faultsOfPrograms(environment: Environment): string[] {
  const ends = environment.unaskedEnds.filter(
    ({ code, settings }) => !(code === null && (settings["FAILPOINTS"] ?? "").includes(":kill")),
  );
  return [
    ...ends.map(
      ({ code, output }) => `a program ended unexpectedly with code ${code}: ${output.slice(-500)}`,
    ),
    ...environment.actors
      .filter((actor) => UNCAUGHT.test(actor.output()))
      .map((actor) => `a program had an uncaught error: ${actor.output().slice(-500)}`),
  ];
}

/** Returns the longest time from a fault to the next accepted email. Faults after the last email stopped nothing. */
function longestStop(
  environment: Environment,
  journal: readonly SinkMessage[],
  startedAt: number,
): number | null {
  const stops = environment.faultsAt.flatMap((faultAt) => {
    const next = faultAt < startedAt ? undefined : journal.find(({ at }) => at > faultAt);
    return next === undefined ? [] : [next.at - faultAt];
  });
  return stops.length === 0 ? null : Math.max(...stops);
}
