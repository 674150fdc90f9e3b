// The sender: claims mails in batches under a lease, prepares them, hands them over, books what came of it.
// Before it: a row in `emails`, queued. After it: providers/* take the message; outcomes.ts books the answer.
import type { Database } from "../platform/database.ts";
import { createGroupCommit } from "../platform/group-commit.ts";
import type { Log } from "../platform/log.ts";
import type { Metrics } from "../platform/metrics.ts";
import { createLease } from "./lease.ts";
import { createBookkeeper, type Feedbacks } from "./outcomes.ts";
import type { Prepared } from "./prepare-emails.ts";
import type { Outcome, Transport } from "./providers/transport.ts";
import {
  claimEmails,
  listDueProjects,
  markSending,
  measureQueue,
  releaseClaims,
  releaseUnknown,
  type ClaimedRow,
  type DueProject,
} from "./sender-queries.ts";

export interface SenderOptions {
  database: Database;
  transport: Transport;
  prepare: (rows: readonly ClaimedRow[]) => Promise<Prepared[]>;
  applyFeedback: Feedbacks;
  /** Messages in handover at once: the most that can be in doubt after a crash. */
  connections: number;
  /** Between two renewals of the lease; shorter in tests. */
  beatMs?: number;
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
const CLAIM_LIMIT = 40;
const POLL_MS = 1_000;
const ERROR_PAUSE_MS = 2_000;
const MEASURE_MS = 10_000;
const DRAIN_MS = 15_000;
const MAX_GATE_BATCH = 200;

type Ready = Extract<Prepared, { kind: "ready" }>;

export async function startSender(options: SenderOptions): Promise<Sender> {
  const { database, transport, log, metrics } = options;
  const lease = await createLease(options);
  const books = createBookkeeper({
    database,
    transportName: transport.name,
    lease,
    applyFeedback: options.applyFeedback,
    log,
    metrics,
  });
  const waiting: Ready[] = [];
  /** Ids of the mails this process has in hand: everything else it holds in the database is there by accident. */
  const inHand = new Set<string>();
  let mayHoldMore = false;
  const bell = createBell();
  let stopping = false;
  let inHandover = 0;

  const gates = createGroupCommit<Ready, boolean>({
    lanes: 1,
    laneOf: () => 0,
    maxItems: MAX_GATE_BATCH,
    async run(mails) {
      if (!lease.isHeld()) return mails.map(() => false);
      const ours = await markSending(
        database,
        lease.senderId(),
        mails.map(({ row }) => ({ projectId: row.project_id, id: row.id })),
      );
      return mails.map(({ row }) => ours.has(row.id));
    },
  });

  async function handOver(mail: Ready): Promise<void> {
    const outcome = await transport
      .send(mail.message, () => gates.submit(mail))
      .catch((error: unknown): Outcome => {
        // Only the gate throws: nothing was handed over, but the row may say that it is about to be.
        log.warn({ err: error, emailId: mail.row.id }, "a handover could not begin; the mail goes back");
        return { kind: "withdrawn" };
      });
    metrics.emailOutcomes.inc({ outcome: outcome.kind, transport: transport.name });
    if (outcome.kind === "withdrawn") mayHoldMore = true;
    else await books.record(mail, outcome);
    inHand.delete(mail.row.id);
  }

  function startHandovers(): void {
    while (inHandover < options.connections && !stopping) {
      const mail = waiting.shift();
      if (mail === undefined) return;
      inHandover++;
      void handOver(mail)
        .catch((error: unknown) =>
          log.error(
            { err: error, emailId: mail.row.id },
            "an outcome could not be booked; the mail is in doubt",
          ),
        )
        .finally(() => {
          inHandover--;
          startHandovers();
          if (waiting.length <= options.connections) bell.ring();
        });
    }
  }

  async function claimAndPrepare({ project_id, priority }: DueProject): Promise<number> {
    const claim = { senderId: lease.senderId(), projectId: project_id, priority, limit: CLAIM_LIMIT };
    const claimed = await claimEmails(database, claim);
    // Under a new lease this process may claim what it has in handover since the old one: one handover is enough.
    const rows = claimed.filter((row) => !inHand.has(row.id));
    for (const prepared of rows.length === 0 ? [] : await options.prepare(rows)) {
      if (prepared.kind === "failed") await books.recordFailure(prepared.row, prepared.reason);
      else {
        inHand.add(prepared.row.id);
        waiting.push(prepared);
      }
    }
    startHandovers();
    return claimed.length;
  }

  /** After a fault: gives back what the database says this process holds and it does not know of. */
  async function giveBackTheRest(): Promise<void> {
    if (!mayHoldMore) return;
    mayHoldMore = false;
    const count = await releaseUnknown(database, lease.senderId(), [...inHand]);
    if (count > 0) log.warn({ count }, "mails were given back after a fault");
  }

  /** Claims until enough waits for a connection; answers whether there was anything. */
  async function feed(): Promise<boolean> {
    let claimed = 0;
    for (const due of rotate(await listDueProjects(database))) {
      while (waiting.length > options.connections && !stopping) await bell.wait(POLL_MS);
      if (stopping || !lease.isHeld()) return false;
      claimed += await claimAndPrepare(due);
    }
    return claimed > 0;
  }

  async function run(): Promise<void> {
    while (!stopping) {
      try {
        await lease.ensure();
        await giveBackTheRest();
        if (!(await feed())) await bell.wait(POLL_MS);
      } catch (error) {
        mayHoldMore = true;
        log.warn({ err: error }, "the sender could not go on; it tries again");
        await bell.pause(ERROR_PAUSE_MS);
      }
    }
  }

  const running = run();
  const measuring = setInterval(() => void measure(database, metrics, log), MEASURE_MS);
  return {
    wake: () => bell.ring(),
    async stop() {
      stopping = true;
      clearInterval(measuring);
      bell.ring();
      await running;
      const deadline = Date.now() + DRAIN_MS;
      while (inHandover > 0 && Date.now() < deadline) await bell.pause(20);
      await books.drained();
      await releaseClaims(database, lease.senderId());
      await lease.end();
    },
  };
}

/** Starts at another project each time, within each priority, so that none is always the last. */
function rotate(due: readonly DueProject[]): DueProject[] {
  const byPriority = Map.groupBy(due, (one) => one.priority);
  return [...byPriority.values()].flatMap((group) => {
    const start = Math.floor(Math.random() * group.length);
    return [...group.slice(start), ...group.slice(0, start)];
  });
}

async function measure(database: Database, metrics: Metrics, log: Log): Promise<void> {
  try {
    const queue = await measureQueue(database);
    metrics.emailsQueued.set(queue.due);
    metrics.oldestQueuedSeconds.set(queue.oldest_seconds);
  } catch (error) {
    log.debug({ err: error }, "the queue could not be measured");
  }
}

/** Something to wait at: until it rings, or until the time is over. A ring while nobody waits is kept for the next wait. */
function createBell() {
  let rung = false;
  let wakeUp: (() => void) | null = null;
  async function wait(ms: number, hear: boolean): Promise<void> {
    if (hear && rung) {
      rung = false;
      return;
    }
    await new Promise<void>((resolve) => {
      const timer = setTimeout(done, ms);
      function done() {
        clearTimeout(timer);
        if (wakeUp === done) wakeUp = null;
        resolve();
      }
      if (hear) wakeUp = done;
    });
    if (hear) rung = false;
  }
  return {
    ring() {
      rung = true;
      wakeUp?.();
    },
    wait: (ms: number) => wait(ms, true),
    pause: (ms: number) => wait(ms, false),
  };
}
