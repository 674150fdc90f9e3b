// The judge of a finished run: holds what the mail server took against what the API and the database say, recipient by recipient.
// Before it: a case has played and its campaign has ended. After it: a row of the table; every broken promise is a sentence in it.
import { setTimeout as delay } from "node:timers/promises";
import { costOf } from "../../bench/process-cost.ts";
import type { SinkMessage } from "../../server/src/testing/smtp-sink.ts";
import type { ApiClient } from "../api-client.ts";
import { waitUntil } from "../wait-until.ts";
import type { FaultRow } from "./fault-case.ts";
import type { World } from "./world.ts";

export interface Campaign {
  id: string;
  status: string;
  totalRecipients: number;
  sentCount: number;
  failedCount: number;
  skippedCount: number;
  unconfirmedCount: number;
  pendingCount: number;
  startedAt: string | null;
}

export interface Recipient {
  /** The mail. */
  id: string;
  email: string;
  status: string;
  reason: string | null;
  attempts: number;
}

export interface Expectation {
  name: string;
  /** Who should get the campaign. */
  recipients: readonly string[];
  /** The most mails that may be in doubt; default none. */
  mayBeInDoubt?: number;
  /** Whether mails may have failed or been skipped; then each must say why. Default false. */
  mayRemainUnsent?: boolean;
  /** How the campaign must have ended; default SENT. */
  status?: "SENT" | "CANCELLED";
  /** When the answer to an unsubscription came, ms since 1970, by address. */
  unsubscribedAt?: ReadonlyMap<string, number>;
  /** How long a stop may last; default 30 s. */
  recoveryMs?: number;
}

/** Promised: after a crash sending goes on within 30 s. */
const RECOVERY_MS = 30_000;
/** Of a mail whose handover had begun, the dot may be on its way when the unsubscription commits. */
const HANDOVER_MS = 2_000;
const MAX_PROGRAM_BYTES = 600 * 1024 * 1024;
const SAMPLE_MS = 1_000;
const LOOK_MS = 250;
const LISTED = 5;
/** How the program says that an error was caught by nobody. */
const UNCAUGHT = /a bug"|Uncaught|triggerUncaughtException/;

const NOT_MAILED = new Set(["FAILED", "SKIPPED", "UNCONFIRMED"]);
const WAITING = new Set(["QUEUED", "CLAIMED", "SENDING"]);

export const readCampaign = (api: ApiClient, id: string) => api.get<Campaign>(`/campaigns/${id}`);

/** Waits until the campaign has ended, by itself. */
export async function waitForEnd(world: World, campaignId: string, timeoutMs: number): Promise<void> {
  await waitUntil(`the end of campaign ${campaignId}`, timeoutMs, async () => {
    const { status, pendingCount } = await readCampaign(world.api(), campaignId);
    if (status === "SENT" || (status === "CANCELLED" && pendingCount === 0)) return true;
    // Each look counts all its mails.
    await delay(LOOK_MS);
    return false;
  });
}

/** How often each address is in the journal of the mail server. */
export function countMails(journal: readonly SinkMessage[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { recipients } of journal)
    for (const recipient of recipients) counts.set(recipient, (counts.get(recipient) ?? 0) + 1);
  return counts;
}

export interface Sampler {
  /** Stops looking; answers what was wrong meanwhile. */
  stop(): Promise<string[]>;
}

/** Looks at the books of campaigns each second of a run: they balance at every instant, whatever is dying. */
export function startSampler(world: World, campaignIds: readonly string[]): Sampler {
  const faults = new Set<string>();
  const before = new Map<string, Campaign>();
  const ending = new AbortController();
  let peakBytes = 0;

  async function look(id: string): Promise<void> {
    const now = await readCampaign(world.api(), id);
    for (const fault of faultsOfSample(now, before.get(id), world.sink.journal.length)) faults.add(fault);
    before.set(id, now);
  }

  async function run(): Promise<void> {
    while (!ending.signal.aborted) {
      // While programs die nobody answers: that is no fault of the books.
      for (const id of campaignIds) await look(id).catch(() => undefined);
      peakBytes = Math.max(peakBytes, ...world.actors.filter((actor) => actor.isRunning()).map(peakOf));
      await delay(SAMPLE_MS, undefined, { signal: ending.signal }).catch(() => undefined);
    }
  }

  const running = run();
  return {
    async stop() {
      ending.abort();
      await running;
      if (peakBytes > MAX_PROGRAM_BYTES)
        faults.add(`a program held ${Math.round(peakBytes / 2 ** 20)} MB of memory`);
      return [...faults];
    },
  };
}

/** What is wrong with the books at one instant, or with their way there. Pure. */
export function faultsOfSample(now: Campaign, before: Campaign | undefined, mailed: number): string[] {
  const faults: string[] = [];
  const sum = now.sentCount + now.failedCount + now.skippedCount + now.unconfirmedCount + now.pendingCount;
  if (sum !== now.totalRecipients)
    faults.push(`the books do not balance: ${sum} counted, ${now.totalRecipients} recipients`);
  if (now.status === "SENT" && now.pendingCount > 0)
    faults.push(`the campaign is SENT while ${now.pendingCount} mails wait`);
  if (now.sentCount > mailed) faults.push(`${now.sentCount} are counted as sent and ${mailed} were taken`);
  if (before === undefined) return faults;
  if (now.sentCount < before.sentCount)
    faults.push(`the count of sent mails fell from ${before.sentCount} to ${now.sentCount}`);
  if (before.totalRecipients > 0 && now.totalRecipients !== before.totalRecipients)
    faults.push(`the recipients changed from ${before.totalRecipients} to ${now.totalRecipients}`);
  return faults;
}

function peakOf({ pid }: { pid: number }): number {
  try {
    return costOf(pid).peakBytes;
  } catch {
    // It has just ended.
    return 0;
  }
}

/** What is known of a campaign that has ended. */
export interface Evidence {
  /** As the API says it, with its stats. */
  campaign: Campaign;
  stats: Campaign;
  recipients: readonly Recipient[];
  /** What the mail server took of its mails. */
  journal: readonly SinkMessage[];
  /** The mails of its events `email.sent`, as the API lists them: each as often as it is there. */
  sentEvents: readonly string[];
  rows: CampaignRows;
}

/** The rows of the database, counted past the API. */
export interface CampaignRows {
  /** As fixed when the campaign started. */
  fixed: number;
  mails: number;
  addresses: number;
  sent: number;
}

/** Judges a campaign that has ended. `seen` is what the sampler and the case itself found wrong. */
export async function judgeCampaign(
  world: World,
  campaignId: string,
  expected: Expectation,
  seen: readonly string[] = [],
): Promise<FaultRow> {
  const evidence = await gather(world, campaignId);
  const { campaign, recipients, journal } = evidence;
  const recoveryMs = longestStop(world, journal, Date.parse(campaign.startedAt ?? ""));
  const faults = [...seen, ...judgeEvidence(evidence, expected), ...faultsOfPrograms(world)];
  if (recoveryMs !== null && recoveryMs > (expected.recoveryMs ?? RECOVERY_MS))
    faults.push(`sending stood still for ${Math.round(recoveryMs)} ms after a fault`);
  return {
    name: expected.name,
    recipients: recipients.length,
    kills: world.faultsAt.length,
    sent: campaign.sentCount,
    failed: campaign.failedCount + campaign.skippedCount,
    unconfirmed: campaign.unconfirmedCount,
    twice: mailedTwice(journal).length,
    lost: lostOf(evidence).length + Math.max(0, expected.recipients.length - recipients.length),
    recoveryMs,
    faults: [...new Set(faults)],
  };
}

async function gather(world: World, campaignId: string): Promise<Evidence> {
  const api = world.api();
  const campaign = await readCampaign(api, campaignId);
  const stats = await api.get<Campaign>(`/campaigns/${campaignId}/stats`);
  const recipients = await api.listAll<Recipient>(`/campaigns/${campaignId}/recipients`);
  const own = new Set(recipients.map(({ id }) => id));
  const journal = world.sink.journal.filter(({ messageId }) => own.has(emailIdOf(messageId)));
  const sentEvents = await listSentEvents(api, campaign);
  return { campaign, stats, recipients, journal, sentEvents, rows: await countRows(world, campaignId) };
}

async function listSentEvents(api: ApiClient, { id, startedAt }: Campaign): Promise<string[]> {
  const since = startedAt === null ? "" : `&since=${encodeURIComponent(startedAt)}`;
  const events = await api.listAll<{ emailId: string; data: { campaignId?: string } }>(
    `/events?eventName=email.sent${since}`,
  );
  return events.flatMap(({ emailId, data }) => (data.campaignId === id ? [emailId] : []));
}

/** Every broken promise as a sentence. Pure. */
export function judgeEvidence(evidence: Evidence, expected: Expectation): string[] {
  const { recipients, journal } = evidence;
  return [
    ...faultsOfAudience(evidence, expected),
    ...complain(mailedTwice(journal), "recipients were mailed more than once"),
    ...complain(
      lostOf(evidence).map(({ email, status }) => `${email} ${status}`),
      "recipients were lost",
    ),
    ...faultsOfStates(evidence, expected),
    ...faultsOfCounts(evidence),
    ...faultsOfRows(evidence),
    ...faultsOfMessageIds(recipients, journal),
    ...faultsOfUnsubscribed(journal, expected.unsubscribedAt ?? new Map()),
  ];
}

function mailedTwice(journal: readonly SinkMessage[]): string[] {
  return [...countMails(journal)].filter(([, count]) => count > 1).map(([email]) => email);
}

/** Who was not mailed although nothing says so. */
function lostOf({ recipients, journal }: Evidence): Recipient[] {
  const mails = countMails(journal);
  return recipients.filter(({ email, status }) => !mails.has(email) && !NOT_MAILED.has(status));
}

/** `<id@domain>`: the name of a mail is made from its id. */
export function emailIdOf(messageId: string): string {
  return messageId.slice(1, messageId.indexOf("@"));
}

/** `what` and the first of those it is about; nothing where there are none. */
export function complain(about: readonly string[], what: string): string[] {
  if (about.length === 0) return [];
  const more = about.length > LISTED ? ", …" : "";
  return [`${about.length} ${what}: ${about.slice(0, LISTED).join(", ")}${more}`];
}

function faultsOfAudience({ recipients, campaign }: Evidence, expected: Expectation): string[] {
  const addresses = recipients.map(({ email }) => email);
  const known = new Set(addresses);
  const wanted = new Set(expected.recipients);
  const status = expected.status ?? "SENT";
  return [
    ...(campaign.status === status ? [] : [`the campaign is ${campaign.status} and not ${status}`]),
    ...complain(
      [...Map.groupBy(addresses, (email) => email)].flatMap(([email, same]) =>
        same.length > 1 ? [email] : [],
      ),
      "recipients have several rows",
    ),
    ...complain(
      [...wanted].filter((email) => !known.has(email)),
      "who should get it have no row",
    ),
    ...complain(
      [...known].filter((email) => !wanted.has(email)),
      "have a row who should not get it",
    ),
  ];
}

/** What each row says, beside whether the mail server has the mail. */
function faultsOfStates({ recipients, journal }: Evidence, expected: Expectation): string[] {
  const mails = countMails(journal);
  const inDoubt = recipients.filter(({ status }) => status === "UNCONFIRMED");
  const unsent = recipients.filter(({ status }) => status === "FAILED" || status === "SKIPPED");
  const mayBeInDoubt = expected.mayBeInDoubt ?? 0;
  return [
    ...complain(
      recipients.filter(({ status }) => WAITING.has(status)).map(({ email }) => email),
      "still wait",
    ),
    ...complain(
      recipients.filter(({ status, reason }) => NOT_MAILED.has(status) && !reason).map(({ email }) => email),
      "have no reason",
    ),
    ...complain(
      unsent.filter(({ email }) => mails.has(email)).map(({ email, status }) => `${email} ${status}`),
      "were mailed and are booked as not sent",
    ),
    ...(expected.mayRemainUnsent
      ? []
      : complain(
          unsent.map(({ email, reason }) => `${email} (${reason})`),
          "were not sent",
        )),
    ...(inDoubt.length <= mayBeInDoubt
      ? []
      : complain(
          inDoubt.map(({ email }) => email),
          `are in doubt, at most ${mayBeInDoubt} may be`,
        )),
  ];
}

function faultsOfCounts({ campaign, stats, recipients }: Evidence): string[] {
  const count = (...statuses: string[]) =>
    recipients.filter(({ status }) => statuses.includes(status)).length;
  const recount = {
    totalRecipients: recipients.length,
    sentCount: recipients.filter(({ status }) => !NOT_MAILED.has(status) && !WAITING.has(status)).length,
    failedCount: count("FAILED"),
    skippedCount: count("SKIPPED"),
    unconfirmedCount: count("UNCONFIRMED"),
    pendingCount: count(...WAITING),
  };
  return (Object.keys(recount) as Array<keyof typeof recount>).flatMap((name) =>
    campaign[name] === recount[name] && stats[name] === recount[name]
      ? []
      : [`${name} is ${campaign[name]}, in the stats ${stats[name]}, counted ${recount[name]}`],
  );
}

async function countRows(world: World, campaignId: string): Promise<CampaignRows> {
  const [row] = await world.query<{ [Name in keyof CampaignRows]: number }>(
    `select (select total_recipients from campaigns where id = $1) as fixed,
       count(*)::int as mails, count(distinct lower(e.to_address))::int as addresses,
       count(*) filter (where e.sent_at is not null)::int as sent
     from emails e where e.campaign_id = $1`,
    [campaignId],
  );
  if (row === undefined) throw new Error(`the rows of campaign ${campaignId} could not be counted`);
  return row;
}

function faultsOfRows({ campaign, rows, sentEvents }: Evidence): string[] {
  const { fixed, mails, addresses, sent } = rows;
  const { totalRecipients, sentCount } = campaign;
  return [
    ...([mails, addresses, totalRecipients].every((count) => count === fixed)
      ? []
      : [
          `${fixed} recipients were fixed, there are ${mails} mails to ${addresses} addresses, and the API says ${totalRecipients}`,
        ]),
    ...(sent === sentCount && sentEvents.length === sentCount
      ? []
      : [`${sentCount} are sent, ${sent} by their rows and ${sentEvents.length} by their events`]),
    ...complain(
      [...Map.groupBy(sentEvents, (id) => id)].flatMap(([id, same]) => (same.length > 1 ? [id] : [])),
      "mails have several events that they were sent",
    ),
  ];
}

/** A mail has one name, whoever sent it and however often; a name has one recipient. */
function faultsOfMessageIds(recipients: readonly Recipient[], journal: readonly SinkMessage[]): string[] {
  const addressById = new Map(recipients.map(({ id, email }) => [id, email]));
  return complain(
    journal
      .filter(({ messageId, recipients: to }) => to.join() !== addressById.get(emailIdOf(messageId)))
      .map(({ messageId, recipients: to }) => `${messageId} to ${to.join()}`),
    "mails bear the name of another one",
  );
}

function faultsOfUnsubscribed(
  journal: readonly SinkMessage[],
  unsubscribedAt: ReadonlyMap<string, number>,
): string[] {
  return complain(
    journal.flatMap(({ recipients, at }) =>
      recipients.filter((email) => at > (unsubscribedAt.get(email) ?? Infinity) + HANDOVER_MS),
    ),
    "were mailed after they had unsubscribed",
  );
}

/** No program ends by itself, but where a failpoint kills it, and none has an error that nobody caught. */
export function faultsOfPrograms(world: World): string[] {
  const ends = world.unaskedEnds.filter(
    ({ code, settings }) => !(code === null && (settings["FAILPOINTS"] ?? "").includes(":kill")),
  );
  return [
    ...ends.map(({ code, output }) => `a program ended by itself with code ${code}: ${output.slice(-500)}`),
    ...world.actors
      .filter((actor) => UNCAUGHT.test(actor.output()))
      .map((actor) => `a program had an error that nobody caught: ${actor.output().slice(-500)}`),
  ];
}

/** The longest time from a fault since the start to the next mail that was taken; a fault after the last mail stopped nothing. */
function longestStop(world: World, journal: readonly SinkMessage[], startedAt: number): number | null {
  const stops = world.faultsAt.flatMap((faultAt) => {
    const next = faultAt < startedAt ? undefined : journal.find(({ at }) => at > faultAt);
    return next === undefined ? [] : [next.at - faultAt];
  });
  return stops.length === 0 ? null : Math.max(...stops);
}
