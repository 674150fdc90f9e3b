// Claims emails in batches under a lease, prepares and submits them, and records the results.
import type { Database } from "../../platform/database/database.ts";
import type { ProjectSource } from "../../platform/database/cluster.ts";
import { failpoint } from "../../platform/failpoints.ts";
import type { Log } from "../../platform/log.ts";
import type { Metrics } from "../../platform/metrics.ts";
import { subscribe } from "../../platform/notify.ts";
import { createWakeUp } from "../../platform/background/wake-up.ts";
import { echoOf } from "./destination-limits.ts";
import { BATCH_SIZE } from "../outbox/batch-queries.ts";
import { claim, inTurn } from "./claims.ts";
import { createDoubtBrake, type PauseInDoubt } from "../doubt/doubt-brake.ts";
import { requeueClaimed } from "../lease/lease-queries.ts";
import { createLease } from "../lease/lease.ts";
import { idsOf, addAttempt, addUnready } from "./record-attempts.ts";
import type { Feedbacks } from "../results/outcomes.ts";
import type { Prepared, Ready, Unready } from "../rows/prepared.ts";
import { createInDoubtLimits } from "../submission/in-doubt-limit.ts";
import { pauseDestination } from "../throttling/throttled-domains.ts";
import { createProjectRate } from "./project-rate.ts";
import type { Outcome, Transport } from "../../transports/transport.ts";
import { startQueueMeasure } from "./queue-measure.ts";
import { createRememberedSubmissions, type FailoverOptions } from "../submission/remembered-submissions.ts";
import { listDueQueues, type DueQueue } from "./due-queue-queries.ts";
import { releaseUnknown } from "./sender-queries.ts";
import type { ClaimedRow } from "../rows/claimed-queries.ts";
import { createRejectionMonitor } from "../throttling/rejection-watch.ts";
import type { RecipientChecks } from "../rows/recipients.ts";
import { feedChannels } from "./feed-channels.ts";
import { createChannels, type Channel, type Started } from "./channels.ts";
import { PROJECT_CONNECTIONS } from "../../transports/own/url.ts";
import type { Batch, Ending } from "./sender-state.ts";

export interface SenderOptions extends FailoverOptions, ProjectSource {
  database: Database;
  transport: Transport;
  /** Transport for emails of test keys, whichever transport is configured. */
  mailbox: Transport;
  prepare: (rows: readonly ClaimedRow[]) => Promise<Prepared[]>;
  applyFeedback: Feedbacks;
  recipients: RecipientChecks;
  /** Concurrent submissions, which is also the limit on emails in doubt after a crash. */
  connections: number;
  /** Pauses a campaign that gets no reply to its submissions. By default nothing is paused. */
  pauseInDoubt?: PauseInDoubt;
  /** Maximum connections to one destination. Defaults to all. */
  destinationConnections?: number;
  /** Emails per second of one project in all processes together. The default of 0 means no limit. */
  projectSendsPerSecond?: number;
  /** Time between renewals of the lease, shorter in tests. */
  beatMs?: number;
  /** How long open submissions may take when the sender stops, shorter in tests. */
  drainMs?: number;
  /** The transport outages known to this process. */
  outages?: () => readonly string[];
  log: Log;
  metrics: Metrics;
}

export interface Sender {
  /** Notifies the sender that an email was enqueued. */
  wake(): void;
  /** Starts nothing new, finishes open submissions and requeues the rest. */
  stop(): Promise<void>;
}

const POLL_MS = 2_000;
/** Shortest time between two polls while a project is at its rate limit. */
const SHORTEST_WAIT_MS = 50;
const ERROR_PAUSE_MS = 2_000;
const DRAIN_MS = 15_000;
const DRAIN_POLL_MS = 20;

// oxlint-disable-next-line max-lines-per-function -- the inner functions share its state
export async function startSender(options: SenderOptions): Promise<Sender> {
  const { database, transport, mailbox, connections, log } = options;
  const lease = await createLease(options);
  const inDoubtLimit = createInDoubtLimits(connections, PROJECT_CONNECTIONS);
  const brake = createDoubtBrake({ pause: options.pauseInDoubt ?? (async () => undefined), log });
  /** Aborted when the pre-send check must reject all emails and unrecorded results stay in doubt. */
  const ending = new AbortController();
  const { check, books, inDoubt } = createRememberedSubmissions({
    ...options,
    lease,
    inDoubtLimit,
    brake,
    ending: ending.signal,
  });
  const rate = createProjectRate(options.projectSendsPerSecond ?? 0);
  const channelRate = createProjectRate(options.projectSendsPerSecond ?? 0);
  const channels = createChannels(options);
  const { common } = channels;
  const rejections = createRejectionMonitor((refused) => pauseDestination(database, refused), log);
  const wakeUp = createWakeUp();
  const channelWakeUp = createWakeUp();
  /** Claims, and releases of unknown emails, run one after the other. Otherwise a release could include what was just claimed. */
  let lastClaim: Promise<unknown> = Promise.resolve();
  /** The error of a failed preparation, until the claiming loop handles it. */
  let trouble: Error | null = null;

  async function submitEmail(mail: Ready): Promise<Outcome> {
    const staysHere = mail.row.staysHere === true;
    if (!staysHere && rejections.isPaused(mail)) return { kind: "withdrawn" };
    const outcome = await (staysHere ? mailbox : (mail.chosen?.own ?? transport))
      .send(mail.message, () => check.ask(mail))
      .catch((error: unknown): Outcome => {
        // Only the check throws. Nothing was submitted, but the sender's row may list the email as in doubt.
        log.warn(
          { err: error, ...idsOf(mail) },
          "failed to begin a submission, returned the email to the queue",
        );
        return { kind: "withdrawn" };
      });
    addAttempt(mail, outcome, options);
    await brake.notify(mail.row, outcome);
    if (!staysHere) rejections.note(mail, outcome);
    if (outcome.kind === "sent") measure.count();
    return outcome;
  }

  async function book(mail: Ready, outcome: Outcome): Promise<Ending> {
    if (outcome.kind === "withdrawn") return "withdrawn";
    try {
      await books.record(mail, outcome);
      return "booked";
    } catch (error) {
      log.error({ err: error, ...idsOf(mail) }, "failed to record an outcome, the email is in doubt");
      return "unbooked";
    }
  }

  /** Submits an email and starts the next one while the result is recorded. */
  async function serve({ channel, mail, answered }: Started): Promise<void> {
    const outcome = await submitEmail(mail);
    // A server that accepts a message has read all of it. Otherwise parts of it may still be in flight.
    if (outcome.kind === "sent") mail.message.free?.();
    answered(echoOf(outcome));
    startSubmissions();
    const result = await book(mail, outcome);
    check.leave(mail, result !== "unbooked");
    channel.ended(mail, result);
    channels.letGo(mail);
    if (channel.isWorthALook()) wake(channel);
  }

  const wake = (channel: Channel) => (channel === common ? wakeUp : channelWakeUp).wake();

  function wakeAll(): void {
    wakeUp.wake();
    channelWakeUp.wake();
  }

  function startSubmissions(): void {
    for (let next = channels.next(); next !== undefined; next = channels.next()) void serve(next);
  }

  /** Claims emails of a queue and starts their preparation. Returns how many were claimed. */
  async function take(channel: Channel, due: DueQueue, limit: number): Promise<number> {
    return afterLastClaim(async () => {
      const claimed = await claim(database, lease.senderId(), due, {
        limit,
        withoutDomains: channel.fullDomains(due.priority),
        ...options.recipients,
      });
      await failpoint("claim.after");
      // The project's transports changed after its queue was listed. Its emails go back, and the other channel claims them.
      if (claimed[0] !== undefined && (claimed[0].ownTransports === true) !== (channel !== common)) {
        channel.noteFault();
        wakeAll();
        return claimed.length;
      }
      (channel === common ? rate : channelRate).spend(due.projectId, claimed.length);
      const batch = channel.admit(claimed);
      if (batch !== null) void prepare(channel, batch);
      return claimed.length;
    });
  }

  function afterLastClaim<T>(work: () => Promise<T>): Promise<T> {
    const result = lastClaim.then(work);
    lastClaim = result.catch(() => undefined);
    return result;
  }

  /** Moves claimed emails to the ready queue and records those that cannot be sent. After a failure no email of the batch stays held. */
  async function prepare(channel: Channel, batch: Batch<ClaimedRow>): Promise<void> {
    const unready: Unready[] = [];
    try {
      for (const prepared of await options.prepare(batch.rows)) {
        await failpoint("render.after");
        if (prepared.kind === "ready") {
          channels.hold(channel, prepared);
          channel.ready(batch, prepared);
          startSubmissions();
        } else unready.push(prepared);
      }
      await Promise.all(unready.map(recordUnready));
    } catch (error) {
      if (channel === common) trouble = error instanceof Error ? error : new Error(String(error));
      else {
        channel.noteFault();
        log.warn({ err: error }, "failed to prepare email of a project with transports, retrying");
      }
    }
    // Emails that are not ready are requeued by the fault handling.
    channel.prepared(batch);
    if (trouble !== null) wakeUp.wake();
    wake(channel);
  }

  async function recordUnready(mail: Unready): Promise<void> {
    addUnready(mail, options);
    try {
      await books.recordUnready(mail);
    } catch (error) {
      log.error(
        { err: error, ...idsOf(mail) },
        "failed to record an email that cannot be sent, returned it to the queue",
      );
      common.noteFault();
    }
  }

  /** After a fault, requeues emails that the database assigns to this sender but that it does not know of. */
  async function requeueUnknown(): Promise<void> {
    if (!channels.takeFault()) return;
    const release = () => releaseUnknown(database, lease.senderId(), channels.inHand(), options.listProjects);
    const { rows: emailIds, isComplete } = await afterLastClaim(release);
    if (!isComplete) common.noteFault();
    if (emailIds.length > 0) log.warn({ emailIds }, "returned emails to the queue after an error");
  }

  /** Claims until enough emails wait for a connection. Returns whether any was claimed. */
  async function feed(): Promise<boolean> {
    let claimed = 0;
    rate.shareAmong(lease.liveSenders());
    for (const due of inTurn(await listDueQueues(database, false, options.listProjects))) {
      while (common.hasEnough() && !common.isStopping()) await wakeUp.wait(POLL_MS);
      if (common.isStopping() || !lease.isHeld()) return false;
      const limit = Math.min(BATCH_SIZE, rate.allowance(due.projectId, due.sendingRate));
      if (limit > 0) claimed += await take(common, due, limit);
    }
    return claimed > 0;
  }

  /** Waits until there may be work again. */
  async function rest(): Promise<void> {
    common.rest();
    await wakeUp.wait(Math.min(POLL_MS, Math.max(SHORTEST_WAIT_MS, rate.takeWaitMs())));
    common.claim();
  }

  async function run(): Promise<void> {
    while (!common.isStopping()) {
      try {
        const failure = trouble;
        trouble = null;
        if (failure !== null) throw failure;
        await lease.ensure();
        await requeueUnknown();
        if (!(await feed())) await rest();
      } catch (error) {
        common.noteFault();
        log.warn({ err: error }, "the sender failed, retrying");
        await wakeUp.pause(ERROR_PAUSE_MS);
      }
    }
  }

  const measure = startQueueMeasure(options);
  const unsubscribe = subscribe(database, "emails", wakeAll);
  const feeding = feedChannels({
    ...options,
    channels,
    lease,
    rate: channelRate,
    wakeUp: channelWakeUp,
    take,
    requeueUnknown,
  });
  const running = Promise.all([run(), feeding]);
  return {
    wake: wakeAll,
    async stop() {
      unsubscribe();
      channels.stop();
      void measure.stop();
      wakeAll();
      await running;
      const deadline = performance.now() + (options.drainMs ?? DRAIN_MS);
      while (!channels.isIdle() && performance.now() < deadline) await wakeUp.pause(DRAIN_POLL_MS);
      // Reject all later requests for permission. Otherwise an email could pass that is requeued below.
      ending.abort();
      await books.drained();
      // Results that could not be recorded in time stay in doubt under this sender's id.
      await requeueClaimed(database, lease.senderId(), inDoubt());
      await lease.end();
    },
  };
}
