// Implements rate limits shared by all processes, as counters in the database that one statement updates for all waiting requests.
import { sql } from "kysely";
import { now } from "../clock.ts";
import type { Database } from "../database/database.ts";
import { createGroupCommit } from "../background/group-commit.ts";
import { AppError } from "../app-error.ts";

export interface Take {
  /** The name of the counter, such as `project:<id>`. */
  bucket: string;
  limit: number;
  /** At most 3,600, or exactly 86,400, because the sweep deletes other windows. */
  windowSeconds: number;
  /** How much the request counts. Default: 1. */
  amount?: number;
}

export interface Taken {
  allowed: boolean;
  limit: number;
  /** The count including this request, which may exceed the limit. */
  used: number;
  remaining: number;
  /** Seconds until the window ends. */
  resetSeconds: number;
}

export interface RateLimiter {
  /** Counts one request and returns whether it was within the limit. */
  take(request: Take): Promise<Taken>;
  /** Returns a count to the current window, for limits that only count failures. */
  giveBack(request: Take): Promise<void>;
}

const MAX_BATCH = 500;

export function createRateLimiter(database: Database): RateLimiter {
  const commits = createGroupCommit<Take, Taken>({
    shards: 1,
    shardOf: () => 0,
    maxItems: MAX_BATCH,
    run: (takes) => takeAll(database, takes),
  });
  return {
    take: (request) => commits.submit(request),
    async giveBack({ bucket, windowSeconds, amount = 1 }) {
      await sql`update rate_windows set taken = taken - ${amount}
        where bucket = ${bucket} and started_at = date_bin(make_interval(secs => ${windowSeconds}), now(), 'epoch') and taken > 0`.execute(
        database,
      );
    },
  };
}

/** Counts one request. @throws AppError RATE_LIMIT_EXCEEDED beyond the limit */
export async function takeOrThrow(rateLimiter: RateLimiter, take: Take): Promise<void> {
  const { allowed, resetSeconds } = await rateLimiter.take(take);
  if (!allowed)
    throw new AppError("RATE_LIMIT_EXCEEDED", {
      message: "Too many attempts.",
      retryAfterSeconds: resetSeconds,
    });
}

/** Counts work only if it succeeds, and returns the count if it fails. @throws AppError RATE_LIMIT_EXCEEDED beyond the limit */
export async function takeFor<Result>(
  rateLimiter: RateLimiter,
  take: Take,
  work: () => Promise<Result>,
): Promise<Result> {
  await takeOrThrow(rateLimiter, take);
  try {
    return await work();
  } catch (error) {
    await rateLimiter.giveBack(take);
    throw error;
  }
}

async function takeAll(database: Database, takes: readonly Take[]): Promise<Taken[]> {
  const groups = Map.groupBy(takes, (take) => take.bucket);
  const firsts = [...groups.values()].flatMap(([first]) => (first === undefined ? [] : [first]));
  const totals = new Map(
    [...groups].map(([bucket, ofBucket]) => [
      bucket,
      ofBucket.reduce((sum, { amount = 1 }) => sum + amount, 0),
    ]),
  );
  const { rows } = await sql<{ bucket: string; taken: number; resetSeconds: number }>`
    insert into rate_windows (bucket, started_at, taken)
    select bucket, date_bin(make_interval(secs => seconds), now(), 'epoch'), taken
    from unnest(
      ${firsts.map((take) => take.bucket)}::text[],
      ${firsts.map((take) => take.windowSeconds)}::float8[],
      ${firsts.map(({ bucket }) => totals.get(bucket) ?? 0)}::integer[]
    ) as t (bucket, seconds, taken)
    order by bucket
    on conflict (bucket, started_at) do update set taken = rate_windows.taken + excluded.taken
    returning bucket, taken, ceil(extract(epoch from started_at - now()))::float8 as reset_seconds`.execute(
    database,
  );
  const counts = new Map(rows.map((row) => [row.bucket, row]));
  const served = new Map<string, number>();
  return takes.map((take) => {
    const count = counts.get(take.bucket);
    const inBatch = totals.get(take.bucket) ?? 0;
    const place = (served.get(take.bucket) ?? 0) + (take.amount ?? 1);
    served.set(take.bucket, place);
    const number = (count?.taken ?? 0) - inBatch + place;
    return {
      allowed: number <= take.limit,
      limit: take.limit,
      used: number,
      remaining: Math.max(0, take.limit - number),
      resetSeconds: Math.max(1, (count?.resetSeconds ?? 0) + take.windowSeconds),
    };
  });
}

/** Deletes windows that ended long ago. A window that began at midnight (UTC) may last a day, because rows do not contain their length. */
export async function sweepRateWindows(database: Database, at: Date = now()): Promise<void> {
  await sql`
    delete from rate_windows
    where started_at < ${at}::timestamptz - interval '1 hour'
      and (started_at < ${at}::timestamptz - interval '24 hours'
        or started_at <> date_bin('24 hours', started_at, 'epoch'))`.execute(database);
}
