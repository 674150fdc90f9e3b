// Runs jobs that work through many rows in steps. Each step commits its effects and its checkpoint in one transaction, so after a crash the
// next process repeats nothing and skips nothing (docs/decisions/0011-jobs-are-rows-of-our-own.md).
import type { jobResponse, JobState } from "@postloft/contract/job.ts";
import type { RawBuilder } from "kysely";
import type { z } from "zod";
import { startLoop } from "./background.ts";
import { allowLongWork, asUnavailable, transaction, type Database, type Tx } from "../database/database.ts";
import type { ConstraintErrors } from "../database/constraint-errors.ts";
import { newId } from "../ids.ts";
import {
  claimJob,
  deleteOldJobs,
  findClaimedForUpdate,
  findJob,
  findUndoing,
  insertJob,
  listProjectsWithDueJobs,
  releaseJob,
  updateJobCompleted,
  updateJobFailed,
  updateJobStep,
  type JobKey,
} from "./job-queries.ts";
import type { Log } from "../log.ts";
import type { Metrics } from "../metrics.ts";
import { AppError } from "../app-error.ts";

export {
  countHeldJobs,
  countJobFileBytes,
  deleteJobsBeside,
  findJobInput,
  insertJobErrors,
  listJobErrors,
  readJobFile,
  updateJobsToDropped as dropHeldJobs,
  updateJobsToHeld as holdJobs,
  updateJobsToReleased as releaseHeldJobs,
  type JobError,
  type JobKey,
} from "./job-queries.ts";
export { listJobs } from "./job-list-queries.ts";

/** The outcome of one step, either the checkpoint or the final result. */
export type StepOutcome =
  | { done: false; checkpoint: unknown; progress: number }
  | { done: true; result: unknown };

export interface RunningJob extends JobKey {
  input: unknown;
  /** The checkpoint of the previous step, or null at the first. */
  checkpoint: unknown;
  createdAt: Date;
}

/** Runs one step of a job, ideally in less than a second. @throws JobFailure to end the job */
export type JobStep = (tx: Tx, job: RunningJob) => Promise<StepOutcome>;

/** Ends a job with a reason for people. The job is not retried. */
export class JobFailure extends Error {
  override name = "JobFailure";
}

/** Converts a permanent AppError to a JobFailure, which ends the job. Any other error is rethrown so that the step is retried. */
export function asJobFailure(error: unknown): never {
  if (error instanceof AppError && error.retryAfterSeconds === null)
    throw new JobFailure(error.fields?.[0]?.message ?? error.message);
  throw error;
}

/** A job that is not retried, and the reason. */
export interface FailedJob extends JobKey {
  kind: string;
  input: unknown;
  reason: string;
}

export interface JobRunner {
  /** Checks for jobs now, because one was added. */
  wake(): void;
  /** Finishes the running steps and releases the jobs. */
  stop(): Promise<void>;
}

/** After this time a dead process loses its job. Each step renews the lease. */
const LEASE_MS = 15_000;
/** How long one job runs before the next job has its turn. */
const TURN_MS = 5_000;
const POLL_MS = 5_000;
const JOBS_AT_ONCE = 2;
const MAX_FAILURES = 5;
const FIRST_RETRY_MS = 1_000;
const KEPT_DAYS = 30;

/**
 * Queues a job in the caller's transaction and returns its id. `bytes` is a file that the job reads, or an SQL expression that produces it.
 */
export async function addJob(
  tx: Tx,
  job: { projectId: string; kind: string; input: unknown; bytes?: Buffer | RawBuilder<Buffer> },
): Promise<string> {
  const id = newId();
  await insertJob(tx, {
    projectId: job.projectId,
    id,
    kind: job.kind,
    input: JSON.stringify(job.input),
    bytes: job.bytes ?? null,
  });
  return id;
}

export type JobView<Result = unknown> = z.output<ReturnType<typeof jobResponse<z.ZodType<Result>>>>;

/** Returns a job of one of these kinds as its caller may see it (decisions §3). `Result` is the type of the last step's result. */
export async function readJob<Result = unknown>(
  database: Database,
  key: JobKey,
  kinds: readonly string[],
): Promise<JobView<Result> | undefined> {
  const row = await findJob(database, key, kinds);
  if (row === undefined) return undefined;
  return {
    id: row.id,
    state: row.state as JobState,
    progress: row.progress,
    result: row.result as Result | null,
    failedReason: row.failedReason,
    createdAt: row.createdAt.toISOString(),
    finishedAt: row.finishedAt?.toISOString() ?? null,
  };
}

/** Returns the input and the end of a job, or undefined if it is not one of these kinds. */
export async function readJobInput(
  database: Database,
  key: JobKey,
  kinds: readonly string[],
): Promise<{ input: unknown; finishedAt: Date | null } | undefined> {
  return findJob(database, key, kinds);
}

export const JOB_CONSTRAINTS: ConstraintErrors = new Map([
  [
    "jobs_undoing",
    () => new AppError("CONFLICT", { message: "This was already undone or is being undone." }),
  ],
]);

/** Queues a job that undoes another. Fails with an error of `JOB_CONSTRAINTS` if another job already does or did so. */
export async function addUndoJob(
  tx: Tx,
  job: { projectId: string; kind: string; undoes: string; actor: string },
): Promise<string> {
  const { projectId, kind, undoes, actor } = job;
  return addJob(tx, { projectId, kind, input: { undoes, actor } });
}

/** Returns the job that undoes another, if one was requested. */
export async function readUndoJob<Result>(
  database: Database,
  key: JobKey,
  kind: string,
): Promise<JobView<Result> | undefined> {
  const id = await findUndoing(database, key);
  return id === undefined ? undefined : readJob<Result>(database, { ...key, id }, [kind]);
}

/** Deletes jobs that ended long ago. */
export async function sweepJobs(database: Database): Promise<void> {
  await deleteOldJobs(database, KEPT_DAYS);
}

/** Runs jobs of these kinds until stopped, in any number of processes. Other kinds wait for a process that knows them. */
// oxlint-disable-next-line max-lines-per-function -- the inner functions share its state
export function startJobs(options: {
  database: Database;
  kinds: Readonly<Record<string, JobStep>>;
  /** Runs the consequences of a failed job, in the transaction that ends it. */
  onFailed?: (tx: Tx, job: FailedJob) => Promise<void>;
  log: Log;
  metrics: Metrics;
}): JobRunner {
  const { database, kinds, onFailed, log, metrics } = options;
  const known = Object.keys(kinds);

  async function runStep(key: JobKey, claimId: string, step: JobStep): Promise<"goes on" | "ended"> {
    return transaction(database, async (tx) => {
      await allowLongWork(tx);
      const row = await findClaimedForUpdate(tx, key, claimId);
      if (row === undefined) return "ended";
      const outcome = await step(tx, {
        ...key,
        input: row.input,
        checkpoint: row.checkpoint,
        createdAt: row.createdAt,
      });
      if (outcome.done) {
        await updateJobCompleted(tx, key, JSON.stringify(outcome.result));
        return "ended";
      }
      const checkpoint = JSON.stringify(outcome.checkpoint);
      // Only a job that has ended is at 100.
      const progress = Math.max(0, Math.min(99, Math.floor(outcome.progress)));
      await updateJobStep(tx, key, { checkpoint, progress, leaseMs: LEASE_MS });
      return "goes on";
    });
  }

  /** Runs steps until the job ends or its turn is over. */
  async function takeTurn(key: JobKey, claimId: string, kind: string, signal: AbortSignal): Promise<void> {
    const step = kinds[kind];
    if (step === undefined) throw new Error(`A job of the unknown kind ${kind} was claimed.`);
    const turnEndsMs = performance.now() + TURN_MS;
    while ((await runStep(key, claimId, step)) === "goes on") {
      if (!signal.aborted && performance.now() < turnEndsMs) continue;
      await releaseJob(database, key, { claimId, waitMs: 0 });
      return;
    }
  }

  async function work(key: JobKey, claimId: string, kind: string, signal: AbortSignal): Promise<void> {
    try {
      await takeTurn(key, claimId, kind, signal);
    } catch (error) {
      await fail(key, claimId, kind, error);
    }
  }

  /** Waits for temporary failures without limit and retries all others a few times. */
  async function fail(key: JobKey, claimId: string, kind: string, error: unknown): Promise<void> {
    const ids = { projectId: key.projectId, jobId: key.id, kind };
    if (error instanceof JobFailure) {
      await end(key, claimId, kind, error.message);
      return;
    }
    const passing = asUnavailable(error);
    if (passing instanceof AppError && passing.retryAfterSeconds !== null) {
      log.warn({ err: error, ...ids }, "job is waiting for the database or another dependency");
      await releaseJob(database, key, { claimId, waitMs: passing.retryAfterSeconds * 1000 });
      return;
    }
    const failures = (await transaction(database, (tx) => findClaimedForUpdate(tx, key, claimId)))?.failures;
    log.error({ err: error, ...ids }, "job step failed");
    if ((failures ?? 0) + 1 >= MAX_FAILURES) {
      await end(key, claimId, kind, "An unexpected error. The log has it next to the job's id.");
      return;
    }
    const waitMs = FIRST_RETRY_MS * 2 ** (failures ?? 0);
    await updateJobFailed(database, key, { claimId, reason: null, waitMs });
  }

  /** Ends a job as failed and runs `onFailed` once. */
  async function end(key: JobKey, claimId: string, kind: string, reason: string): Promise<void> {
    await transaction(database, async (tx) => {
      const failed = await updateJobFailed(tx, key, { claimId, reason, waitMs: 0 });
      if (failed !== undefined) await onFailed?.(tx, { ...key, kind, input: failed.input, reason });
    });
  }

  /** Claims one due job of any project and runs it, then looks for the next. */
  async function runOnce(signal: AbortSignal): Promise<number> {
    const projects = await listProjectsWithDueJobs(database, known);
    const start = Math.floor(Math.random() * projects.length);
    for (const projectId of [...projects.slice(start), ...projects.slice(0, start)]) {
      const claimId = newId();
      const job = await claimJob(database, { projectId, kinds: known, claimId, leaseMs: LEASE_MS });
      if (job === undefined) continue;
      await work({ projectId, id: job.id }, claimId, job.kind, signal);
      return 0;
    }
    return POLL_MS;
  }

  const notifiedBy = { database, topic: "jobs" } as const;
  const loops = Array.from({ length: JOBS_AT_ONCE }, () =>
    startLoop({ name: "jobs", runOnce, everyMs: POLL_MS, notifiedBy, log, metrics }),
  );
  return {
    wake: () => loops.forEach((loop) => loop.wake()),
    async stop() {
      await Promise.all(loops.map((loop) => loop.stop()));
    },
  };
}
