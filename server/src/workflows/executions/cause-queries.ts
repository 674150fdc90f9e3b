// Queries on failed executions by cause. Errors with the same text apart from quoted values have the same cause.
import { sql, type RawBuilder, type SqlBool } from "kysely";
import type { Database } from "../../platform/database/database.ts";

/** Characters of an error that count for its cause. */
const CAUSE_LENGTH = 300;

/** The cause of execution `x`: a hash of its error without quoted values and a value at the end. */
const CAUSE = sql`encode(substring(sha256(convert_to(regexp_replace(regexp_replace(
  left(coalesce(x.exit_reason, ''), ${sql.lit(CAUSE_LENGTH)}), '"(\\\\.|[^"\\\\])*("|$)', '…', 'g'), ': -?[0-9][0-9.e+-]*$', ': ….'), 'UTF8')) for 8), 'hex')`;

/** A selection of failures. */
export interface FailureFilter {
  cause?: string | undefined;
  failedUntil?: string | undefined;
}

/** Returns whether execution `x` failed for this cause until this time. */
export function isFailureOf({ cause, failedUntil }: FailureFilter): RawBuilder<SqlBool> {
  const conditions = [sql<SqlBool>`x.status = 'FAILED'`];
  if (cause !== undefined) conditions.push(sql`${CAUSE} = ${cause}`);
  if (failedUntil !== undefined) conditions.push(sql`x.ended_at <= ${failedUntil}::timestamptz`);
  return sql.join(conditions, sql` and `) as RawBuilder<SqlBool>;
}

export interface FailureGroup {
  stepId: string;
  stepName: string | null;
  stepType: string | null;
  cause: string;
  error: string;
  count: number;
  newestAt: Date;
  executionId: string;
  contactId: string | null;
  email: string | null;
  /** All failed executions of the workflow. */
  total: number;
}

/** Groups the newest failed executions of a workflow by step and cause, the largest group first, each with its newest execution. */
export async function listFailureGroups(
  database: Database,
  projectId: string,
  workflowId: string,
  { newest, groups }: { newest: number; groups: number },
): Promise<FailureGroup[]> {
  const { rows } = await sql<FailureGroup>`
    with failed as materialized (
      select id from workflow_executions
      where project_id = ${projectId} and workflow_id = ${workflowId} and status = 'FAILED' and step_id is not null
      order by id desc limit ${newest}
    ), grouped as (
      select x.step_id, ${CAUSE} as cause, count(*) as count, max(x.ended_at) as newest_at,
        (array_agg(x.id order by x.ended_at desc, x.id desc))[1] as execution_id
      from failed join workflow_executions x on x.project_id = ${projectId} and x.id = failed.id
      group by x.step_id, cause order by count desc, newest_at desc, execution_id limit ${groups}
    )
    select g.step_id, step ->> 'name' as step_name, step ->> 'type' as step_type, g.cause, coalesce(x.exit_reason, '') as error,
      g.count, g.newest_at, g.execution_id, x.contact_id, c.email, (
        select count(*) from workflow_executions
        where project_id = ${projectId} and workflow_id = ${workflowId} and status = 'FAILED'
      ) as total
    from grouped g
    join workflow_executions x on x.project_id = ${projectId} and x.id = g.execution_id
    join workflow_versions v on v.project_id = x.project_id and v.workflow_id = x.workflow_id and v.version = x.version
    left join contacts c on c.project_id = x.project_id and c.id = x.contact_id
    left join lateral jsonb_path_query_first(v.graph, '$.steps[*] ? (@.id == $id)', jsonb_build_object('id', g.step_id)) step on true
    order by g.count desc, g.newest_at desc, g.execution_id`.execute(database);
  return rows;
}
