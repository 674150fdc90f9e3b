// The inbox of notices: stored once before they are answered, gone through afterwards; effects and "done" commit together.
import { LIMITS } from "@postloft/contract/limits/limits.ts";
import { startLoop, type Loop } from "../platform/background/background.ts";
import { nowMs } from "../platform/clock.ts";
import { asUnavailable, transaction, type Database, type Tx } from "../platform/database/database.ts";
import { createGroupCommit } from "../platform/background/group-commit.ts";
import { newId } from "../platform/ids.ts";
import type { Log } from "../platform/log.ts";
import type { Metrics } from "../platform/metrics.ts";
import { pairUp } from "../platform/pair-up.ts";
import { Refusal } from "../platform/refusal.ts";
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

/** What somebody told: `providerId` makes two of them the same one. */
export type ToldNotice = Omit<NewNotice, "id">;

/** `stored`, or known already; `stale`: too old, or from the future. */
export type Stored = "stored" | "known" | "stale";

export interface NoticeStore {
  /** Resolves after the commit. Notices that arrive together are stored together. */
  store(notice: ToldNotice): Promise<Stored>;
  /** Whether more messages may come over SMTP: so much waits to be read at most. */
  hasRoom(): Promise<boolean>;
}

const MAX_BATCH = 200;
const SUM_EVERY_MS = 5_000;
/** Amazon SNS gives up after an hour; what says it is older was kept by somebody to be told again (reliability case S51). */
const AGE_LIMITS = { maxAgeSeconds: 3_600, maxAheadSeconds: 300 };

export function createNoticeStore(
  database: Database,
  mostUnreadBytes = LIMITS.unreadKilobytes.value * 1024,
): NoticeStore {
  const unread = createUnreadSum(database);
  const commits = createGroupCommit<ToldNotice, Stored>({
    lanes: 2,
    laneOf: ({ providerId }) => providerId.charCodeAt(providerId.length - 1),
    maxItems: MAX_BATCH,
    async run(told) {
      const notices = told.map((notice) => ({ ...notice, id: newId() }));
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

/** Added up anew every few seconds; in between what this process stores is added. */
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
        // Whoever asks next asks the database again.
        sum.catch(() => (summedAtMs = Number.NEGATIVE_INFINITY));
      }
      return (await sum) + since;
    },
  };
}

/** Whether something told then may still be heard at `now`, which is the clock of the database. */
export function isFresh(toldAt: Date, now: Date): boolean {
  const age = (now.getTime() - toldAt.getTime()) / 1000;
  return age <= AGE_LIMITS.maxAgeSeconds && age >= -AGE_LIMITS.maxAheadSeconds;
}

/** What a notice meant, in a few words, and whether what it said is kept for a person; or that it is to be looked at again. */
export type Verdict = { result: string; isKept?: true } | { waitSeconds: number };

/** Does what notices mean, in the transaction in which they become done. Returns one verdict each, in order. */
export type InterpretNotices = (tx: Tx, notices: readonly NoticeRow[]) => Promise<Verdict[]>;

/** So many of each source in one transaction: messages are larger, and take longer to read. */
const BATCHES: ReadonlyArray<{ source: NoticeSource; limit: number }> = [
  { source: "sns", limit: 500 },
  { source: "smtp", limit: 20 },
];
const POLL_MS = 5_000;
const MAX_FAILURES = 5;
const FIRST_RETRY_SECONDS = 2;
const MAX_REASON_LENGTH = 500;
const KEPT_DAYS = 30;
/** Strangers make as many of these as they like; that the same comes again within a day is noticed still. */
const IGNORED_DAYS = 1;
const DAY_MS = 86_400_000;

export interface NoticeReaderOptions {
  database: Database;
  interpret: InterpretNotices;
  log: Log;
}

/** Goes through the inbox until it is stopped; any number of processes may. */
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

/** Takes one batch; returns how many notices were in it. When one of them cannot be dealt with, the others are, one by one. */
export async function readNotices(
  options: NoticeReaderOptions,
  source: NoticeSource,
  limit: number,
): Promise<number> {
  const claimed: string[] = [];
  try {
    return await readBatch(options, source, limit, null, claimed);
  } catch (error) {
    if (asUnavailable(error) instanceof Refusal || claimed.length === 0) throw error;
    options.log.warn({ err: error, count: claimed.length }, "a batch of notices failed; each is tried alone");
    for (const id of new Set(claimed)) await readAlone(options, source, id);
    return claimed.length;
  }
}

async function readAlone(options: NoticeReaderOptions, source: NoticeSource, id: string): Promise<void> {
  const { database, log } = options;
  try {
    await readBatch(options, source, 1, [id], []);
  } catch (error) {
    if (asUnavailable(error) instanceof Refusal) throw error;
    log.error({ err: error, noticeId: id }, "a notice could not be dealt with: a bug");
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
    const rows = await claimNotices(tx, source, limit, ids);
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

/** Forgets notices that were done long ago: after a month nobody tells them again. What was ignored goes after a day. */
export async function sweepNotices(database: Database): Promise<void> {
  await deleteIgnoredNotices(database, idOfDaysAgo(IGNORED_DAYS));
  await deleteDoneNotices(database, idOfDaysAgo(KEPT_DAYS));
}

/** Ids tell the time they were made. */
function idOfDaysAgo(days: number): string {
  const hex = (nowMs() - days * DAY_MS).toString(16).padStart(12, "0");
  return `${hex.slice(0, 8)}-${hex.slice(8)}-7000-8000-000000000000`;
}
