// Kills or silences mail servers in every phase. Emails that were surely not accepted are retried, and others are in doubt.
// smtp-phases.test.ts covers the time limits of several minutes.
import { setTimeout as delay } from "node:timers/promises";
import type { SinkPhase, SinkRule } from "../../server/src/testing/smtp-sink-rules.ts";
import { waitUntil } from "../wait-until.ts";
import type { FaultCase, FaultRow, FaultRun, Size } from "./fault-case.ts";
import { complain, type Recipient } from "./evidence.ts";
import { checkCampaign, readCampaign, startSampler, waitForEnd } from "./oracle.ts";
import { startEnvironment, type Environment } from "./environment.ts";

const RECIPIENTS: Record<Size, number> = { small: 1_000, large: 20_000 };
/** Slow enough that many emails remain when the server changes. */
const SENDS_PER_SECOND: Record<Size, number> = { small: 100, large: 1_000 };
/** Number of ended connections per phase and way of ending. */
const TIMES: Record<Size, number> = { small: 3, large: 30 };
/** More than the silent phases, so that other emails get through. */
const CONNECTIONS = 20;
/** Time limit for connection, EHLO and TLS, after which the email is released. */
const SHORT_LIMIT_MS = 30_000;
const SLACK_MS = 10_000;
const PROGRESS_TIMEOUT_MS = 120_000;
const END_TIMEOUT_MS = 600_000;

/** Phases before the dot, in which no server can have accepted the email. */
const BEFORE_DOT: readonly SinkPhase[] = ["EHLO", "STARTTLS", "TLS", "MAIL", "RCPT", "DATA", "BODY"];

export const smtpDead: FaultCase = {
  name: "smtp-dead",
  shows:
    "connections refused, dropped, reset and silent in every phase, with TLS; idle sockets that went stale",
  run: async (run) => [await playDead(run), await playSilent(run), await playStale(run)],
};

const startWithTls = (rules: readonly SinkRule[], settings: Readonly<Record<string, string>> = {}) =>
  startEnvironment({ connections: CONNECTIONS, advertise: { startTls: true }, rules, settings });

/** Ends connections in each phase: before the dot, after it without the email, and after it with the email. */
async function playDead({ size }: FaultRun): Promise<FaultRow> {
  const times = TIMES[size];
  const environment = await startWithTls([
    { phase: "CONNECT", times, action: "reset" },
    { phase: "CONNECT", skip: times, times, action: "drop" },
    ...BEFORE_DOT.flatMap((phase): SinkRule[] => [
      { phase, times, action: "drop" },
      { phase, skip: times, times, action: "reset" },
    ]),
    // Spread out, because several in a row would pause the campaign. Late, so that none was tried before.
    { phase: "DOT", recipient: /^person[89]\d*\d7@/, times, action: "drop" },
    { phase: "DOT", recipient: /^person[89]\d*\d3@/, times, action: "reset", accept: true },
  ]);
  return play(environment, size, {
    name: "connections end",
    inDoubt: times * 2,
    whileAway: async () => undefined,
  });
}

/** Accepts connections and then stays silent, with one server per phase. */
async function playSilent({ size }: FaultRun): Promise<FaultRow> {
  const environment = await startWithTls([], { PROJECT_SENDS_PER_SECOND: String(SENDS_PER_SECOND[size]) });
  return play(environment, size, {
    name: "servers fall silent",
    // One is silent after the dot, the other while receiving the message, which is short enough to be sent completely.
    inDoubt: 2,
    async whileAway(campaignId) {
      await restartWithRules(environment, campaignId, [
        ...(["CONNECT", ...BEFORE_DOT] as const).map((phase): SinkRule => ({
          phase,
          times: 1,
          action: "silent",
        })),
        { phase: "DOT", times: 1, action: "silent" },
      ]);
      const startedMs = performance.now();
      const silent = BEFORE_DOT.length + 2;
      await waitUntil("the others to get through", PROGRESS_TIMEOUT_MS, async () => {
        const { sentCount, totalRecipients } = await readCampaign(environment.api(), campaignId);
        return sentCount >= totalRecipients - silent;
      });
      // MAIL and later phases have limits of several minutes (RFC 5321), while greeting, EHLO and TLS have 30 s.
      const inMail = 5;
      await waitUntil(
        "the short limits",
        SHORT_LIMIT_MS + SLACK_MS,
        async () => (await countClaimed(environment)) <= inMail,
      );
      if (performance.now() - startedMs < SHORT_LIMIT_MS / 2) throw new Error("no server was silent");
      environment.sink.dropConnections();
      await waitUntil("all to be released", SLACK_MS, async () => (await countClaimed(environment)) === 0);
    },
  });
}

/** Returns the number of claimed emails. */
async function countClaimed(environment: Environment): Promise<number> {
  return (await environment.query("select id from emails where status = 'CLAIMED'")).length;
}

/** Pauses the campaign until nothing is claimed, then closes all idle connections and applies new rules. */
async function restartWithRules(
  environment: Environment,
  campaignId: string,
  rules: readonly SinkRule[],
): Promise<void> {
  const api = environment.api();
  await waitUntil("some emails", PROGRESS_TIMEOUT_MS, () => environment.sink.journal.length >= 200);
  await api.post(`/campaigns/${campaignId}/pause`, {});
  await waitUntil(
    "no claimed emails",
    PROGRESS_TIMEOUT_MS,
    async () => (await countClaimed(environment)) === 0,
  );
  environment.sink.dropConnections();
  environment.sink.setRules(rules);
  await api.post(`/campaigns/${campaignId}/resume`, {});
}

/** The server closes idle connections. The next emails notice, and none needs a second attempt. */
async function playStale({ size }: FaultRun): Promise<FaultRow> {
  const environment = await startWithTls([], { PROJECT_SENDS_PER_SECOND: String(SENDS_PER_SECOND[size]) });
  return play(environment, size, {
    name: "idle sockets go stale",
    inDoubt: 0,
    async whileAway(campaignId) {
      // One kept connection also dies at the next email's first command.
      await restartWithRules(environment, campaignId, [
        { phase: "MAIL", skip: 60, times: 1, action: "drop" },
      ]);
      await waitForEnd(environment, campaignId, END_TIMEOUT_MS);
      const again = await environment.query<{ emailId: string }>("select email_id from email_attempts");
      if (again.length > 0) throw new Error(`${again.length} emails needed another attempt`);
    },
  });
}

interface Scene {
  name: string;
  /** The exact number of emails in doubt. */
  inDoubt: number;
  whileAway(campaignId: string): Promise<void>;
}

async function play(environment: Environment, size: Size, scene: Scene): Promise<FaultRow> {
  try {
    await environment.start();
    const recipients = await environment.importContacts(RECIPIENTS[size]);
    const campaignId = await environment.startCampaign();
    const sampler = startSampler(environment, [campaignId]);
    await scene.whileAway(campaignId);
    await endSoon(environment, campaignId);
    const faults = await sampler.stop();
    const inDoubt = await environment
      .api()
      .listAll<Recipient>(`/campaigns/${campaignId}/recipients?status=UNCONFIRMED`);
    if (inDoubt.length !== scene.inDoubt)
      faults.push(`${inDoubt.length} emails are in doubt and not ${scene.inDoubt}`);
    faults.push(
      ...complain(
        inDoubt.filter(({ attempts }) => attempts !== 1).map(({ email }) => email),
        "emails in doubt were retried",
      ),
    );
    const expected = { name: scene.name, recipients, mayBeInDoubt: scene.inDoubt };
    return await checkCampaign(environment, campaignId, expected, faults);
  } finally {
    await environment.close();
  }
}

/** Makes waiting emails due immediately, because retries would otherwise take 30 s, 2 min and 10 min. */
async function endSoon(environment: Environment, campaignId: string): Promise<void> {
  const ending = waitForEnd(environment, campaignId, END_TIMEOUT_MS).then(() => true);
  while (!(await Promise.race([ending, delay(1_000, false)])))
    await environment.query("update emails set due_at = now() where status = 'QUEUED' and due_at > now()");
}
