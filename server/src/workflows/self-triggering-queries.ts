// Reads the workflows and segments that a loop can pass through.
import { sql } from "kysely";
import type { Filter } from "@postloft/contract/filters.ts";
import type { GraphStep } from "@postloft/contract/workflows/graph.ts";
import { DATE_EVENT } from "./self-triggering.ts";
import type { Database } from "../platform/database/database.ts";

export interface ReenteredRow {
  id: string;
  name: string;
  triggerEvent: string;
  /** Only SEND_EMAIL and UPDATE_CONTACT, which cause events. */
  steps: GraphStep[];
}

/** Lists the enabled workflows with re-entry that an event of the service or a date starts, because steps can start only these. */
export async function listReenteredWorkflows(database: Database, projectId: string): Promise<ReenteredRow[]> {
  const { rows } = await sql<ReenteredRow>`
    select w.id, w.name, coalesce(w.trigger_event, ${DATE_EVENT} || (w.trigger_config ->> 'dateField')) as trigger_event, coalesce((
      select jsonb_agg(step) from jsonb_array_elements(v.graph -> 'steps') as step
      where step ->> 'type' in ('SEND_EMAIL', 'UPDATE_CONTACT')
    ), '[]') as steps
    from workflows w
    join workflow_versions v on v.project_id = w.project_id and v.workflow_id = w.id and v.version = w.version
    where w.project_id = ${projectId} and w.enabled and w.allow_reentry and (w.trigger_event ~ '^(email|contact|segment)[.]' or w.dates_since is not null)
    order by w.id`.execute(database);
  return rows;
}

export interface SegmentRow {
  id: string;
  slug: string;
  isTracked: boolean;
  filters: Filter | null;
}

/** Lists all segments of a project, because a tracked segment may refer to others. */
export async function listSegmentFilters(database: Database, projectId: string): Promise<SegmentRow[]> {
  const { rows } = await sql<SegmentRow>`
    select id, slug, track_membership as is_tracked, filters from segments where project_id = ${projectId}
    order by id`.execute(database);
  return rows;
}
