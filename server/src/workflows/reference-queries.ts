// Reads and locks the templates and segments that workflows refer to, and finds the workflows that refer to something.
import { sql, type RawBuilder } from "kysely";
import type { TemplateType } from "@postloft/contract/templates.ts";
import type { Graph } from "@postloft/contract/workflows/graph.ts";
import type { Database, Tx } from "../platform/database/database.ts";
import type { Row } from "../platform/database/row.ts";

export interface KnownTemplate extends Row<
  "templates",
  "id" | "name" | "fromAddress" | "subject" | "previewText"
> {
  type: TemplateType;
  /** Null if the bodies together are too large to check. */
  body: string | null;
}

/** Finds templates by id, with bodies up to `maxBytes` in total. */
export async function findKnownTemplates(
  database: Database,
  projectId: string,
  ids: readonly string[],
  maxBytes: number,
): Promise<KnownTemplate[]> {
  const { rows } = await sql<KnownTemplate>`
    select id, name, type, from_address, subject, preview_text,
      case when sum(octet_length(body)) over (order by id) <= ${maxBytes} then body end as body
    from templates where project_id = ${projectId} and id = any(${ids}::uuid[]) order by id`.execute(
    database,
  );
  return rows;
}

export interface KnownVariant extends Row<
  "template_variants",
  "templateId" | "locale" | "subject" | "previewText"
> {
  /** Null if the bodies together are too large to check. */
  body: string | null;
}

/** Finds the variants of templates, with bodies up to `maxBytes` in total. */
export async function findKnownVariants(
  database: Database,
  projectId: string,
  templateIds: readonly string[],
  maxBytes: number,
): Promise<KnownVariant[]> {
  const { rows } = await sql<KnownVariant>`
    select template_id, locale, subject, preview_text,
      case when sum(octet_length(body)) over (order by template_id, locale) <= ${maxBytes} then body end as body
    from template_variants where project_id = ${projectId} and template_id = any(${templateIds}::uuid[])
    order by template_id, locale`.execute(database);
  return rows;
}

/** Locks templates until the end of the transaction. A deletion waits for the lock and then finds this use. */
export async function lockTemplates(tx: Tx, projectId: string, ids: readonly string[]): Promise<Set<string>> {
  const { rows } = await sql<{ id: string }>`
    select id from templates where project_id = ${projectId} and id = any(${ids}::uuid[]) order by id for key share`.execute(
    tx,
  );
  return new Set(rows.map((row) => row.id));
}

export async function findTemplatesNamed(
  tx: Tx,
  projectId: string,
  names: readonly string[],
): Promise<Array<{ id: string; name: string }>> {
  const { rows } = await sql<{ id: string; name: string }>`
    select id, name from templates where project_id = ${projectId} and name = any(${names}::text[]) order by id`.execute(
    tx,
  );
  return rows;
}

export type KnownSegment = Row<"segments", "id" | "name" | "slug" | "type" | "trackMembership">;

const SEGMENT = sql`select id, name, slug, type, track_membership from segments`;

export async function findKnownSegments(
  database: Database,
  projectId: string,
  ids: readonly string[],
): Promise<KnownSegment[]> {
  const { rows } = await sql<KnownSegment>`
    ${SEGMENT} where project_id = ${projectId} and id = any(${ids}::uuid[])`.execute(database);
  return rows;
}

/** Returns how many members a tracked segment has, or null if the segment does not exist. */
export async function findMemberCount(
  database: Database,
  projectId: string,
  id: string,
): Promise<number | null> {
  const { rows } = await sql<{ memberCount: number }>`
    select member_count from segments where project_id = ${projectId} and id = ${id}`.execute(database);
  return rows[0]?.memberCount ?? null;
}

/** Locks segments until the end of the transaction, as `lockTemplates` does. */
export async function lockSegments(
  tx: Tx,
  projectId: string,
  ids: readonly string[],
): Promise<KnownSegment[]> {
  const { rows } = await sql<KnownSegment>`
    ${SEGMENT} where project_id = ${projectId} and id = any(${ids}::uuid[]) order by id for key share`.execute(
    tx,
  );
  return rows;
}

export async function findSegmentsBySlug(
  tx: Tx,
  projectId: string,
  slugs: readonly string[],
): Promise<KnownSegment[]> {
  const { rows } = await sql<KnownSegment>`
    ${SEGMENT} where project_id = ${projectId} and slug = any(${slugs}::text[])`.execute(tx);
  return rows;
}

export interface NamedRow {
  id: string;
  name: string;
}

const CURRENT = sql`workflows w
  join workflow_versions v on v.project_id = w.project_id and v.workflow_id = w.id and v.version = w.version`;

/** Lists the steps in current graphs that send a template. */
export async function listStepsSending(
  database: Database,
  projectId: string,
  templateId: string,
): Promise<Array<{ workflowId: string; workflowName: string; stepId: string }>> {
  const { rows } = await sql<{ workflowId: string; workflowName: string; stepId: string }>`
    select w.id as workflow_id, w.name as workflow_name, step ->> 'id' as step_id
    from ${CURRENT}, jsonb_array_elements(v.graph -> 'steps') step
    where w.project_id = ${projectId}
      and v.graph @> ${JSON.stringify({ steps: [{ config: { templateId } }] })}::jsonb
      and step #>> '{config,templateId}' = ${templateId}
    order by w.id`.execute(database);
  return rows;
}

async function listNaming(
  database: Database,
  projectId: string,
  condition: RawBuilder<unknown>,
): Promise<NamedRow[]> {
  const { rows } = await sql<NamedRow>`
    select w.id, w.name from ${CURRENT} where w.project_id = ${projectId} and ${condition} order by w.id`.execute(
    database,
  );
  return rows;
}

export interface ActivePlace {
  workflowId: string;
  workflowName: string;
  version: number;
  graph: Graph;
  stepId: string;
  executions: number;
}

/** Lists where the active executions of a project are, in all versions with a graph `v.graph` of some condition. */
async function listActivePlaces(
  database: Database,
  projectId: string,
  condition: RawBuilder<unknown>,
): Promise<ActivePlace[]> {
  const { rows } = await sql<ActivePlace>`
    with versions as materialized (
      select v.workflow_id, v.version, v.graph from workflow_versions v
      where v.project_id = ${projectId} and v.is_used and ${condition}
    )
    select w.id as workflow_id, w.name as workflow_name, v.version, v.graph, e.step_id, e.executions
    from versions v
    join workflows w on w.project_id = ${projectId} and w.id = v.workflow_id
    cross join lateral (
      select x.step_id, count(*)::integer as executions from workflow_executions x
      where x.project_id = ${projectId} and x.workflow_id = v.workflow_id and x.version = v.version
        and x.status in ('RUNNING', 'WAITING') and x.step_id is not null
      group by x.step_id
    ) e
    order by w.id, v.version desc, e.step_id`.execute(database);
  return rows;
}

/** Lists the active executions in versions with a step that sends a template. */
export async function listActiveInVersionsSending(
  database: Database,
  projectId: string,
  templateId: string,
): Promise<ActivePlace[]> {
  const sends = sql`v.graph @> ${JSON.stringify({ steps: [{ config: { templateId } }] })}::jsonb`;
  return listActivePlaces(database, projectId, sends);
}

/** Lists the active executions in versions with a condition or an exit condition on a segment. */
export async function listActiveInVersionsOfSegment(
  database: Database,
  projectId: string,
  segmentId: string,
): Promise<ActivePlace[]> {
  return listActivePlaces(database, projectId, namesSegment(segmentId));
}

/** Returns whether a graph `v.graph` has a condition or an exit condition on a segment. */
function namesSegment(segmentId: string): RawBuilder<unknown> {
  const variables = sql`jsonb_build_object('name', ${`segment.${segmentId}`}::text, 'id', ${segmentId}::text)`;
  return sql`(jsonb_path_exists(v.graph, ${`${CONDITIONS}.field ? (@ == $name)`}::jsonpath, ${variables})
    or jsonb_path_exists(v.graph, ${`${EXITS}.**.field ? (@ == $name)`}::jsonpath, ${variables})
    or jsonb_path_exists(v.graph, ${`${EXITS}.segmentId ? (@ == $id)`}::jsonpath, ${variables}))`;
}

const EXITS = "$.exitConditions[*]";
const CONDITIONS = `$.steps[*] ? (@.type == "CONDITION" || @.type == "BRANCH").config.**`;

/** Lists workflows that use a field, or a path inside it, in a condition, an exit condition, a delay, a date or an audience, and workflows with a step that writes it. */
export async function listWorkflowsNamingField(
  database: Database,
  projectId: string,
  { field, key }: { field: string; key: string | null },
): Promise<NamedRow[]> {
  const variables = sql`jsonb_build_object('name', ${field}::text, 'inside', ${`${field}.`}::text,
    'long', ${`contact.${field}`}::text, 'longInside', ${`contact.${field}.`}::text, 'key', ${key ?? ""}::text)`;
  const named = `(@ == $name || @ starts with $inside || @ == $long || @ starts with $longInside)`;
  return listNaming(
    database,
    projectId,
    sql`(jsonb_path_exists(v.graph, ${`${CONDITIONS}.field ? ${named}`}::jsonpath, ${variables})
      or jsonb_path_exists(v.graph, ${`$.steps[*].config.dateField ? ${named}`}::jsonpath, ${variables})
      or jsonb_path_exists(v.graph, ${`${EXITS} ? (@.type == "FILTER").**.field ? ${named}`}::jsonpath, ${variables})
      or jsonb_path_exists(w.trigger_config, ${`$.audienceFilter.**.field ? ${named}`}::jsonpath, ${variables})
      or w.trigger_config ->> 'dateField' = ${field}
      or ${key !== null} and jsonb_path_exists(v.graph,
        '$.steps[*] ? (@.type == "UPDATE_CONTACT").config.updates.keyvalue() ? (@.key == $key)', ${variables}))`,
  );
}

/** Lists workflows that start or end with an event, wait for it, or check whether it happened. */
export async function listWorkflowsNamingEvent(
  database: Database,
  projectId: string,
  eventName: string,
): Promise<NamedRow[]> {
  const variables = sql`jsonb_build_object('name', ${`event.${eventName}`}::text)`;
  const asks = `(@.field == $name && (@.operator starts with "triggered" || @.operator starts with "notTriggered" || @.operator == "exists" || @.operator == "notExists"))`;
  return listNaming(
    database,
    projectId,
    sql`(w.trigger_event = ${eventName} or ${eventName} = any(v.wait_names || v.exit_names || v.goal_name)
      or jsonb_path_exists(v.graph, ${`${CONDITIONS} ? ${asks}`}::jsonpath, ${variables})
      or jsonb_path_exists(w.trigger_config, ${`$.audienceFilter.** ? ${asks}`}::jsonpath, ${variables}))`,
  );
}

/** Returns the name of an enabled workflow that starts when contacts enter or leave a segment. */
export async function findWorkflowStartedBy(
  database: Database,
  projectId: string,
  segmentId: string,
): Promise<string | undefined> {
  const starts = sql`w.trigger_type in ('SEGMENT_ENTRY', 'SEGMENT_EXIT') and w.trigger_config ->> 'segmentId' = ${segmentId}`;
  const [first] = await listNaming(database, projectId, sql`w.enabled and ${starts}`);
  return first?.name;
}

/** Returns the name of an enabled workflow that uses a segment in its trigger, a condition or an exit condition. */
export async function findWorkflowOfSegment(
  database: Database,
  projectId: string,
  segmentId: string,
): Promise<string | undefined> {
  const variables = sql`jsonb_build_object('name', ${`segment.${segmentId}`}::text)`;
  const [first] = await listNaming(
    database,
    projectId,
    sql`w.enabled and (w.trigger_config ->> 'segmentId' = ${segmentId}
      or ${namesSegment(segmentId)}
      or jsonb_path_exists(w.trigger_config, '$.audienceFilter.**.field ? (@ == $name)', ${variables}))`,
  );
  return first?.name;
}
