// Injects a crash, an error and a delay at every failpoint between an import and the end of a campaign (server/src/platform/failpoints.ts).
import { FAILPOINT_NAMES, type FailpointName } from "../../server/src/platform/failpoints.ts";
import type { Sent, Tracked } from "../api-client.ts";
import { waitUntil } from "../wait-until.ts";
import { rowOfFailure, type FaultCase, type FaultRow, type FaultRun } from "./fault-case.ts";
import { emailIdOf } from "./evidence.ts";
import { checkCampaign, startSampler, waitForEnd } from "./oracle.ts";
import { DOMAIN, startEnvironment, type Actor, type Environment } from "./environment.ts";

const RECIPIENTS = 500;
/** Scenes mostly wait for leases to expire, so run several in parallel. */
const SCENES_AT_ONCE = 4;
/** After the first turn, tests one chosen by the seed, or all of these while they are reached. */
const LATEST_TURN = 40;
const LARGE_TURNS = [1, 2, 3, 5, 8, 13, 21, 34, 55, 89, 144, 233, 377];
const END_TIMEOUT_MS = 120_000;

/** Simultaneous submissions. With more than one, a crash leaves other emails in doubt as well. */
const CONNECTIONS = 4;
/** At the first turn of these failpoints no submission has begun, so nothing may be in doubt. */
const BEFORE_SUBMISSION: ReadonlySet<FailpointName> = new Set([
  "claim.after",
  "render.after",
  "sending.before_commit",
]);
/** These failpoints never run during submission. */
const APART_FROM_SUBMISSION: ReadonlySet<FailpointName> = new Set([
  "import.step",
  "event.before_commit",
  "event.after_commit",
  "snapshot.mid",
  "snapshot.before_commit",
  "finish.before",
]);

interface Step {
  name: FailpointName;
  action: "kill" | "throw" | "delay";
  turn: number;
}

export const killAtStep: FaultCase = {
  name: "kill-at-step",
  shows:
    "a crash, an error and a delay at every step of a campaign, an email and an event; only emails in submission are in doubt",
  async run(run) {
    const sweeps = FAILPOINT_NAMES.flatMap((name) => [
      turnsOf(run).map((turn): Step => ({ name, action: "kill", turn })),
      [{ name, action: "delay", turn: 1 } as const],
      // After an event's commit only the response can fail.
      ...(name === "event.after_commit"
        ? []
        : [[1, 3].map((turn): Step => ({ name, action: "throw", turn }))]),
    ]);
    const rows: FaultRow[] = [];
    await Promise.all(
      Array.from({ length: SCENES_AT_ONCE }, async () => {
        for (let sweep = sweeps.shift(); sweep !== undefined; sweep = sweeps.shift())
          rows.push(...(await playSweep(sweep)));
      }),
    );
    return rows.toSorted((one, other) => one.name.localeCompare(other.name));
  },
};

function turnsOf({ size, random }: FaultRun): number[] {
  return size === "large" ? LARGE_TURNS : [1, 2 + Math.floor(random() * (LATEST_TURN - 1))];
}

/** Tests one failpoint at later and later turns until a run does not reach it. */
async function playSweep(steps: readonly Step[]): Promise<FaultRow[]> {
  const rows: FaultRow[] = [];
  for (const step of steps) {
    const name = `${step.name} ${step.action} ${step.turn}`;
    const { row, wasReached } = await playStep(name, step).catch((error: unknown) => ({
      row: rowOfFailure(name, error),
      wasReached: true,
    }));
    if (!wasReached && step.turn > 1) return row.faults.length > 0 ? [...rows, row] : rows;
    rows.push(wasReached ? row : { ...row, faults: [...row.faults, "the step was never reached"] });
  }
  return rows;
}

async function playStep(sceneName: string, step: Step): Promise<{ row: FaultRow; wasReached: boolean }> {
  const { name, action, turn } = step;
  const environment = await startEnvironment({ connections: CONNECTIONS });
  try {
    const victim = await environment.start({ FAILPOINTS: `${name}:${action}:${turn}`, LOG_LEVEL: "info" });
    const succession = Promise.allSettled([succeed(environment, victim)]);
    const recipients = await environment.importContacts(RECIPIENTS);
    const event = await environment.insist<Tracked>("/v1/track", { email: recipients[1], event: "seen" });
    const campaignId = await environment.startCampaign();
    const mail = await environment.insist<Sent>("/v1/send", {
      from: `us@${DOMAIN}`,
      to: recipients[0],
      subject: "Receipt",
      body: "<p>Paid</p>",
    });
    const sampler = startSampler(environment, [campaignId]);
    await waitForEnd(environment, campaignId, END_TIMEOUT_MS);
    const mayBeInDoubt = inDoubtAt(step);
    const seen = [
      ...(await faultsOfMail(environment, mail.data.emails[0]?.email ?? "", mayBeInDoubt > 0)),
      ...(await faultsOfEvent(environment, event.data)),
      ...(await sampler.stop()),
    ];
    const wasReached = victim.isRunning()
      ? action === "delay" || victim.output().includes(`the failpoint ${name} was reached`)
      : (await succession).every(({ status }) => status === "fulfilled");
    const row = await checkCampaign(
      environment,
      campaignId,
      { name: sceneName, recipients, mayBeInDoubt },
      seen,
    );
    return { row, wasReached };
  } finally {
    await environment.close();
  }
}

/** Returns how many of the campaign's emails may be in doubt. */
function inDoubtAt({ name, action, turn }: Step): number {
  if (action === "delay") return 0;
  // An error is recorded or rolled back, so only an error after the dot leaves doubt.
  if (action === "throw") return name === "dot.after" ? 1 : 0;
  if (APART_FROM_SUBMISSION.has(name) || (turn === 1 && BEFORE_SUBMISSION.has(name))) return 0;
  return CONNECTIONS;
}

/** Restarts a crashed program without its failpoint. */
async function succeed(environment: Environment, victim: Actor): Promise<void> {
  await victim.ended;
  if (environment.unaskedEnds.length > 0) await environment.start();
}

/** Checks the transactional email, which is always sent. If it was in doubt, it may be sent a second time with the same Message-ID. */
async function faultsOfMail(environment: Environment, id: string, mayBeTwice: boolean): Promise<string[]> {
  await waitUntil("the end of the single email", END_TIMEOUT_MS, async () => {
    const { status } = await environment.api().get<{ status: string }>(`/emails/${id}`);
    return status === "SENT";
  });
  const count = environment.sink.journal.filter(({ messageId }) => emailIdOf(messageId) === id).length;
  return count === 1 || (count === 2 && mayBeTwice) ? [] : [`the single email was accepted ${count} times`];
}

/** Checks that the confirmed event exists exactly once, although the call may have been retried. */
async function faultsOfEvent(environment: Environment, responded: Tracked["data"]): Promise<string[]> {
  const events = await environment.api().listAll<{ id: string; contactId: string }>("/events?eventName=seen");
  const isThere = events.some(
    ({ id, contactId }) => id === responded.event && contactId === responded.contact,
  );
  return isThere && events.length === 1 ? [] : [`the event exists ${events.length} times`];
}
