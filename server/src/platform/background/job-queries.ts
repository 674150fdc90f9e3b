// Contains the SQL for `jobs`, `job_files` and `job_errors`. Each claim names one project, for fairness and so that a sharded database is
// possible.
import { sql, type RawBuilder, type SqlBool } from "kysely";
import type { Database, Tx } from "../database/database.ts";
import type { Row } from "../database/row.ts";
import { notify } from "../notify.ts";
import { ofProject } from "../database/of-project.ts";

export interface JobKey {
  projectId: string;
  id: string;
}

export async function insertJob(
  tx: Tx,
  job: JobKey & { kind: string; input: string; bytes: Buffer | RawBuilder<Buffer> | null },
): Promise<void> {
  await sql`insert into jobs (project_id, id, kind, input)
    values (${job.projectId}, ${job.id}, ${job.kind}, ${job.input}::jsonb)`.execute(tx);
  if (job.bytes !== null)
    await sql`insert into job_files (project_id, job_id, bytes) select ${job.projectId}::uuid, ${job.id}::uuid, ${job.bytes}::bytea`.execute(
      tx,
    );
  notify(tx, "jobs");
}

export async function findJob(database: Database, { projectId, id }: JobKey, kinds: readonly string[]) {
  return database
    .selectFrom("jobs")
    .select(["id", "kind", "state", "input", "progress", "result", "failedReason", "createdAt", "finishedAt"])
    .where("projectId", "=", projectId)
    .where("id", "=", id)
    .where("kind", "in", kinds)
    .executeTakeFirst();
}

/** Returns the input of a job, or undefined if it does not exist. */
export async function findJobInput(database: Database, { projectId, id }: JobKey): Promise<unknown> {
  const row = await database
    .selectFrom("jobs")
    .select("input")
    .where("projectId", "=", projectId)
    .where("id", "=", id)
    .executeTakeFirst();
  return row?.input;
}

export async function listProjectsWithDueJobs(
  database: Database,
  kinds: readonly string[],
): Promise<string[]> {
  const { rows } = await sql<{ projectId: string }>`
    select distinct project_id from jobs
    where state in ('waiting', 'active') and due_at <= now() and kind = any(${kinds}::text[])`.execute(
    database,
  );
  return rows.map((row) => row.projectId);
}

export async function claimJob(
  database: Database,
  claim: { projectId: string; kinds: readonly string[]; claimId: string; leaseMs: number },
): Promise<{ id: string; kind: string } | undefined> {
  // Materialized because a plain sub-select may run once per joined row and then claim more than one job.
  const { rows } = await sql<{ id: string; kind: string }>`
    with due as materialized (
      select id from jobs
      where project_id = ${claim.projectId} and state in ('waiting', 'active') and due_at <= now()
        and kind = any(${claim.kinds}::text[])
      order by due_at limit 1 for update skip locked
    )
    update jobs j set state = 'active', claim_id = ${claim.claimId},
      due_at = now() + make_interval(secs => ${claim.leaseMs / 1000})
    from due where j.project_id = ${claim.projectId} and j.id = due.id
    returning j.id, j.kind`.execute(database);
  return rows[0];
}

export type ClaimedJob = Row<"jobs", "input" | "checkpoint" | "failures" | "createdAt">;

/** Locks the job for one step if the claim is still valid. No other process can take it during the transaction. */
export async function findClaimedForUpdate(
  tx: Tx,
  { projectId, id }: JobKey,
  claimId: string,
): Promise<ClaimedJob | undefined> {
  const { rows } = await sql<ClaimedJob>`
    select input, checkpoint, failures, created_at from jobs
    where project_id = ${projectId} and id = ${id} and claim_id = ${claimId} and state = 'active' for update`.execute(
    tx,
  );
  return rows[0];
}

export async function updateJobStep(
  tx: Tx,
  { projectId, id }: JobKey,
  step: { checkpoint: string; progress: number; leaseMs: number },
): Promise<void> {
  await sql`update jobs set checkpoint = ${step.checkpoint}::jsonb, progress = ${step.progress}, failures = 0,
      due_at = now() + make_interval(secs => ${step.leaseMs / 1000})
    where project_id = ${projectId} and id = ${id}`.execute(tx);
}

export async function updateJobCompleted(tx: Tx, { projectId, id }: JobKey, result: string): Promise<void> {
  await sql`update jobs set state = 'completed', progress = 100, result = ${result}::jsonb, checkpoint = null,
      claim_id = null, finished_at = now()
    where project_id = ${projectId} and id = ${id}`.execute(tx);
  await sql`delete from job_files where project_id = ${projectId} and job_id = ${id}`.execute(tx);
}

/**
 * Marks the job as failed and deletes its file, or, if the reason is null, makes it available again after the wait.
 * @returns undefined if the claim was no longer valid
 */
export async function updateJobFailed(
  database: Database,
  { projectId, id }: JobKey,
  failure: { claimId: string; reason: string | null; waitMs: number },
): Promise<{ input: unknown } | undefined> {
  const { rows } = await sql<{ input: unknown }>`with settled as (
      update jobs set failures = failures + 1, claim_id = null,
        state = case when ${failure.reason}::text is null then state else 'failed' end,
        failed_reason = ${failure.reason},
        finished_at = ${failure.reason === null ? null : sql`now()`},
        due_at = now() + make_interval(secs => ${failure.waitMs / 1000})
      where project_id = ${projectId} and id = ${id} and claim_id = ${failure.claimId}
      returning project_id, id, state, input
    ), forgotten as (
      delete from job_files f using settled s
      where s.state = 'failed' and f.project_id = s.project_id and f.job_id = s.id
    )
    select input from settled`.execute(database);
  return rows[0];
}

/** Releases a job between two steps. It moves behind other due jobs, after a wait if there is one. */
export async function releaseJob(
  database: Database,
  { projectId, id }: JobKey,
  { claimId, waitMs }: { claimId: string; waitMs: number },
): Promise<void> {
  await sql`update jobs set claim_id = null, due_at = now() + make_interval(secs => ${waitMs / 1000})
    where project_id = ${projectId} and id = ${id} and claim_id = ${claimId} and state = 'active'`.execute(
    database,
  );
}

/** Returns a part of the uploaded file starting at a byte, empty at its end. */
export async function readJobFile(
  database: Database,
  { projectId, id }: JobKey,
  part: { offset: number; length: number },
): Promise<Buffer> {
  const { rows } = await sql<{ bytes: Buffer }>`
    select substring(bytes from ${part.offset + 1}::integer for ${part.length}::integer) as bytes
    from job_files where project_id = ${projectId} and job_id = ${id}`.execute(database);
  return rows[0]?.bytes ?? Buffer.alloc(0);
}

/** Returns the length of the file in bytes. */
export async function countJobFileBytes(database: Database, { projectId, id }: JobKey): Promise<number> {
  const { rows } = await sql<{ bytes: number }>`
    select octet_length(bytes) as bytes from job_files where project_id = ${projectId} and job_id = ${id}`.execute(
    database,
  );
  return rows[0]?.bytes ?? 0;
}

export interface JobError extends Row<"job_errors", "row" | "subject" | "error"> {
  /** The parts of the error by code. Null if it has none or is from an older version. */
  parts: readonly ErrorPart[] | null;
  /** The cells of the file's row. Null without a row, and in imports of older versions. */
  cells?: readonly string[] | null;
}

interface ErrorPart {
  code: string;
  values: Readonly<Record<string, string | number>>;
  text: string;
}

export async function insertJobErrors(
  tx: Tx,
  { projectId, id }: JobKey,
  errors: readonly JobError[],
): Promise<void> {
  if (errors.length === 0) return;
  await sql`insert into job_errors (project_id, job_id, row, subject, error, parts, cells)
    select ${projectId}::uuid, ${id}::uuid, * from unnest(
      ${errors.map((error) => error.row)}::integer[],
      ${errors.map((error) => error.subject)}::text[],
      ${errors.map((error) => error.error)}::text[],
      ${errors.map(({ parts }) => (parts === null ? null : JSON.stringify(parts)))}::jsonb[],
      ${errors.map(({ cells }) => (cells == null ? null : JSON.stringify(cells)))}::jsonb[]
    ) on conflict do nothing`.execute(tx);
}

/** Returns the first errors of a job, or the errors after a row. */
export async function listJobErrors(
  database: Database,
  { projectId, id }: JobKey,
  page: { afterRow: number; limit: number },
): Promise<JobError[]> {
  return database
    .selectFrom("job_errors")
    .select(["row", "subject", "error", "parts", "cells"])
    .where("projectId", "=", projectId)
    .where("jobId", "=", id)
    .where("row", ">", page.afterRow)
    .orderBy("row")
    .limit(page.limit)
    .$narrowType<{ parts: JobError["parts"]; cells: string[] | null }>()
    .execute();
}

/** Deletes all jobs of a project except this one. Waits for a running step to end first. */
export async function deleteJobsBeside(tx: Tx, { projectId, id }: JobKey): Promise<void> {
  await tx.deleteFrom("jobs").where("projectId", "=", projectId).where("id", "<>", id).execute();
}

/** Deletes old jobs, but keeps a job until its undo job has ended. */
export async function deleteOldJobs(database: Database, days: number): Promise<void> {
  await sql`delete from jobs j where j.state in ('completed', 'failed')
    and j.finished_at < now() - make_interval(days => ${days})
    and not exists (
      select 1 from jobs u where u.project_id = j.project_id and u.state in ('waiting', 'active')
        and u.input ->> 'undoes' = j.id::text)`.execute(database);
}

/** Returns the id of the job that undoes another job, or that failed to. */
export async function findUndoing(
  database: Database,
  { projectId, id }: JobKey,
): Promise<string | undefined> {
  const { rows } = await sql<{ id: string }>`
    select id from jobs where project_id = ${projectId} and input ? 'undoes' and input ->> 'undoes' = ${id}
    order by state = 'failed', id desc limit 1`.execute(database);
  return rows[0]?.id;
}

const isHeld = sql<SqlBool>`state in ('waiting', 'active') and due_at = 'infinity'`;

/** Holds all waiting jobs and drops their claims, so a running step can no longer commit. */
export async function updateJobsToHeld(tx: Tx, kinds: readonly string[]): Promise<void> {
  await sql`
    update jobs set due_at = 'infinity', claim_id = null
    where state in ('waiting', 'active') and due_at < 'infinity' and kind = any(${kinds}::text[])`.execute(
    tx,
  );
}

export async function updateJobsToReleased(tx: Tx, projectId: string | null): Promise<void> {
  await sql`update jobs set due_at = now() where ${isHeld} ${ofProject(projectId)}`.execute(tx);
  notify(tx, "jobs");
}

export async function updateJobsToDropped(tx: Tx, projectId: string | null, reason: string): Promise<void> {
  await sql`
    with dropped as (
      update jobs set state = 'failed', failed_reason = ${reason}, due_at = now(), finished_at = now()
      where ${isHeld} ${ofProject(projectId)} returning project_id, id
    )
    delete from job_files f using dropped d where f.project_id = d.project_id and f.job_id = d.id`.execute(
    tx,
  );
}

export async function countHeldJobs(database: Database): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*)::float8 as count from jobs where ${isHeld}`.execute(database);
  return rows[0]?.count ?? 0;
}
