// The sender: claims mails in batches under a lease, prepares them, hands them over, books what came of it.
import type { Database } from "../../platform/database.ts";
import { failpoint } from "../../platform/failpoints.ts";
import type { Log } from "../../platform/log.ts";
import type { Metrics } from "../../platform/metrics.ts";
import { createWakeUp } from "../../platform/wake-up.ts";
import { createDestinationLimits, echoOf, type Echo } from "./destination-limits.ts";
import { BATCH_SIZE } from "../outbox/batch-queries.ts";
import { claim, inTurn } from "./claims.ts";
import { createDoubtBrake, type PauseInDoubt } from "../doubt/doubt-brake.ts";
import { requeueClaimed } from "./lease-queries.ts";
import { createLease } from "./lease.ts";
import { idsOf, noteAttempt, noteUnready } from "./note-attempts.ts";
import type { Feedbacks } from "../booking/outcomes.ts";
import type { Prepared, Ready, Unready } from "./prepare-emails.ts";
import { createInDoubtLimit } from "../handover/in-doubt-limit.ts";
import { pauseDestination } from "../refusals/paused-destinations.ts";
import { createProjectRate } from "./project-rate.ts";
import type { Outcome, Transport } from "../../transports/transport.ts";
import { startQueueMeasure } from "./queue-measure.ts";
import { createRememberedHandovers, type FailoverOptions } from "../handover/remembered-handovers.ts";
import { listDueQueues, releaseUnknown, type ClaimedRow, type DueQueue } from "./sender-queries.ts";
import { createRefusalWatch } from "../refusals/refusal-watch.ts";
import type { RecipientChecks } from "../outbox/recipients.ts";
import { createSenderState, type Batch, type Ending } from "./sender-state.ts";

export interface SenderOptions extends FailoverOptions {
  database: Database;
  transport: Transport;
  /** Where mail of test keys goes, whatever the transport is. */
  mailbox: Transport;
  prepare: (rows: readonly ClaimedRow[]) => Promise<Prepared[]>;
  applyFeedback: Feedbacks;
  recipients: RecipientChecks;
  /** Messages in handover at once, and the most that can be in doubt after a crash. */
  connections: number;
  /** Of a campaign whose handovers get no answer. Default: nothing pauses. */
  pauseInDoubt?: PauseInDoubt;
  /** Of these at most so many to one destination. Default: all. */
  destinationConnections?: number;
  /** Mails of one project a second, by all processes together. Default 0: as many as go. */
  projectSendsPerSecond?: number;
  /** Between two renewals of the lease; shorter in tests. */
  beatMs?: number;
  /** How long what is under way may take when the sender stops; shorter in tests. */
  drainMs?: number;
  /** What this process knows of transports that take no mail. */
  outages?: () => readonly string[];
  log: Log;
  metrics: Metrics;
}

export interface Sender {
  /** Something was enqueued: look now. */
  wake(): void;
  /** Starts nothing new, ends what is in handover, gives the rest back. */
  stop(): Promise<void>;
}

/** Mails claimed of one project at a time: small, so that no project waits long for another's. */
const CLAIM_LIMIT = BATCH_SIZE;
const POLL_MS = 2_000;
/** Between two looks when a project waits for its rate. */
const SHORTEST_WAIT_MS = 50;
const ERROR_PAUSE_MS = 2_000;
const DRAIN_MS = 15_000;
const DRAIN_LOOK_MS = 20;

export async function startSender(options: SenderOptions): Promise<Sender> {
  const { database, transport, mailbox, connections, log } = options;
  const lease = await createLease(options);
  const inDoubtLimit = createInDoubtLimit(connections);
  const brake = createDoubtBrake({ pause: options.pauseInDoubt ?? (async () => undefined), log });
  /** Aborted when nothing passes the handover check any more, and what could not be booked is left in doubt. */
  const ending = new AbortController();
  const { check, books, inDoubt } = createRememberedHandovers({
    ...options,
    lease,
    inDoubtLimit,
    brake,
    ending: ending.signal,
  });
  const rate = createProjectRate(options.projectSendsPerSecond ?? 0);
  const state = createSenderState<ClaimedRow, Ready>(
    connections,
    createDestinationLimits(Math.min(options.destinationConnections ?? connections, connections)),
  );
  const refusals = createRefusalWatch((refused) => pauseDestination(database, refused), log);
  const wakeUp = createWakeUp();
  /** Why mails could not be prepared, until the loop that claims has heard of it. */
  let trouble: Error | null = null;

  async function handOver(mail: Ready): Promise<Outcome> {
    const staysHere = mail.row.staysHere === true;
    if (!staysHere && refusals.isPaused(mail)) return { kind: "withdrawn" };
    const outcome = await (staysHere ? mailbox : transport)
      .send(mail.message, () => check.ask(mail))
      .catch((error: unknown): Outcome => {
        // Only the check throws: nothing was handed over, but the row may say that it is about to be.
        log.warn({ err: error, ...idsOf(mail) }, "a handover could not begin; the mail goes back");
        return { kind: "withdrawn" };
      });
    noteAttempt(mail, outcome, options);
    await brake.tell(mail.row, outcome);
    if (!staysHere) refusals.note(mail, outcome);
    if (outcome.kind === "sent") measure.count();
    return outcome;
  }

  async function book(mail: Ready, outcome: Outcome): Promise<Ending> {
    if (outcome.kind === "withdrawn") return "withdrawn";
    try {
      await books.record(mail, outcome);
      return "booked";
    } catch (error) {
      log.error({ err: error, ...idsOf(mail) }, "an outcome could not be booked; the mail is in doubt");
      return "unbooked";
    }
  }

  /** Hands a mail over, whatever comes of it, and lets the next one go while the outcome is booked. */
  async function serve({ mail, answered }: { mail: Ready; answered: (echo: Echo) => void }): Promise<void> {
    const outcome = await handOver(mail);
    // Whoever answers that it has the message has read all of it; otherwise some of it may still be on its way.
    if (outcome.kind === "sent") mail.message.free?.();
    answered(echoOf(outcome));
    startHandovers();
    const result = await book(mail, outcome);
    check.leave(mail, result !== "unbooked");
    state.ended(mail, result);
    if (state.isWorthALook()) wakeUp.wake();
  }

  function startHandovers(): void {
    for (let next = state.next(); next !== undefined; next = state.next()) void serve(next);
  }

  /** Claims mails of a queue and has them prepared; returns how many there were. */
  async function take(due: DueQueue, limit: number): Promise<number> {
    const claimed = await claim(database, lease.senderId(), due, {
      limit,
      withoutDomains: state.fullDomains(due.priority),
      ...options.recipients,
    });
    await failpoint("claim.after");
    rate.spend(due.projectId, claimed.length);
    const batch = state.admit(claimed);
    if (batch !== null) void prepare(batch);
    return claimed.length;
  }

  /** Puts claimed mails into the ready queue; those that cannot go are booked. Whatever fails, no other stays in hand. */
  async function prepare(batch: Batch<ClaimedRow>): Promise<void> {
    const unready: Unready[] = [];
    try {
      for (const prepared of await options.prepare(batch.rows)) {
        await failpoint("render.after");
        if (prepared.kind === "ready") {
          state.ready(batch, prepared);
          startHandovers();
        } else unready.push(prepared);
      }
      await Promise.all(unready.map(bookUnready));
    } catch (error) {
      trouble = error instanceof Error ? error : new Error(String(error));
    }
    // What is not ready goes back by what is done after a fault.
    state.prepared(batch);
    wakeUp.wake();
  }

  async function bookUnready(mail: Unready): Promise<void> {
    noteUnready(mail, options);
    try {
      await books.recordUnready(mail);
    } catch (error) {
      log.error({ err: error, ...idsOf(mail) }, "a mail that cannot go could not be booked; it goes back");
      state.noteFault();
    }
  }

  /** After a fault: gives back what the database says this process holds and it does not know of. */
  async function giveBackTheRest(): Promise<void> {
    if (!state.takeFault()) return;
    const emailIds = await releaseUnknown(database, lease.senderId(), state.inHand());
    if (emailIds.length > 0) log.warn({ emailIds }, "mails were given back after a fault");
  }

  /** Claims until enough waits for a connection; returns whether there was anything. */
  async function feed(): Promise<boolean> {
    let claimed = 0;
    rate.shareAmong(lease.liveSenders());
    for (const due of inTurn(await listDueQueues(database))) {
      while (state.hasEnough() && !state.isStopping()) await wakeUp.wait(POLL_MS);
      if (state.isStopping() || !lease.isHeld()) return false;
      const limit = Math.min(CLAIM_LIMIT, rate.allowance(due.projectId, due.sendingRate));
      if (limit > 0) claimed += await take(due, limit);
    }
    return claimed > 0;
  }

  /** Until there may be something to claim again. */
  async function rest(): Promise<void> {
    state.rest();
    await wakeUp.wait(Math.min(POLL_MS, Math.max(SHORTEST_WAIT_MS, rate.takeWaitMs())));
    state.claim();
  }

  async function run(): Promise<void> {
    while (!state.isStopping()) {
      try {
        const failure = trouble;
        trouble = null;
        if (failure !== null) throw failure;
        await lease.ensure();
        await giveBackTheRest();
        if (!(await feed())) await rest();
      } catch (error) {
        state.noteFault();
        log.warn({ err: error }, "the sender could not go on; it tries again");
        await wakeUp.pause(ERROR_PAUSE_MS);
      }
    }
  }

  const measure = startQueueMeasure(options);
  const running = run();
  return {
    wake: () => wakeUp.wake(),
    async stop() {
      state.stop();
      void measure.stop();
      wakeUp.wake();
      await running;
      const deadline = performance.now() + (options.drainMs ?? DRAIN_MS);
      while (!state.isIdle() && performance.now() < deadline) await wakeUp.pause(DRAIN_LOOK_MS);
      // Who asks from here on is told no: else a mail could pass that is given back below.
      ending.abort();
      await books.drained();
      // What could not be booked in time stays in doubt, under this sender's name.
      await requeueClaimed(database, lease.senderId(), inDoubt());
      await lease.end();
    },
  };
}
