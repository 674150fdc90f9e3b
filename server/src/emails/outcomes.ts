// Books what came of each attempt: the mail's new state, the attempt, the event `email.sent` and what came back, in one transaction.
// Before it: sender.ts has an outcome. After it: deliveries/ interprets feedback.
import { EMAIL_KINDS } from "@postloft/contract/emails.ts";
import { EMAIL_SENT } from "@postloft/contract/event-names.ts";
import { transaction, type Database, type Tx } from "../platform/database.ts";
import { createGroupCommit } from "../platform/group-commit.ts";
import { idTimeMs } from "../platform/ids.ts";
import type { Log } from "../platform/log.ts";
import type { Metrics } from "../platform/metrics.ts";
import { recordEvents } from "../events/events.ts";
import type { Lease } from "./lease.ts";
import type { Prepared } from "./prepare-emails.ts";
import type { Feedback, Outcome } from "./providers/transport.ts";
import { isRetriedWhenUncertain, messageIdOf, retryWaitMs } from "./rules.ts";
import { insertAttempts, updateOutcomes, type ClaimedRow, type OutcomeRow } from "./sender-queries.ts";

export interface MailFacts {
  subject: string;
  from: string;
  messageId: string;
  emailId: string;
  sourceType: string;
}

/** What came back about mails of this installation, to be interpreted in the same transaction. */
export type Feedbacks = (
  tx: Tx,
  items: ReadonlyArray<{
    projectId: string;
    emailId: string;
    contactId: string | null;
    feedback: Feedback;
    facts: MailFacts;
  }>,
) => Promise<void>;

type Ready = Extract<Prepared, { kind: "ready" }>;

interface Entry {
  outcome: OutcomeRow;
  attempt: { outcome: string; answer: string } | null;
  feedback: Feedback | null;
  facts: MailFacts | null;
  senderId: string;
}

export interface Bookkeeper {
  record(mail: Ready, outcome: Outcome): Promise<void>;
  /** A mail that could not be prepared: it fails, with the reason. */
  recordFailure(row: ClaimedRow, reason: string): Promise<void>;
  drained(): Promise<void>;
}

const MAX_BATCH = 200;
const RETRY_MS = 1_000;
/** While the database is away an answer is kept this long; after that the lease is long over and another sender settles the mail. */
const MAX_TRIES = 600;
const MAX_REASON_LENGTH = 500;

export function createBookkeeper(options: {
  database: Database;
  transportName: string;
  lease: Lease;
  applyFeedback: Feedbacks;
  log: Log;
  metrics: Metrics;
}): Bookkeeper {
  const { database, lease, log } = options;
  const commits = createGroupCommit<Entry, void>({
    lanes: 1,
    laneOf: () => 0,
    maxItems: MAX_BATCH,
    async run(entries) {
      const booked = await transaction(database, (tx) => book(tx, entries, options.applyFeedback));
      if (booked < entries.length) {
        options.metrics.leasesLost.inc();
        log.warn(
          { lost: entries.length - booked },
          "mails had been taken from this sender when it booked them",
        );
      }
      return entries.map(() => undefined);
    },
  });

  async function submit(entry: Entry): Promise<void> {
    for (let tries = 1; ; tries++) {
      try {
        return await commits.submit(entry);
      } catch (error) {
        if (tries >= MAX_TRIES) throw error;
        log.warn(
          { err: error, emailId: entry.outcome.id, tries },
          "an outcome could not be booked; it is kept and tried again",
        );
        await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
      }
    }
  }

  return {
    async record(mail, outcome) {
      const entry = entryOf(mail, outcome, lease.senderId());
      if (entry !== null) await submit(entry);
    },
    async recordFailure(row, reason) {
      await submit({
        outcome: {
          projectId: row.project_id,
          id: row.id,
          status: "FAILED",
          reason: reason.slice(0, MAX_REASON_LENGTH),
          waitMs: 0,
        },
        attempt: { outcome: "failed", answer: reason.slice(0, MAX_REASON_LENGTH) },
        feedback: null,
        facts: null,
        senderId: lease.senderId(),
      });
    },
    drained: () => commits.drained(),
  };
}

/** What an outcome means for the mail; null when it is no longer ours to book. */
function entryOf({ row, from, subject }: Ready, outcome: Outcome, senderId: string): Entry | null {
  if (outcome.kind === "withdrawn") return null;
  const kind = EMAIL_KINDS[row.priority - 1] ?? "CAMPAIGN";
  const base = { projectId: row.project_id, id: row.id, waitMs: 0 };
  const facts = { subject, from, messageId: messageIdOf(row.id, from), emailId: row.id, sourceType: kind };
  const attempt = { outcome: outcome.kind, answer: outcome.answer };
  const reason = outcome.answer;
  switch (outcome.kind) {
    case "sent":
      return {
        outcome: { ...base, status: "SENT", reason: null },
        attempt: null,
        feedback: outcome.feedback ?? null,
        facts,
        senderId,
      };
    case "rejected":
      return { outcome: { ...base, status: "FAILED", reason }, attempt, feedback: null, facts, senderId };
    case "uncertain": {
      const status = isRetriedWhenUncertain(kind, row.attempts + 1) ? "QUEUED" : "UNCONFIRMED";
      return { outcome: { ...base, status, reason }, attempt, feedback: null, facts, senderId };
    }
    case "deferred": {
      const ageMs = Date.now() - idTimeMs(row.id);
      const waitMs = outcome.retryAfterMs ?? retryWaitMs(kind, row.attempts + 1, ageMs, Math.random());
      const status = waitMs === null ? "FAILED" : "QUEUED";
      return {
        outcome: { ...base, status, reason, waitMs: waitMs ?? 0 },
        attempt,
        feedback: null,
        facts,
        senderId,
      };
    }
  }
}

/** Answers how many of the entries were still this sender's. */
async function book(tx: Tx, entries: readonly Entry[], applyFeedback: Feedbacks): Promise<number> {
  let booked = 0;
  for (const [senderId, own] of Map.groupBy(entries, (entry) => entry.senderId)) {
    const rows = await updateOutcomes(
      tx,
      senderId,
      own.map((entry) => entry.outcome),
    );
    const byId = new Map(own.map((entry) => [entry.outcome.id, entry]));
    const done = rows.flatMap((row) => {
      const entry = byId.get(row.id);
      return entry === undefined ? [] : [{ row, entry }];
    });
    const attempts = done.flatMap(({ row, entry }) =>
      entry.attempt === null
        ? []
        : [{ projectId: row.project_id, emailId: row.id, attempt: row.attempts, ...entry.attempt }],
    );
    if (attempts.length > 0) await insertAttempts(tx, attempts);
    await recordEvents(
      tx,
      done.flatMap(({ row, entry }) =>
        row.status !== "SENT" || row.contact_id === null
          ? []
          : [
              {
                projectId: row.project_id,
                contactId: row.contact_id,
                name: EMAIL_SENT,
                data: { ...entry.facts },
                emailId: row.id,
              },
            ],
      ),
    );
    const feedbacks = done.flatMap(({ row, entry }) =>
      entry.feedback === null || entry.facts === null
        ? []
        : [
            {
              projectId: row.project_id,
              emailId: row.id,
              contactId: row.contact_id,
              feedback: entry.feedback,
              facts: entry.facts,
            },
          ],
    );
    if (feedbacks.length > 0) await applyFeedback(tx, feedbacks);
    booked += rows.length;
  }
  return booked;
}
