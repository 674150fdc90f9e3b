// Lists the jobs of a kind with the state of their undo.
import { sql } from "kysely";
import type { Database } from "../database/database.ts";
import type { Row } from "../database/row.ts";

export interface ListedJob<Result> extends Row<"jobs", "id" | "state" | "createdAt" | "finishedAt"> {
  /** The requested keys of the result, or null before the job is completed. */
  result: Result | null;
  isUndone: boolean;
}

/**
 * Returns up to `limit + 1` jobs of a kind, newest first, without dry runs.
 * @param keys those of the result to return, because lists of errors are large
 */
export async function listJobs<Result>(
  database: Database,
  { projectId, kind, keys }: { projectId: string; kind: string; keys: readonly (keyof Result & string)[] },
  { before, limit }: { before: string | null; limit: number },
): Promise<Array<ListedJob<Result>>> {
  const isBehind = before === null ? sql`` : sql`and j.id < ${before}`;
  const { rows } = await sql<ListedJob<Result>>`
    select j.id, j.state, j.created_at, j.finished_at,
      case when j.result is not null then (
        select jsonb_object_agg(r.key, r.value) from jsonb_each(j.result) r where r.key = any(${keys}::text[])
      ) end as result,
      exists (
        select 1 from jobs u
        where u.project_id = ${projectId} and u.input ? 'undoes' and u.input ->> 'undoes' = j.id::text and u.state = 'completed'
      ) as is_undone
    from jobs j
    where j.project_id = ${projectId} and j.kind = ${kind} and j.input ->> 'dryRun' is distinct from 'true' ${isBehind}
    order by j.id desc limit ${limit + 1}`.execute(database);
  return rows;
}
