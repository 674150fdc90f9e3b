// Counts events and sent emails per quarter of an hour: what is counted, and the statements that maintain the counts (docs/decisions/0044).
import { sql, type RawBuilder } from "kysely";
import { EMAIL_KINDS } from "@postloft/contract/emails.ts";
import * as names from "@postloft/contract/event-names.ts";
import { DIMENSIONS, type Dimension } from "@postloft/contract/report-queries.ts";
import { plannedEachTime, type Database, type Tx } from "../platform/database/database.ts";
import { NO_ID } from "../platform/ids.ts";
import { shownEvents } from "./deletion-queries.ts";
import { sentEventId } from "../emails/rows/sent-events.ts";
import { countedProvider, joinProviders, recipientDomain } from "../emails/rows/counted-by.ts";
import { SYSTEM_PROJECT_ID } from "../emails/rows/system-project.ts";
import { upsertNameCounts } from "./name-count-queries.ts";

type Expression = RawBuilder<unknown>;

/** The columns of `mail_counts`, which are also the kinds of uncounted events. */
export const MAIL_COLUMNS = [
  "sent",
  "delivered",
  "opened",
  "clicked",
  "machineOpened",
  "machineClicked",
  "bounced",
  "softBounced",
  "complained",
  "refused",
] as const;
export type MailColumn = (typeof MAIL_COLUMNS)[number];

/** Numbers of dimensions in the tables, by their names in the contract. */
export const DIMENSION_NUMBERS: Readonly<Record<Dimension, number>> = {
  kind: 1,
  campaign: 2,
  template: 3,
  workflow: 4,
  provider: 5,
};

export const SENT_ID = sentEventId();
/** Emails count as sent with and without a contact, but platform email doesn't count. The index `emails_sent` has the first condition. */
export const WAS_SENT = sql`e.sent_at is not null and e.project_id <> ${sql.lit(SYSTEM_PROJECT_ID)}::uuid`;

/** Maps an event `v` to the column that it counts in. Only the first event of its kind counts per email. */
const COLUMN_OF_EVENT = sql`case v.name
  when ${names.EMAIL_DELIVERY} then 'delivered'
  when ${names.EMAIL_OPEN} then 'opened'
  when ${names.EMAIL_CLICK} then case when v.data -> 'isFirst' = 'true' then 'clicked' end
  when ${names.EMAIL_MACHINE_OPEN} then 'machineOpened'
  when ${names.EMAIL_MACHINE_CLICK} then 'machineClicked'
  when ${names.EMAIL_BOUNCE} then case when v.data ->> 'bounceType' = 'hard' then 'bounced' else 'softBounced' end
  when ${names.EMAIL_COMPLAINT} then 'complained'
end`;
/** A bounce of an email that never left, because the recipient's server rejected it immediately. */
const IS_REJECTION = sql`v.name = ${names.EMAIL_BOUNCE} and v.data -> 'atOnce' is not distinct from 'true'`;
/** Events that count an email. */
export const MAIL_NAMES = [
  names.EMAIL_DELIVERY,
  names.EMAIL_OPEN,
  names.EMAIL_CLICK,
  names.EMAIL_MACHINE_OPEN,
  names.EMAIL_MACHINE_CLICK,
  names.EMAIL_BOUNCE,
  names.EMAIL_COMPLAINT,
];

const quarterOf = (instant: Expression) => sql`date_bin('15 minutes', ${instant}, timestamptz 'epoch')`;
const allOf = (conditions: readonly Expression[]) => sql.join(conditions, sql` and `);

/** Conditions on recorded events `v` and sent emails `e`, in addition to the project. */
export interface Counted {
  recorded: readonly Expression[];
  sent: readonly Expression[];
  /** Rows to read as recorded events `v` instead of the table, with its columns that `mailFacts` reads. */
  recordedIn?: Expression;
}

/** Selects recorded events and sent emails with ids in a range. A null `until` means no upper bound. */
export function inRange(from: Expression, until: Expression | null): Counted {
  const within = (id: Expression) =>
    until === null ? sql`${id} >= ${from}` : sql`${id} >= ${from} and ${id} < ${until}`;
  return { recorded: [within(sql`v.id`)], sent: [within(SENT_ID)] };
}

/**
 * Returns events of emails, each with its time and email `e`, without test emails. A rejected email is a flag of its bounce and not a
 * separate row. For generated rows the planner overestimates the number and starts workers for a few hundred events.
 */
export function mailFacts(
  projectId: string,
  { recorded, sent, recordedIn = sql`events` }: Counted,
): Expression {
  const ofMail = sql`e.priority, e.campaign_id, e.template_id, e.workflow_id, ${recipientDomain()} as domain`;
  return sql`
    select v.created_at as at, ${COLUMN_OF_EVENT} as what, ${IS_REJECTION} as is_refusal, ${ofMail}
    from ${recordedIn} v join emails e on e.project_id = v.project_id and e.id = v.email_id
    where v.project_id = ${projectId} and v.name = any(${MAIL_NAMES}::text[]) and e.is_test is null
      and ${allOf(recorded)}
    union all
    select e.sent_at, 'sent', false, ${ofMail} from emails e
    where e.project_id = ${projectId} and e.is_test is null and ${WAS_SENT} and ${allOf(sent)}`;
}

/** The value of each dimension for facts `f` with their providers `p`, or null. */
export const VALUES: Readonly<Record<Dimension, Expression>> = {
  kind: sql`(${EMAIL_KINDS}::text[])[f.priority]`,
  campaign: sql`f.campaign_id::text`,
  template: sql`f.template_id::text`,
  workflow: sql`f.workflow_id::text`,
  provider: countedProvider(),
};

/** Returns rows of `mail_counts` for the selected events, without the project and with original values instead of their numbers. */
export function countMails(projectId: string, counted: Counted): Expression {
  const sums = MAIL_COLUMNS.map(
    (column) =>
      sql`coalesce(sum(n) filter (where ${column === "refused" ? sql`is_refusal` : sql`what = ${column}`}), 0)::integer as ${sql.id(column)}`,
  );
  const values = DIMENSIONS.map(
    (name) => sql`(${DIMENSION_NUMBERS[name]}::smallint, ${sql.id("told", name)})`,
  );
  const each = DIMENSIONS.map((name) => sql`${VALUES[name]} as ${sql.id(name)}`);
  return sql`
    select d.dimension, told.quarter, d.value, ${sql.join(sums)} from (
      select f.quarter, f.what, f.is_refusal, ${sql.join(each)}, sum(f.n) as n
      from (
        select ${quarterOf(sql`at`)} as quarter, what, is_refusal, priority, campaign_id, template_id, workflow_id, domain, count(*) as n
        from (${mailFacts(projectId, counted)}) facts where what is not null group by 1, 2, 3, 4, 5, 6, 7, 8
      ) f ${joinProviders(sql`f.domain`)}
      group by 1, 2, 3, 4, 5, 6, 7, 8
    ) told
    cross join lateral (values ${sql.join(values)}) d (dimension, value)
    where d.value is not null
    group by 1, 2, 3`;
}

/** Returns the reason of an unsubscription that was not the contact's own action. */
const DETAIL = sql`case when v.name = ${names.CONTACT_UNSUBSCRIBED} then coalesce(v.data ->> 'reason', '') else '' end`;

/** Returns events `v` that do not belong to emails, with their `detail`, without events being deleted. */
export function otherFacts(projectId: string, recorded: readonly Expression[]): Expression {
  return sql`
    select v.created_at as at, v.name, ${DETAIL} as detail from ${shownEvents(projectId)}
    where v.project_id = ${projectId} and v.name <> all(${MAIL_NAMES}::text[]) and ${allOf(recorded)}`;
}

/** Returns rows of `event_counts` for the selected events, without the project. */
export function countOthers(projectId: string, recorded: Counted["recorded"]): Expression {
  return sql`
    select ${quarterOf(sql`f.at`)} as quarter, f.name, f.detail, count(*)::integer as count
    from (${otherFacts(projectId, recorded)}) f group by 1, 2, 3`;
}

/** How counts change: added or subtracted, and to which rows. */
interface MailChange {
  sign: 1 | -1;
  /** Whether they are events of deleted contacts. Those don't exist anymore, so a recount leaves out their rows. */
  ofDeleted?: boolean;
}

/** Adds the selected events of emails to their counts or subtracts them. New values get the next free numbers. */
export async function upsertMailCounts(
  tx: Tx,
  projectId: string,
  counted: Counted,
  { sign, ofDeleted = false }: MailChange,
): Promise<void> {
  const columns = MAIL_COLUMNS.map((column) => sql.id(column));
  const signed = MAIL_COLUMNS.map((column) => sql`${sign}::integer * ${sql.id(column)}`);
  const added = MAIL_COLUMNS.map(
    (column) => sql`${sql.id(column)} = c.${sql.id(column)} + excluded.${sql.id(column)}`,
  );
  await sql`
    ${plannedEachTime} with counted as materialized (${countMails(projectId, counted)}),
    named as (select distinct dimension, value from counted),
    known as (
      select v.dimension, v.value, v.id from named n
      join count_values v on v.project_id = ${projectId} and v.dimension = n.dimension and v.value = n.value
    ), fresh as (
      insert into count_values (project_id, dimension, id, value)
      select ${projectId}::uuid, n.dimension, coalesce(
          (select max(x.id) from count_values x where x.project_id = ${projectId} and x.dimension = n.dimension), 0
        ) + row_number() over (partition by n.dimension order by n.value), n.value
      from named n left join known k on k.dimension = n.dimension and k.value = n.value where k.id is null
      returning dimension, value, id
    ), numbered as (select * from known union all select * from fresh)
    insert into mail_counts as c (project_id, dimension, quarter, value, of_deleted, ${sql.join(columns)})
    select ${projectId}::uuid, o.dimension, o.quarter, n.id, ${ofDeleted}, ${sql.join(signed)}
    from counted o join numbered n on n.dimension = o.dimension and n.value = o.value order by o.dimension, o.quarter, n.id
    on conflict (project_id, dimension, quarter, value, of_deleted) do update set ${sql.join(added)}`.execute(
    tx,
  );
}

/** Adds the selected events that do not belong to emails to their counts or subtracts them. */
export async function upsertEventCounts(
  tx: Tx,
  projectId: string,
  recorded: Counted["recorded"],
  sign: 1 | -1,
): Promise<void> {
  await sql`
    ${plannedEachTime} insert into event_counts as c (project_id, quarter, name, detail, count)
    select ${projectId}::uuid, quarter, name, detail, ${sign}::integer * count from (${countOthers(projectId, recorded)}) counted
    on conflict (project_id, quarter, name, detail) do update set count = c.count + excluded.count`.execute(
    tx,
  );
}

/** Adds the selected events to all counts. */
async function addCounts(tx: Tx, projectId: string, counted: Counted): Promise<void> {
  await upsertMailCounts(tx, projectId, counted, { sign: 1 });
  await upsertEventCounts(tx, projectId, counted.recorded, 1);
  await upsertNameCounts(tx, projectId, { recorded: allOf(counted.recorded), sent: allOf(counted.sent) }, 1);
}

/** Locks the position of the counts. Every transaction that changes counted data holds this lock until its commit. */
export async function lockPosition(tx: Tx, projectId: string): Promise<string> {
  await sql`
    insert into count_positions (project_id, position) values (${projectId}, ${NO_ID})
    on conflict (project_id) do nothing`.execute(tx);
  const { rows } = await sql<{ position: string }>`
    select position from count_positions where project_id = ${projectId} for update`.execute(tx);
  return rows[0]?.position ?? NO_ID;
}

/**
 * Returns projects with uncounted events in random order. Reads only the last event of each project. For "any event after the position" the
 * planner, which does not know the position, expects many rows and scans all counted events from the start.
 */
export async function listUncounted(database: Database, limit: number) {
  const { rows } = await sql<{ id: string }>`
    ${plannedEachTime} select p.project_id as id from project_queues p left join count_positions c on c.project_id = p.project_id
    where (select v.id from events v where v.project_id = p.project_id order by v.id desc limit 1) >= coalesce(c.position, ${NO_ID})
      or (select ${SENT_ID} from emails e where e.project_id = p.project_id and ${WAS_SENT} order by ${SENT_ID} desc limit 1)
        >= coalesce(c.position, ${NO_ID})
    order by random() limit ${limit}`.execute(database);
  return rows.map(({ id }) => id);
}

/**
 * Returns the id up to which events can be counted, because no smaller id can still appear. Ids are made in the transaction that writes
 * them. So the limit is the start of the oldest open transaction, minus the allowed clock difference.
 */
export async function findCountable(database: Database, lagSeconds: number): Promise<string> {
  const { rows } = await sql<{ until: string }>`
    select sent_event_id(${NO_ID}, least(now() - make_interval(secs => ${lagSeconds}), (
      select min(a.xact_start) - interval '1 second' from pg_stat_activity a
      where a.datname = current_database() and a.pid <> pg_backend_pid()
        and (a.backend_xid is not null or a.xact_start > now() - interval '2 minutes')
    ))) as until`.execute(database);
  return rows[0]?.until ?? NO_ID;
}

/**
 * Returns the id after about `limit` events and emails from `position` on, at most `until`. The id is greater than `position` if there are
 * any.
 */
async function findStep(
  tx: Tx,
  projectId: string,
  { position, until, limit }: { position: string; until: string; limit: number },
) {
  const { rows } = await sql<{ step: string }>`
    ${plannedEachTime} select least(${until}::uuid,
      (select v.id from events v where v.project_id = ${projectId} and v.id >= ${position} order by v.id offset ${limit} limit 1),
      (select ${SENT_ID} from emails e where e.project_id = ${projectId} and ${WAS_SENT} and ${SENT_ID} >= ${position}
       order by ${SENT_ID} offset ${limit} limit 1)) as step`.execute(tx);
  return rows[0]?.step ?? until;
}

/**
 * Counts the next events of a project, about `limit` of each kind.
 * @returns whether there are more
 */
export async function advanceCounts(
  tx: Tx,
  projectId: string,
  { until, limit }: { until: string; limit: number },
): Promise<boolean> {
  const position = await lockPosition(tx, projectId);
  if (position >= until) return false;
  const step = await findStep(tx, projectId, { position, until, limit });
  await addCounts(tx, projectId, inRange(sql`${position}::uuid`, sql`${step}::uuid`));
  await sql`update count_positions set position = ${step} where project_id = ${projectId}`.execute(tx);
  return step < until;
}

/** Returns the first uncounted id. */
export const positionOf = (projectId: string) =>
  sql`coalesce((select q.position from count_positions q where q.project_id = ${projectId}), ${NO_ID}::uuid)`;

/** A span of quarter hours, including `from` and excluding `to`. */
export interface Span {
  from: Date;
  to: Date;
}

export const inSpan = ({ from, to }: Span, instant: Expression) =>
  sql`${instant} >= ${from.toISOString()}::timestamptz and ${instant} < ${to.toISOString()}::timestamptz`;
