// Reads the activity feed from the tables of other folders. Each kind of row is read through an index in id order, only as far as a page
// needs, and then the kinds are merged.
import { sql, type RawBuilder } from "kysely";
import { TYPES_OF_EVENTS, type ActivityType } from "@postloft/contract/activity.ts";
import { EMAIL_SENT } from "@postloft/contract/event-names.ts";
import { LIMITS } from "@postloft/contract/limits/limits.ts";
import { plannedEachTime, type Database } from "../platform/database/database.ts";
import { limitToPageBytes, type RowOfBytes } from "../platform/http/page.ts";
import { listEventsBeingDeleted, notBeingDeleted } from "../events/event-names.ts";
import { isEmailSent, mailFacts } from "../emails/rows/sent-events.ts";
import { skippedEmailsOf } from "./skipped-queries.ts";

type Expression = RawBuilder<unknown>;

/** The filter of a feed. Ids belong to the project. `since` and `before` are ids that bound the activities. */
export interface ActivityFilter {
  types: ReadonlySet<ActivityType>;
  contactId: string | undefined;
  campaignId: string | undefined;
  workflowId: string | undefined;
  eventName: string | undefined;
  since: string;
  before: string;
}

/** A kind of row: its table, ids and conditions, and the columns of its activities. */
export interface Source {
  table: "events" | "emails" | "campaigns" | "workflow_executions";
  alias: string;
  /** The id of the activity, in the order of an index within the project. */
  id: Expression;
  /** The condition of that index. */
  base: Expression[];
  narrow: Expression[];
  /** Conditions that an index serves if few rows match. All of these are then read, however old they are. */
  few: Expression | null;
  joins: Expression;
  type: Expression;
  contactId: Expression;
  metadata: Expression;
}

export interface ActivityRow extends RowOfBytes {
  id: string;
  type: ActivityType;
  contactId: string | null;
  email: string | null;
  metadata: Record<string, unknown>;
}

const allOf = (conditions: readonly Expression[]) => sql.join(conditions, sql` and `);
const NOTHING = sql``;
const tableOf = ({ table, alias }: Source) => sql`${sql.table(table)} ${sql.id(alias)}`;

/** Returns the event names of these types. `event.triggered` means every name except those of the service. */
function ofTypes(types: ReadonlySet<ActivityType>): { condition: Expression | null; names: string[] | null } {
  const own = Object.entries(TYPES_OF_EVENTS).filter(([name]) => name !== EMAIL_SENT);
  const wanted = own.filter(([, type]) => types.has(type)).map(([name]) => name);
  if (!types.has("event.triggered"))
    return { condition: sql`v.name = any(${wanted}::text[])`, names: wanted };
  const unwanted = own.filter(([, type]) => !types.has(type)).map(([name]) => name);
  return { condition: unwanted.length === 0 ? null : sql`v.name <> all(${unwanted}::text[])`, names: null };
}

/** Returns the source of recorded events, or null if the filter excludes all. */
export async function recordedEvents(
  database: Database,
  projectId: string,
  filter: ActivityFilter,
): Promise<Source | null> {
  const { types, contactId, campaignId, workflowId, eventName } = filter;
  const { condition, names } = ofTypes(types);
  if (names?.length === 0) return null;
  const isShown = notBeingDeleted(await listEventsBeingDeleted(database, projectId));
  const byName = eventName !== undefined ? [eventName] : names;
  const narrow = [
    ...(condition === null ? [] : [condition]),
    ...(eventName === undefined ? [] : [sql`v.name = ${eventName}`]),
    ...(contactId === undefined ? [] : [sql`v.contact_id = ${contactId}`]),
    ...(campaignId === undefined ? [] : [sql`v.data ->> 'campaignId' = ${campaignId}`]),
    ...(workflowId === undefined ? [] : [sql`v.data ->> 'workflowId' = ${workflowId}`]),
    ...(isShown === null ? [] : [isShown]),
  ];
  return {
    table: "events",
    alias: "v",
    id: sql`v.id`,
    base: [sql`v.project_id = ${projectId}`],
    narrow,
    few:
      contactId !== undefined
        ? sql`v.contact_id = ${contactId}`
        : byName !== null
          ? sql`v.name = any(${byName}::text[])`
          : null,
    joins: NOTHING,
    type: sql`coalesce(${JSON.stringify(TYPES_OF_EVENTS)}::jsonb ->> v.name, 'event.triggered')`,
    contactId: sql`v.contact_id`,
    metadata: sql`case when ${JSON.stringify(TYPES_OF_EVENTS)}::jsonb ? v.name
      then coalesce(v.data, '{}') || jsonb_build_object('emailId', v.email_id)
      else jsonb_build_object('eventName', v.name, 'data', v.data) end`,
  };
}

/** Returns the source of sent emails, which are events themselves (docs/decisions/0025). */
export function sentMails(projectId: string, filter: ActivityFilter): Source | null {
  const { types, contactId, campaignId, workflowId, eventName } = filter;
  if (!types.has("email.sent") || (eventName !== undefined && eventName !== EMAIL_SENT)) return null;
  const narrow = [
    ...(contactId === undefined ? [] : [sql`e.contact_id = ${contactId}`]),
    ...(campaignId === undefined ? [] : [sql`e.campaign_id = ${campaignId}`]),
    ...(workflowId === undefined ? [] : [sql`e.workflow_id = ${workflowId}`]),
  ];
  return {
    table: "emails",
    alias: "e",
    id: sql`sent_event_id(e.id, e.sent_at)`,
    base: [sql`e.project_id = ${projectId}`, isEmailSent(null)],
    narrow,
    few: contactId !== undefined || campaignId !== undefined ? allOf(narrow) : null,
    joins: sql`join email_contents c on c.project_id = e.project_id and c.id = e.content_id`,
    type: sql`'email.sent'::text`,
    contactId: sql`e.contact_id`,
    metadata: mailFacts(),
  };
}

/** Returns the sources of scheduled and of finished campaigns. */
export function campaigns(projectId: string, filter: ActivityFilter): Source[] {
  const { types, contactId, workflowId, eventName, campaignId } = filter;
  if (contactId !== undefined || workflowId !== undefined || eventName !== undefined) return [];
  const common = {
    table: "campaigns" as const,
    alias: "k",
    narrow: campaignId === undefined ? [] : [sql`k.id = ${campaignId}`],
    few: campaignId === undefined ? null : sql`k.id = ${campaignId}`,
    joins: NOTHING,
    contactId: sql`null::uuid`,
    metadata: sql`jsonb_build_object('campaignId', k.id, 'name', k.name, 'subject', k.subject,
      'scheduledFor', k.scheduled_for, 'totalRecipients', k.total_recipients)`,
  };
  const ofProject = sql`k.project_id = ${projectId}`;
  const sent = {
    ...common,
    id: sql`sent_event_id(k.id, k.finished_at)`,
    base: [ofProject, sql`k.status = 'SENT' and k.finished_at is not null`],
    type: sql`'campaign.sent'::text`,
  };
  const scheduled = {
    ...common,
    id: sql`sent_event_id(k.id, k.updated_at)`,
    base: [ofProject, sql`k.status = 'SCHEDULED'`],
    type: sql`'campaign.scheduled'::text`,
  };
  return [
    ...(types.has("campaign.sent") ? [sent] : []),
    ...(types.has("campaign.scheduled") ? [scheduled] : []),
  ];
}

/** Returns the sources of started executions, and of executions that ended on their own or failed. */
export function executions(projectId: string, filter: ActivityFilter): Source[] {
  const { types, contactId, workflowId, eventName, campaignId } = filter;
  if (campaignId !== undefined || eventName !== undefined) return [];
  const narrow = [
    ...(contactId === undefined ? [] : [sql`x.contact_id = ${contactId}`]),
    ...(workflowId === undefined ? [] : [sql`x.workflow_id = ${workflowId}`]),
  ];
  const common = {
    table: "workflow_executions" as const,
    alias: "x",
    few: narrow.length === 0 ? null : allOf(narrow),
    joins: sql`join workflows w on w.project_id = x.project_id and w.id = x.workflow_id`,
    contactId: sql`x.contact_id`,
  };
  const ofProject = sql`x.project_id = ${projectId}`;
  const facts = sql`'workflowId', x.workflow_id, 'workflowName', w.name, 'executionId', x.id`;
  const started = {
    ...common,
    id: sql`x.id`,
    base: [ofProject],
    narrow,
    type: sql`'workflow.started'::text`,
    metadata: sql`jsonb_build_object(${facts})`,
  };
  const completed = {
    ...common,
    id: sql`sent_event_id(x.id, x.ended_at)`,
    base: [ofProject, sql`x.ended_at is not null`],
    narrow: [...narrow, sql`x.status in ('COMPLETED', 'EXITED')`],
    type: sql`'workflow.completed'::text`,
    metadata: sql`jsonb_build_object(${facts}, 'status', x.status, 'exitReason', x.exit_reason) || ${skippedEmailsOf(projectId)}`,
  };
  const failed = {
    ...completed,
    narrow: [...narrow, sql`x.status = 'FAILED'`],
    type: sql`'workflow.failed'::text`,
    metadata: sql`jsonb_build_object(${facts}, 'status', x.status, 'exitReason', x.exit_reason, 'stepId', x.step_id)`,
  };
  return [
    ...(types.has("workflow.started") ? [started] : []),
    ...(types.has("workflow.completed") ? [completed] : []),
    ...(types.has("workflow.failed") ? [failed] : []),
  ];
}

const SCAN = LIMITS.activityScan.value;

/** Returns whether few enough rows match the index condition to read all of them. */
async function isFew(database: Database, source: Source): Promise<boolean> {
  const { base, few } = source;
  if (few === null) return false;
  const { rows } = await sql<{ count: number }>`
    ${plannedEachTime} select count(*) from (select 1 from ${tableOf(source)} where ${allOf([...base, few])} limit ${SCAN + 1}) found`.execute(
    database,
  );
  return (rows[0]?.count ?? 0) <= SCAN;
}

const within = ({ id }: Source, { since, before }: ActivityFilter) =>
  sql`${id} >= ${since}::uuid and ${id} < ${before}::uuid`;

/** Returns the oldest id that a page reads, or null if it may read everything. */
async function findFloor(database: Database, source: Source, filter: ActivityFilter): Promise<string | null> {
  const { id, base } = source;
  const { rows } = await sql<{ id: string }>`
    ${plannedEachTime} select ${id} as id from ${tableOf(source)} where ${allOf([...base, within(source, filter)])}
    order by ${id} desc offset ${SCAN - 1} limit 1`.execute(database);
  return rows[0]?.id ?? null;
}

/** A source with its reading strategy: all rows of an index condition, or rows down to a floor. */
export interface BoundedSource {
  source: Source;
  few: boolean;
  floor: string | null;
}

export async function boundSource(
  database: Database,
  source: Source,
  filter: ActivityFilter,
): Promise<BoundedSource> {
  if (source.narrow.length === 0) return { source, few: false, floor: null };
  const few = await isFew(database, source);
  return { source, few, floor: few ? null : await findFloor(database, source, filter) };
}

function newestOf({ source, few, floor }: BoundedSource, filter: ActivityFilter, limit: number): Expression {
  const { id, base, narrow, joins, type, contactId, metadata } = source;
  const bounds = [within(source, filter), ...(floor === null ? [] : [sql`${id} >= ${floor}::uuid`])];
  // Reads all rows of the index condition first, because in id order the planner might scan everything else.
  const from =
    few && source.few !== null
      ? sql`(select * from ${tableOf(source)} where ${allOf([...base, source.few])} offset 0) ${sql.id(source.alias)}`
      : tableOf(source);
  return sql`(
    select ${id} as id, ${type} as type, ${contactId} as contact_id, ${metadata} as metadata from ${from} ${joins}
    where ${allOf([...base, ...narrow, ...bounds])} order by ${id} desc limit ${limit + 1})`;
}

/** Returns the newest rows of all sources, `limit` + 1 of them. */
export async function listActivityRows(
  database: Database,
  projectId: string,
  { sources, filter, limit }: { sources: readonly BoundedSource[]; filter: ActivityFilter; limit: number },
): Promise<ActivityRow[]> {
  if (sources.length === 0) return [];
  const each = sources.map((source) => newestOf(source, filter, limit));
  const newest = sql`
    select * from (${sql.join(each, sql` union all `)}) told order by id desc limit ${limit + 1}`;
  const page = sql`
    select n.id, n.type, n.contact_id, t.email, n.metadata from (${newest}) n
    left join contacts t on t.project_id = ${projectId} and t.id = n.contact_id`;
  const fitting = { order: sql`order by id desc`, size: sql`octet_length(metadata::text)` };
  const { rows } = await sql<ActivityRow>`${plannedEachTime} ${limitToPageBytes(page, fitting)}`.execute(
    database,
  );
  return rows;
}

/** Counts the activities of each source, up to `most` + 1. */
export async function countActivityRows(
  database: Database,
  { sources, filter, most }: { sources: readonly Source[]; filter: ActivityFilter; most: number },
): Promise<number[]> {
  const each = sources.map((source) => {
    const conditions = allOf([...source.base, ...source.narrow, within(source, filter)]);
    return sql`(select count(*) from (select 1 from ${tableOf(source)} where ${conditions} limit ${most + 1}) found)`;
  });
  const { rows } = await sql<{ counts: string[] }>`
    ${plannedEachTime} select array[${sql.join(each)}]::text[] as counts`.execute(database);
  return (rows[0]?.counts ?? []).map(Number);
}
