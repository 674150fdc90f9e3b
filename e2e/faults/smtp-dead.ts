// Mail servers that die or fall silent in every phase: what surely was not taken leaves later, what may have been taken is in doubt by
// name.
// The time limits themselves, minutes long, are tested in smtp-phases.test.ts.
import { setTimeout as delay } from "node:timers/promises";
import type { SinkPhase, SinkRule } from "../../server/src/testing/smtp-sink-rules.ts";
import { waitUntil } from "../wait-until.ts";
import type { FaultCase, FaultRow, FaultRun, Size } from "./fault-case.ts";
import { complain, type Recipient } from "./evidence.ts";
import { judgeCampaign, readCampaign, startSampler, waitForEnd } from "./oracle.ts";
import { startWorld, type World } from "./world.ts";

const RECIPIENTS: Record<Size, number> = { small: 1_000, large: 20_000 };
/** Slow enough that much is left when the server changes. */
const SENDS_PER_SECOND: Record<Size, number> = { small: 100, large: 1_000 };
/** How often each phase dies in each way. */
const TIMES: Record<Size, number> = { small: 3, large: 30 };
/** More than there are phases to be silent in, so that the others get through. */
const CONNECTIONS = 20;
/** Connection, EHLO and TLS may take so long; then the mail goes back. */
const SHORT_LIMIT_MS = 30_000;
const SLACK_MS = 10_000;
const PROGRESS_TIMEOUT_MS = 120_000;
const END_TIMEOUT_MS = 600_000;

/** Before the dot: nobody can have the mail. */
const BEFORE_DOT: readonly SinkPhase[] = ["EHLO", "STARTTLS", "TLS", "MAIL", "RCPT", "DATA", "BODY"];

export const smtpDead: FaultCase = {
  name: "smtp-dead",
  shows:
    "connections refused, dropped, reset and silent in every phase, with TLS; sockets that went stale while nothing was sent",
  run: async (run) => [await playDead(run), await playSilent(run), await playStale(run)],
};

const startWithTls = (rules: readonly SinkRule[], settings: Readonly<Record<string, string>> = {}) =>
  startWorld({ connections: CONNECTIONS, advertise: { startTls: true }, rules, settings });

/** Connections that end, in each phase: before the dot, after it without the mail, and after it with the mail. */
async function playDead({ size }: FaultRun): Promise<FaultRow> {
  const times = TIMES[size];
  const world = await startWithTls([
    { phase: "CONNECT", times, action: "reset" },
    { phase: "CONNECT", skip: times, times, action: "drop" },
    ...BEFORE_DOT.flatMap((phase): SinkRule[] => [
      { phase, times, action: "drop" },
      { phase, skip: times, times, action: "reset" },
    ]),
    // Apart from each other: some in a row would pause the campaign. Late, so that none of them was tried before.
    { phase: "DOT", recipient: /^person[89]\d*\d7@/, times, action: "drop" },
    { phase: "DOT", recipient: /^person[89]\d*\d3@/, times, action: "reset", accept: true },
  ]);
  return play(world, size, { name: "connections end", inDoubt: times * 2, whileAway: async () => undefined });
}

/** Servers that take the connection and say nothing more, in each phase at once. */
async function playSilent({ size }: FaultRun): Promise<FaultRow> {
  const world = await startWithTls([], { PROJECT_SENDS_PER_SECOND: String(SENDS_PER_SECOND[size]) });
  return play(world, size, {
    name: "servers fall silent",
    // Silent after the dot; and while the message came, which is short enough to be on its way as a whole, dot and all.
    inDoubt: 2,
    async whileAway(campaignId) {
      await startAnew(world, campaignId, [
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
        const { sentCount, totalRecipients } = await readCampaign(world.api(), campaignId);
        return sentCount >= totalRecipients - silent;
      });
      // MAIL and what follows have minutes, as the RFC wants it; greeting, EHLO and TLS half a minute.
      const inMail = 5;
      await waitUntil(
        "the short limits",
        SHORT_LIMIT_MS + SLACK_MS,
        async () => (await countHeld(world)) <= inMail,
      );
      if (performance.now() - startedMs < SHORT_LIMIT_MS / 2) throw new Error("no server was silent");
      world.sink.dropConnections();
      await waitUntil("all to be let go", SLACK_MS, async () => (await countHeld(world)) === 0);
    },
  });
}

/** How many mails senders have in hand. */
async function countHeld(world: World): Promise<number> {
  return (await world.query("select id from emails where status = 'CLAIMED'")).length;
}

/** In mid-campaign, with nothing in hand, the server closes every kept connection and behaves by these rules from then on. */
async function startAnew(world: World, campaignId: string, rules: readonly SinkRule[]): Promise<void> {
  const api = world.api();
  await waitUntil("some mails", PROGRESS_TIMEOUT_MS, () => world.sink.journal.length >= 200);
  await api.post(`/campaigns/${campaignId}/pause`, {});
  await waitUntil("nothing in hand", PROGRESS_TIMEOUT_MS, async () => (await countHeld(world)) === 0);
  world.sink.dropConnections();
  world.sink.setRules(rules);
  await api.post(`/campaigns/${campaignId}/resume`, {});
}

/** The server closed what was kept while nothing was to be sent: the next mails notice it, and none needs a second attempt. */
async function playStale({ size }: FaultRun): Promise<FaultRow> {
  const world = await startWithTls([], { PROJECT_SENDS_PER_SECOND: String(SENDS_PER_SECOND[size]) });
  return play(world, size, {
    name: "kept sockets go stale",
    inDoubt: 0,
    async whileAway(campaignId) {
      // And a kept one that dies at the first word of the next mail.
      await startAnew(world, campaignId, [{ phase: "MAIL", skip: 60, times: 1, action: "drop" }]);
      await waitForEnd(world, campaignId, END_TIMEOUT_MS);
      const again = await world.query<{ emailId: string }>("select email_id from email_attempts");
      if (again.length > 0) throw new Error(`${again.length} mails needed another attempt`);
    },
  });
}

interface Scene {
  name: string;
  /** So many mails are in doubt, neither more nor fewer. */
  inDoubt: number;
  whileAway(campaignId: string): Promise<void>;
}

async function play(world: World, size: Size, scene: Scene): Promise<FaultRow> {
  try {
    await world.start();
    const recipients = await world.importContacts(RECIPIENTS[size]);
    const campaignId = await world.startCampaign();
    const sampler = startSampler(world, [campaignId]);
    await scene.whileAway(campaignId);
    await endSoon(world, campaignId);
    const faults = await sampler.stop();
    const inDoubt = await world
      .api()
      .listAll<Recipient>(`/campaigns/${campaignId}/recipients?status=UNCONFIRMED`);
    if (inDoubt.length !== scene.inDoubt)
      faults.push(`${inDoubt.length} mails are in doubt and not ${scene.inDoubt}`);
    faults.push(
      ...complain(
        inDoubt.filter(({ attempts }) => attempts !== 1).map(({ email }) => email),
        "were tried again although they were in doubt",
      ),
    );
    const expected = { name: scene.name, recipients, mayBeInDoubt: scene.inDoubt };
    return await judgeCampaign(world, campaignId, expected, faults);
  } finally {
    await world.close();
  }
}

/** What waits for its next attempt is made due at once: half a minute, two, ten would pass otherwise. */
async function endSoon(world: World, campaignId: string): Promise<void> {
  const ending = waitForEnd(world, campaignId, END_TIMEOUT_MS).then(() => true);
  while (!(await Promise.race([ending, delay(1_000, false)])))
    await world.query("update emails set due_at = now() where status = 'QUEUED' and due_at > now()");
}
