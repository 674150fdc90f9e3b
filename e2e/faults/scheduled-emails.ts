// Kills every process while scheduled emails become due within one minute. Each leaves once, not early, and within the project's rate.
import { setTimeout as delay } from "node:timers/promises";
import type { Reply } from "../api-client.ts";
import { waitUntil } from "../wait-until.ts";
import { addressOf, DOMAIN, startEnvironment, type Environment } from "./environment.ts";
import { complain, countMails, mailedTwice } from "./evidence.ts";
import type { FaultCase, FaultRow, FaultRun } from "./fault-case.ts";
import { faultsOfPrograms } from "./oracle.ts";

const EMAILS = { small: 3_000, large: 100_000 };
const KILLS = { small: 5, large: 10 };
/** The first is due when all are stored. */
const FIRST_MS = { small: 30_000, large: 600_000 };
const SPAN_MS = 60_000;
/** Emails a second of the project, over all processes. */
const RATE = { small: 100, large: 1_000 };
const BATCH = 500;
const CONNECTIONS = 10;
const CANCELLED_SHARE = 0.02;
const CANCELS_AT_ONCE = 8;
const RESPONSE_TIMEOUT_MS = 60_000;
const END_TIMEOUT_MS = 1_200_000;
/** Times are written with different offsets from UTC, and one of them is not a whole number of hours. */
const OFFSETS_MINUTES = [0, 120, -300, 345];
/** A limit by second may start with a second's worth. */
const RATE_WINDOW_MS = 10_000;

export const scheduledEmails: FaultCase = {
  name: "scheduled-emails",
  shows: "kills of all processes while emails become due; each is sent once, none early, and no canceled one",
  run: async (run) => [await play(run)],
};

interface BatchResult {
  /** Missing if the email was rejected. */
  data?: { emails: Array<{ email: string }> };
}

interface Scheduled {
  id: string;
  address: string;
  dueMs: number;
}

async function play({ size, random }: FaultRun): Promise<FaultRow> {
  const [count, kills] = [EMAILS[size], KILLS[size]];
  const environment = await startEnvironment({
    connections: CONNECTIONS,
    settings: { PROJECT_SENDS_PER_SECOND: String(RATE[size]) },
  });
  try {
    await environment.start();
    // A project that retries an email in doubt may send it twice (docs/decisions/0031-emails-in-doubt.md).
    await environment.query("update project_queues set when_in_doubt = 'WAIT'");
    const firstMs = Date.now() + FIRST_MS[size];
    const scheduled = await scheduleAll(environment, count, () => Math.round(firstMs + random() * SPAN_MS));
    const [isLate, toCancel] = [Date.now() > firstMs, scheduled.filter(() => random() < CANCELLED_SHARE)];
    await delay(firstMs - Date.now());
    const cancelling = cancelAll(environment, toCancel);
    for (let kill = 1; kill <= kills; kill++) {
      await delay((random() * 2 * SPAN_MS) / kills);
      await environment.killAll();
      await Promise.all([environment.start(), environment.start()]);
    }
    const neverSent = await cancelling;
    await waitUntil("the last email", END_TIMEOUT_MS, async () => {
      const [row] = await environment.query<{ left: boolean }>(
        "select exists (select from emails where status in ('QUEUED', 'CLAIMED')) as left",
      );
      return row?.left === false;
    });
    const found = isLate
      ? ["the first email was due before all were stored, so the kills proved little"]
      : [];
    return await judge(environment, { scheduled, neverSent, kills, rate: RATE[size], found });
  } finally {
    await environment.close();
  }
}

/** Schedules the emails in batches that are repeated until a program responds. */
async function scheduleAll(
  environment: Environment,
  count: number,
  dueOf: () => number,
): Promise<Scheduled[]> {
  const scheduled: Scheduled[] = [];
  for (let from = 0; from < count; from += BATCH) {
    const batch = Array.from({ length: Math.min(BATCH, count - from) }, (_, at) => ({
      address: addressOf(from + at),
      dueMs: dueOf(),
    }));
    const { data } = await environment.insist<{ data: { results: BatchResult[] } }>("/v1/send/batch", {
      emails: batch.map(({ address, dueMs }, at) => ({
        to: address,
        from: `shop@${DOMAIN}`,
        subject: "Your reminder",
        body: "<p>It is time.</p>",
        scheduledFor: withOffset(dueMs, OFFSETS_MINUTES[at % OFFSETS_MINUTES.length] ?? 0),
      })),
    });
    for (const [at, one] of batch.entries()) {
      const id = data.results[at]?.data?.emails[0]?.email;
      if (id === undefined) throw new Error(`Email ${from + at} was not accepted.`);
      scheduled.push({ ...one, id });
    }
  }
  return scheduled;
}

const two = (value: number) => String(value).padStart(2, "0");

/** Returns a time with an offset from UTC, such as `2026-10-25T02:30:00.000+05:45`. */
function withOffset(ms: number, minutes: number): string {
  const [sign, size] = [minutes < 0 ? "-" : "+", Math.abs(minutes)];
  const local = new Date(ms + minutes * 60_000).toISOString().slice(0, -1);
  return `${local}${sign}${two(Math.floor(size / 60))}:${two(size % 60)}`;
}

/** Cancels emails while others are sent. Returns those that, according to the response, were not and never will be sent. */
async function cancelAll(environment: Environment, emails: readonly Scheduled[]): Promise<Scheduled[]> {
  const neverSent: Scheduled[] = [];
  const left = [...emails];
  await Promise.all(
    Array.from({ length: CANCELS_AT_ONCE }, async () => {
      for (let one = left.pop(); one !== undefined; one = left.pop()) {
        const response = await cancel(environment, one.id);
        if (response.status === 200 && response.body.neverSent) neverSent.push(one);
      }
    }),
  );
  return neverSent;
}

/** Cancels an email, and repeats the call until a program responds. */
async function cancel(environment: Environment, id: string): Promise<Reply<{ neverSent: boolean }>> {
  return waitUntil(`a response about email ${id}`, RESPONSE_TIMEOUT_MS, async () => {
    const reply = await environment.api().call<{ neverSent: boolean }>("POST", `/emails/${id}/cancel`, {});
    return reply.status < 500 && reply;
  });
}

interface Run {
  scheduled: readonly Scheduled[];
  neverSent: readonly Scheduled[];
  kills: number;
  rate: number;
  found: readonly string[];
}

async function judge(
  environment: Environment,
  { scheduled, neverSent, kills, rate, found }: Run,
): Promise<FaultRow> {
  const { journal } = environment.sink;
  const mails = countMails(journal);
  const dueAt = new Map(scheduled.map(({ address, dueMs }) => [address, dueMs]));
  const rows = await environment.query<{ address: string; status: string }>(
    "select to_address as address, status from emails",
  );
  const withStatus = (...statuses: string[]) => rows.filter(({ status }) => statuses.includes(status));
  const ended = new Map(rows.map(({ address, status }) => [address, status]));
  const lost = scheduled.filter(
    ({ address }) => !mails.has(address) && !["SKIPPED", "UNCONFIRMED"].includes(ended.get(address) ?? ""),
  );
  const skipped = withStatus("SKIPPED").length;
  const early = journal.filter(({ at, recipients: [to = ""] }) => at < (dueAt.get(to) ?? Infinity));
  const inDoubt = withStatus("UNCONFIRMED").length;
  const mayBeInDoubt = 2 * kills * environment.connections;
  const most = mostWithin(journal.map(({ at }) => at));
  const mayLeave = (rate * (RATE_WINDOW_MS + 1_000)) / 1_000;
  const faults = [
    ...found,
    ...complain(
      lost.map(({ address }) => `${address} ${ended.get(address)}`),
      "emails were not sent",
    ),
    ...complain(mailedTwice(journal), "recipients were mailed more than once"),
    ...complain(
      early.map(({ recipients }) => recipients.join()),
      "emails were sent early",
    ),
    ...complain(
      neverSent.filter(({ address }) => mails.has(address)).map(({ address }) => address),
      "canceled emails were sent",
    ),
    ...(neverSent.length <= skipped && neverSent.length > 0
      ? []
      : [`${neverSent.length} emails were canceled, and ${skipped} are skipped`]),
    ...(rows.length === scheduled.length
      ? []
      : [`${rows.length} emails are stored for ${scheduled.length} calls`]),
    ...(inDoubt <= mayBeInDoubt ? [] : [`${inDoubt} emails are in doubt, at most ${mayBeInDoubt} may be`]),
    ...(most <= mayLeave ? [] : [`${most} emails left within 10 s, at most ${mayLeave} may`]),
    ...faultsOfPrograms(environment),
  ];
  return {
    name: `scheduled, ${kills} kills`,
    recipients: scheduled.length,
    kills: environment.faultsAt.length,
    sent: withStatus("SENT").length,
    failed: skipped + withStatus("FAILED").length,
    unconfirmed: inDoubt,
    twice: mailedTwice(journal).length,
    lost: lost.length,
    recoveryMs: null,
    faults,
  };
}

/** Returns the largest number of times within the window of the rate. */
function mostWithin(times: readonly number[]): number {
  const sorted = times.toSorted((one, other) => one - other);
  let from = 0;
  let most = 0;
  for (const [at, time] of sorted.entries()) {
    while (time - (sorted[from] ?? time) > RATE_WINDOW_MS) from++;
    most = Math.max(most, at - from + 1);
  }
  return most;
}
