// Records the outcome of each attempt, its feedback and the email's new state in one transaction. The row of a sent email is also its event
// `email.sent`.
import { retryUntilDone } from "../../platform/background/background.ts";
import {
  asUnavailable,
  databaseErrorCode,
  transaction,
  type Database,
  type Tx,
} from "../../platform/database/database.ts";
import { failpoint } from "../../platform/failpoints.ts";
import { createGroupCommit } from "../../platform/background/group-commit.ts";
import type { Log } from "../../platform/log.ts";
import type { Metrics } from "../../platform/metrics.ts";
import { AppError } from "../../platform/app-error.ts";
import { enqueueSentEvents } from "../../reactions/reactions.ts";
import type { Category } from "../../transports/replies/replies.ts";
import { resultOf, type Recorded } from "./booking.ts";
import { endDoubts } from "../doubt/doubts.ts";
import { recordLate } from "./late-replies.ts";
import type { Ready, Unready } from "../rows/prepared.ts";
import type { Feedback, Outcome } from "../../transports/transport.ts";
import { kindOf } from "../rows/rules.ts";
import { insertAttempts, updateOutcomes } from "./outcome-queries.ts";
import type { OutcomeRow } from "../rows/outcome.ts";
import { countMails, type ToCount } from "./sending-hours.ts";

/** Interprets feedback about this installation's emails in the same transaction. */
export type Feedbacks = (
  tx: Tx,
  items: ReadonlyArray<{
    projectId: string;
    emailId: string;
    contactId: string | null;
    feedback: Feedback;
    /** The reply that contained the feedback, or null if the email was accepted. */
    answer: string | null;
  }>,
) => Promise<void>;

interface Entry {
  outcome: OutcomeRow;
  attempt: number;
  /** The attempt to store, or null if the email row is enough. */
  kept: { outcome: string; answer: string; transport: string | null; meaning: Category | null } | null;
  feedback: Feedback | null;
  /** Test emails are left out of counts and notifications. */
  isTest: boolean;
  senderId: string;
}

/** Books sent mails in the statement that lets the next ones leave. handover/ provides it. */
export interface SentRecords {
  /**
   * Records a sent email and frees its place. Returns false if the email no longer belongs to its sender. Throws if the database is
   * unreachable, and the email then keeps its place.
   */
  record(outcome: OutcomeRow, senderId: string): Promise<boolean>;
  drained(): Promise<void>;
}

export interface ResultRecorder {
  record(mail: Ready, outcome: Outcome): Promise<void>;
  /** Records an email that could not be prepared as failed, or as skipped if it is no longer wanted. */
  recordUnready(mail: Unready): Promise<void>;
  drained(): Promise<void>;
}

const MAX_BATCH = 200;
/**
 * How long to retry a result that PostgreSQL rejects or that hits a bug of ours. Then the email stays in doubt until this process stops.
 * While the database is unreachable, results are retried until then too, because no other process settles the emails of a live sender.
 */
const KEPT_MS = 10 * 60_000;
/** SQLSTATE classes of rejected data, constraints and statements. An error without a code is ours. */
const DATA_ERROR_CODES = /^(?:22...|23...|42...|)$/;
const MAX_REASON_LENGTH = 500;

// oxlint-disable-next-line max-lines-per-function -- the inner functions share its state
export function createResultRecorder(options: {
  database: Database;
  transportName: string;
  lease: { senderId(): string };
  submission: SentRecords;
  applyFeedback: Feedbacks;
  /** Stops all retries when aborted. */
  ending: AbortSignal;
  log: Log;
  metrics: Metrics;
}): ResultRecorder {
  const { database, lease, submission, ending, log, transportName } = options;

  /** Records results of emails that another process has settled. */
  async function recordLost(lost: readonly Entry[]): Promise<void> {
    options.metrics.leasesLost.inc();
    const ends = await recordLate(
      database,
      lost.filter(({ outcome }) => outcome.status === "SENT"),
    );
    log.warn(
      { emailIds: lost.map(({ outcome }) => outcome.id), ...ends },
      "another process had taken over emails of this sender before their outcomes were recorded",
    );
  }

  const lateResults = createGroupCommit<Entry, void>({
    shards: 1,
    shardOf: () => 0,
    maxItems: MAX_BATCH,
    async run(entries) {
      await recordLost(entries);
      return entries.map(() => undefined);
    },
  });
  const records = createGroupCommit<Entry, void>({
    shards: 1,
    shardOf: () => 0,
    maxItems: MAX_BATCH,
    async run(entries) {
      const recorded = await transaction(database, (tx) => book(tx, entries, options.applyFeedback));
      await failpoint("sent.after_commit");
      const lost = entries.filter(({ outcome }) => !recorded.has(outcome.id));
      if (lost.length > 0) await recordLost(lost);
      return entries.map(() => undefined);
    },
  });

  async function submitOnce(entry: Entry): Promise<void> {
    if (!isPlain(entry)) return records.submit(entry);
    if (!(await submission.record(entry.outcome, entry.senderId))) await lateResults.submit(entry);
  }

  async function submit(entry: Entry): Promise<void> {
    const tell = (failure: object) =>
      log.warn({ emailId: entry.outcome.id, ...failure }, "failed to record an outcome, retrying");
    const untilMs = performance.now() + KEPT_MS;
    await retryUntilDone(() => submitOnce(entry), {
      forMs: Number.POSITIVE_INFINITY,
      mayRepeat: (error) => isAway(error) || performance.now() < untilMs,
      signal: ending,
      tell,
    });
  }

  return {
    async record(mail, outcome) {
      // A withdrawn email no longer belongs to this sender.
      if (outcome.kind !== "withdrawn")
        await submit(handedOver(mail, outcome, lease.senderId(), transportName));
    },
    recordUnready: (mail) => submit(unsubmittedEntry(mail, lease.senderId())),
    async drained() {
      await Promise.all([submission.drained(), records.drained()]);
      await lateResults.drained();
    },
  };
}

/** Returns whether an error may be temporary. */
function isAway(error: unknown): boolean {
  return asUnavailable(error) instanceof AppError || !DATA_ERROR_CODES.test(databaseErrorCode(error) ?? "");
}

function handedOver(
  mail: Pick<Ready, "row" | "ownSubject">,
  outcome: Recorded,
  senderId: string,
  transportName: string,
): Entry {
  const { row, ownSubject } = mail;
  const number = row.attempts + 1;
  const {
    attempt: kept,
    feedback,
    ...recording
  } = resultOf(outcome, {
    kind: kindOf(row.priority),
    number,
    earlierDoubts: 0,
    random: Math.random(),
    transportName,
  });
  return {
    outcome: { projectId: row.projectId, id: row.id, subject: ownSubject, ...recording },
    attempt: number,
    kept,
    feedback: row.isTest ? null : feedback,
    isTest: row.isTest === true,
    senderId,
  };
}

function unsubmittedEntry({ kind, row, reason: input }: Unready, senderId: string): Entry {
  const reason = input.slice(0, MAX_REASON_LENGTH);
  const isFailed = kind === "failed";
  return {
    outcome: {
      projectId: row.projectId,
      id: row.id,
      status: isFailed ? "FAILED" : "SKIPPED",
      reason,
      waitMs: 0,
      subject: null,
      sent: null,
    },
    attempt: row.attempts + 1,
    kept: isFailed ? { outcome: "failed", answer: reason, transport: null, meaning: null } : null,
    feedback: null,
    isTest: row.isTest === true,
    senderId,
  };
}

/** Records results again that a failover lost, in the transaction that returns the emails to this sender. */
export async function recordAgain(
  tx: Tx,
  mails: ReadonlyArray<Pick<Ready, "row" | "ownSubject"> & { outcome: Outcome | null }>,
  by: { senderId: string; transportName: string; applyFeedback: Feedbacks },
): Promise<void> {
  const entries = mails.flatMap(({ outcome, ...mail }) =>
    outcome === null || outcome.kind === "withdrawn"
      ? []
      : [handedOver(mail, outcome, by.senderId, by.transportName)],
  );
  if (entries.length > 0) await book(tx, entries, by.applyFeedback);
}

/** Returns whether an email was sent without feedback, as nearly all are. */
function isPlain({ outcome, feedback }: Entry): boolean {
  return outcome.status === "SENT" && feedback === null;
}

/** Returns the ids of the emails that still belonged to their sender. */
async function book(tx: Tx, entries: readonly Entry[], applyFeedback: Feedbacks): Promise<Set<string>> {
  const recorded = new Set<string>();
  for (const [senderId, own] of Map.groupBy(entries, (entry) => entry.senderId)) {
    const rows = await updateOutcomes(
      tx,
      senderId,
      await endDoubts(
        tx,
        own.map(({ outcome, attempt, kept }) => ({
          outcome,
          attempt,
          isInDoubt: kept?.outcome === "uncertain",
        })),
      ),
    );
    const byId = new Map(own.map((entry) => [entry.outcome.id, entry]));
    const done = rows.flatMap((row) => {
      const entry = byId.get(row.id);
      return entry === undefined ? [] : [{ row, entry }];
    });
    const attempts = done.flatMap(({ row, entry }) =>
      entry.kept === null
        ? []
        : [{ projectId: row.projectId, emailId: row.id, attempt: row.attempts, ...entry.kept }],
    );
    if (attempts.length > 0) await insertAttempts(tx, attempts);
    const left = rows.filter((row) => row.leftAt !== null);
    await enqueueSentEvents(
      tx,
      left.map((row) => ({ projectId: row.projectId, contactId: row.contactId, emailId: row.id })),
    );
    const feedbacks = done.flatMap(({ row, entry: { feedback, outcome } }) =>
      feedback === null
        ? []
        : [
            {
              projectId: row.projectId,
              emailId: row.id,
              contactId: row.contactId,
              feedback,
              answer: outcome.reason,
            },
          ],
    );
    await countMails(tx, countsOf(done));
    if (feedbacks.length > 0) await applyFeedback(tx, feedbacks);
    for (const row of rows) recorded.add(row.id);
  }
  await failpoint("sent.before_commit");
  return recorded;
}

/** Returns the counter changes for sent emails and for recipients rejected because the address does not exist. */
function countsOf(
  done: ReadonlyArray<{ row: { projectId: string; leftAt: Date | null }; entry: Entry }>,
): ToCount[] {
  return done.flatMap(({ row: { projectId, leftAt }, entry }): ToCount[] => [
    ...(leftAt === null ? [] : [{ projectId, at: leftAt, what: "sent" as const }]),
    // Counts even if the email was sent before, because then an earlier attempt was accepted.
    ...(entry.kept?.meaning === "hard-bounce" && !entry.isTest
      ? [{ projectId, at: null, what: "refused" as const }]
      : []),
  ]);
}
