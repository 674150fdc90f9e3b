// Queries on failed executions: by step with the last error, and those that a digest reports.
import { sql } from "kysely";
import type { Database } from "../../platform/database/database.ts";

/** The name of the step at which execution `x` is. Needs its version `v`. */
const STEP_NAME = sql`coalesce(jsonb_path_query_first(v.graph, '$.steps[*] ? (@.id == $id)', jsonb_build_object('id', x.step_id)) ->> 'name', '')`;
const VERSION = sql`join workflow_versions v on v.project_id = x.project_id and v.workflow_id = x.workflow_id and v.version = x.version`;
/** Characters of a response in a problem. */
const SHOWN_RESPONSE = 200;

export interface StepFailures {
  stepId: string;
  stepName: string;
  count: number;
  /** The error of the newest execution. */
  error: string;
  /** The beginning of the last response, while the call is kept. Null without a response. */
  response: string | null;
}

/** Returns the failed executions of a workflow by step, with the newest execution's error and response. */
export async function listStepFailures(
  database: Database,
  projectId: string,
  workflowId: string,
): Promise<StepFailures[]> {
  const { rows } = await sql<StepFailures>`
    select f.step_id, f.count, last.step_name, coalesce(last.exit_reason, '') as error,
      left(c.response_body, ${SHOWN_RESPONSE}) as response
    from (
      select step_id, count(*) as count from workflow_executions
      where project_id = ${projectId} and workflow_id = ${workflowId} and status = 'FAILED' and step_id is not null
      group by step_id
    ) f
    cross join lateral (
      select x.exit_reason, x.trace -> -1 -> 'out' ->> 'callId' as call_id, ${STEP_NAME} as step_name
      from workflow_executions x ${VERSION}
      where x.project_id = ${projectId} and x.workflow_id = ${workflowId} and x.status = 'FAILED' and x.step_id = f.step_id
      order by x.id desc limit 1
    ) last
    left join webhook_calls c on c.project_id = ${projectId} and c.id = last.call_id::uuid
    order by f.step_id`.execute(database);
  return rows;
}

export interface DueDigest {
  projectId: string;
  workflowId: string;
  name: string;
  count: number;
}

/** Returns workflows whose members were notified before `since`, and that have failed since that notification. */
export async function listDueDigests(
  database: Database,
  { kind, since, limit }: { kind: string; since: Date; limit: number },
): Promise<DueDigest[]> {
  const { rows } = await sql<DueDigest>`
    select w.project_id, w.id as workflow_id, w.name, count(*) as count
    from told_members t
    join workflows w on w.project_id = t.project_id and t.kind = ${kind} || ' ' || w.id
    join workflow_executions x on x.project_id = w.project_id and x.workflow_id = w.id and x.status = 'FAILED' and x.ended_at > t.told_at
    where t.told_at < ${since.toISOString()}::timestamptz
    group by w.project_id, w.id, w.name order by w.project_id, w.id limit ${limit}`.execute(database);
  return rows;
}

/** Returns the step and the error of the newest failed execution of a workflow. */
export async function findLastFailure(
  database: Database,
  projectId: string,
  workflowId: string,
): Promise<{ step: string; error: string } | undefined> {
  const { rows } = await sql<{ step: string; error: string }>`
    select ${STEP_NAME} as step, coalesce(x.exit_reason, '') as error from workflow_executions x ${VERSION}
    where x.project_id = ${projectId} and x.workflow_id = ${workflowId} and x.status = 'FAILED'
    order by x.ended_at desc, x.id desc limit 1`.execute(database);
  return rows[0];
}
