// Reads the event names that workflows of a project wait for.
import { sql } from "kysely";
import { ANY_CHANGE } from "../reactions/reactions.ts";
import type { Database } from "../platform/database/database.ts";

/** Lists the trigger events of enabled workflows, changes of contacts for their dates, and the events that graphs wait for or that may end their executions or be their goal, of graphs that are used or can be. */
export async function listAwaitedEvents(database: Database, projectId: string): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`
    select w.trigger_event as name from workflows w
    where w.project_id = ${projectId} and w.enabled and w.trigger_event is not null
    union
    select ${ANY_CHANGE}::text from workflows w where w.project_id = ${projectId} and w.dates_since is not null
    union
    select waited as name from workflow_versions v
    join workflows w on w.project_id = v.project_id and w.id = v.workflow_id, unnest(v.wait_names || v.exit_names || v.goal_name) as waited
    where v.project_id = ${projectId} and waited is not null and (v.is_used or w.enabled and w.version = v.version)`.execute(
    database,
  );
  return rows.map((row) => row.name);
}
