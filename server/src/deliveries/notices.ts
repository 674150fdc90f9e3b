// Inbox of notices: stores each notice once before it is acknowledged and applies it later. Effects and "done" commit together.
import { LIMITS } from "@postloft/contract/limits/limits.ts";
import { startLoop, type Loop } from "../platform/background/background.ts";
import { nowMs } from "../platform/clock.ts";
import { asUnavailable, transaction, type Database, type Tx } from "../platform/database/database.ts";
import { createGroupCommit } from "../platform/background/group-commit.ts";
import { newId } from "../platform/ids.ts";
import type { Log } from "../platform/log.ts";
import type { Metrics } from "../platform/metrics.ts";
import { pairUp } from "../platform/pair-up.ts";
import { AppError } from "../platform/app-error.ts";
import {
  claimNotices,
  deleteDoneNotices,
  deleteIgnoredNotices,
  hasDueNotices,
  insertNotices,
  sumUnreadBytes,
  updateFailedNotice,
  updateNotices,
  type NewNotice,
  type NoticeEnd,
  type NoticeRow,
  type NoticeSource,
} from "./queries.ts";

/** A received notice. Two notices with the same `providerId` are duplicates. */
export type ReceivedNotice = Omit<NewNotice, "id">;

/** `known`: a duplicate. `stale`: too old, or from the future. */
export type Stored = "stored" | "known" | "stale";

export interface NoticeStore {
  /** Stores a notice and resolves after the commit. Notices that arrive together are stored together. */
  store(notice: ReceivedNotice): Promise<Stored>;
  /** Returns whether SMTP may accept more messages: unread ones are limited by total size. */
  hasRoom(): Promise<boolean>;
}

const MAX_BATCH = 200;
/** One of the largest messages. A parameter of a statement takes twice its bytes. */
const MAX_BATCH_BYTES = LIMITS.inboundBytes.value;
const SUM_EVERY_MS = 5_000;
/** Amazon SNS gives up after an hour, so an older notice was kept and replayed (reliability case S51). */
const AGE_LIMITS = { maxAgeSeconds: 3_600, maxAheadSeconds: 300 };

export function createNoticeStore(
  database: Database,
  mostUnreadBytes = LIMITS.unreadKilobytes.value * 1024,
): NoticeStore {
  const unread = createUnreadSum(database);
  const commits = createGroupCommit<ReceivedNotice, Stored>({
    shards: 2,
    shardOf: ({ providerId }) => providerId.charCodeAt(providerId.length - 1),
    maxItems: MAX_BATCH,
    weightOf: ({ raw }) => raw.length,
    maxWeight: MAX_BATCH_BYTES,
    async run(reported) {
      const notices = reported.map((notice) => ({ ...notice, id: newId() }));
      const { now, ids } = await insertNotices(database, notices, AGE_LIMITS);
      return notices.map(({ id, toldAt }): Stored => {
        if (ids.has(id)) return "stored";
        return toldAt !== null && !isFresh(toldAt, now) ? "stale" : "known";
      });
    },
  });
  return {
    store(notice) {
      if (notice.source === "smtp") unread.add(notice.raw.length);
      return commits.submit(notice);
    },
    hasRoom: async () => (await unread.bytes()) < mostUnreadBytes,
  };
}

/** Returns a sum that is read from the database every few seconds. Messages stored by this process are added in between. */
function createUnreadSum(database: Database): { add(bytes: number): void; bytes(): Promise<number> } {
  let sum: Promise<number> = Promise.resolve(0);
  let summedAtMs = Number.NEGATIVE_INFINITY;
  let since = 0;
  return {
    add(bytes) {
      since += bytes;
    },
    async bytes() {
      if (performance.now() - summedAtMs >= SUM_EVERY_MS) {
        summedAtMs = performance.now();
        since = 0;
        sum = sumUnreadBytes(database);
        // Query the database again on the next call.
        sum.catch(() => (summedAtMs = Number.NEGATIVE_INFINITY));
      }
      return (await sum) + since;
    },
  };
}

/** Returns whether a notice sent at `notifiedAt` is still accepted at `now`, by the database's clock. */
export function isFresh(notifiedAt: Date, now: Date): boolean {
  const age = (now.getTime() - notifiedAt.getTime()) / 1000;
  return age <= AGE_LIMITS.maxAgeSeconds && age >= -AGE_LIMITS.maxAheadSeconds;
}

/** The result of a notice in a few words and whether its content is kept for a person, or when to retry. */
export type Verdict = { result: string; isKept?: true } | { waitSeconds: number };

/** Applies notices in the transaction that marks them as done. Returns one verdict for each, in order. */
export type InterpretNotices = (tx: Tx, notices: readonly NoticeRow[]) => Promise<Verdict[]>;

/** Notices per transaction for each source. SMTP messages are larger and take longer to read. */
const BATCHES: ReadonlyArray<{ source: NoticeSource; limit: number }> = [
  { source: "sns", limit: 500 },
  { source: "smtp", limit: 20 },
];
/** A batch ends after the message that exceeds these bytes. */
const MAX_READ_BYTES = LIMITS.inboundBytes.value;
const POLL_MS = 5_000;
const MAX_FAILURES = 5;
const FIRST_RETRY_SECONDS = 2;
const MAX_REASON_LENGTH = 500;
const KEPT_DAYS = 30;
/** Strangers can create these without limit. Duplicates are still detected for a day. */
const IGNORED_DAYS = 1;
const DAY_MS = 86_400_000;

export interface NoticeReaderOptions {
  database: Database;
  interpret: InterpretNotices;
  log: Log;
}

/** Processes the inbox until stopped. Any number of processes may run this. */
export function startNoticeReader(options: NoticeReaderOptions & { metrics: Metrics }): Loop {
  const { log, metrics } = options;
  async function runOnce(): Promise<number> {
    if (!(await hasDueNotices(options.database))) return POLL_MS;
    let done = 0;
    for (const { source, limit } of BATCHES) done += await readNotices(options, source, limit);
    return done > 0 ? 0 : POLL_MS;
  }
  return startLoop({
    name: "notices",
    runOnce,
    everyMs: POLL_MS,
    notifiedBy: { database: options.database, topic: "notices" },
    log,
    metrics,
  });
}

/** Processes one batch and returns its size. If the batch fails, retries each notice alone. */
export async function readNotices(
  options: NoticeReaderOptions,
  source: NoticeSource,
  limit: number,
): Promise<number> {
  const claimed: string[] = [];
  try {
    return await readBatch(options, source, limit, null, claimed);
  } catch (error) {
    if (asUnavailable(error) instanceof AppError || claimed.length === 0) throw error;
    options.log.warn({ err: error, count: claimed.length }, "batch of notices failed, retrying each alone");
    for (const id of new Set(claimed)) await readAlone(options, source, id);
    return claimed.length;
  }
}

async function readAlone(options: NoticeReaderOptions, source: NoticeSource, id: string): Promise<void> {
  const { database, log } = options;
  try {
    await readBatch(options, source, 1, [id], []);
  } catch (error) {
    if (asUnavailable(error) instanceof AppError) throw error;
    log.error({ err: error, noticeId: id }, "failed to process a notice, which is a bug");
    const reason = `failed: ${error instanceof Error ? error.message : String(error)}`;
    await updateFailedNotice(database, {
      id,
      reason: reason.replaceAll("\u0000", "").slice(0, MAX_REASON_LENGTH),
      maxFailures: MAX_FAILURES,
      firstWaitSeconds: FIRST_RETRY_SECONDS,
    });
  }
}

async function readBatch(
  { database, interpret }: NoticeReaderOptions,
  source: NoticeSource,
  limit: number,
  ids: readonly string[] | null,
  claimed: string[],
): Promise<number> {
  return transaction(database, async (tx) => {
    const rows = await claimNotices(tx, source, { limit, mostBytes: MAX_READ_BYTES }, ids);
    claimed.push(...rows.map(({ id }) => id));
    if (rows.length === 0) return 0;
    const verdicts = await interpret(tx, rows);
    const ends = pairUp(rows, verdicts).map(([{ id }, verdict]): NoticeEnd =>
      "result" in verdict
        ? { id, result: verdict.result, isKept: verdict.isKept === true, waitSeconds: 0 }
        : { id, result: null, isKept: true, waitSeconds: verdict.waitSeconds },
    );
    await updateNotices(tx, ends);
    return rows.length;
  });
}

/** Deletes notices done more than a month ago, after which no provider repeats them. Ignored notices are deleted after a day. */
export async function sweepNotices(database: Database): Promise<void> {
  await deleteIgnoredNotices(database, idOfDaysAgo(IGNORED_DAYS));
  await deleteDoneNotices(database, idOfDaysAgo(KEPT_DAYS));
}

/** Returns the lowest id created that many days ago; ids contain their creation time. */
function idOfDaysAgo(days: number): string {
  const hex = (nowMs() - days * DAY_MS).toString(16).padStart(12, "0");
  return `${hex.slice(0, 8)}-${hex.slice(8)}-7000-8000-000000000000`;
}
