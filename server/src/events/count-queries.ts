// Events and sent mails counted per quarter of an hour: what is counted, and the statements that keep the counts
// (docs/decisions/0044). Before it: counts.ts. After it: recount-queries.ts.
import { sql, type RawBuilder } from "kysely";
import { EMAIL_KINDS } from "@postloft/contract/emails.ts";
import * as names from "@postloft/contract/event-names.ts";
import { plannedEachTime, type Database, type Tx } from "../platform/database.ts";
import { providerDomains } from "../transports/destinations.ts";
import { listEventsBeingDeleted, notBeingDeleted } from "./deletion-queries.ts";
import { isSentEvent } from "./queries.ts";

type Expression = RawBuilder<unknown>;

/** The columns of `mail_counts`. */
export const MAIL_COLUMNS = [
  "sent",
  "delivered",
  "opened",
  "clicked",
  "machine_opened",
  "machine_clicked",
  "bounced",
  "soft_bounced",
  "complained",
] as const;
export type MailColumn = (typeof MAIL_COLUMNS)[number];

/** Below all ids. */
const NO_ID = "00000000-0000-0000-0000-000000000000";
export const SENT_ID = sql`sent_event_id(e.id, e.sent_at)`;

/** Which events `v` count a mail, and where; the first of its kind of each mail. */
const COLUMN_OF_EVENT = sql`case v.name
  when ${names.EMAIL_DELIVERY} then 'delivered'
  when ${names.EMAIL_OPEN} then 'opened'
  when ${names.EMAIL_CLICK} then case when v.data -> 'isFirst' = 'true' then 'clicked' end
  when ${names.EMAIL_MACHINE_OPEN} then 'machine_opened'
  when ${names.EMAIL_MACHINE_CLICK} then 'machine_clicked'
  when ${names.EMAIL_BOUNCE} then case when v.data ->> 'bounceType' = 'hard' then 'bounced' else 'soft_bounced' end
  when ${names.EMAIL_COMPLAINT} then 'complained'
end`;
const MAIL_NAMES = [
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

/** Which events are meant: conditions on recorded ones `v` and on sent mails `e`, beside the project. */
export interface Counted {
  recorded: readonly Expression[];
  sent: readonly Expression[];
}

/** The recorded events and sent mails whose ids lie in a range; `until` null: to the end. */
function inRange(from: Expression, until: Expression | null): Counted {
  const within = (id: Expression) =>
    until === null ? sql`${id} >= ${from}` : sql`${id} >= ${from} and ${id} < ${until}`;
  return { recorded: [within(sql`v.id`)], sent: [within(SENT_ID)] };
}

/** Rows of `mail_counts` without the project, counted from the events that are meant; of test mails nothing counts. */
export function countMails(projectId: string, { recorded, sent }: Counted): Expression {
  const domains = providerDomains();
  const sums = MAIL_COLUMNS.map(
    (column) => sql`coalesce(sum(n) filter (where what = ${column}), 0)::integer as ${sql.id(column)}`,
  );
  return sql`
    select d.dimension, told.quarter, d.value, ${sql.join(sums)} from (
      select f.quarter, f.what, f.priority, f.campaign_id, f.template_id, f.workflow_id, coalesce(p.provider, 'other') as provider, sum(f.n) as n
      from (
        select quarter, what, priority, campaign_id, template_id, workflow_id, domain, count(*) as n from (
          select ${quarterOf(sql`v.created_at`)} as quarter, ${COLUMN_OF_EVENT} as what, e.priority, e.campaign_id, e.template_id, e.workflow_id,
            substring(e.to_address from '[^@]*$') as domain
          from events v join emails e on e.project_id = v.project_id and e.id = v.email_id
          where v.project_id = ${projectId} and v.name = any(${MAIL_NAMES}::text[]) and e.is_test is null
            and ${allOf(recorded)}
          union all
          select ${quarterOf(sql`e.sent_at`)}, 'sent', e.priority, e.campaign_id, e.template_id, e.workflow_id,
            substring(e.to_address from '[^@]*$')
          from emails e
          where e.project_id = ${projectId} and e.is_test is null and ${isSentEvent(null)} and ${allOf(sent)}
        ) each where what is not null group by 1, 2, 3, 4, 5, 6, 7
      ) f
      left join unnest(${domains.map(({ domain }) => domain)}::text[], ${domains.map(({ provider }) => provider)}::text[])
        p (domain, provider) on p.domain = f.domain
      group by 1, 2, 3, 4, 5, 6, 7
    ) told
    cross join lateral (values
      ('kind', (${EMAIL_KINDS}::text[])[told.priority]), ('campaign', told.campaign_id::text),
      ('template', told.template_id::text), ('workflow', told.workflow_id::text), ('provider', told.provider)
    ) d (dimension, value)
    where d.value is not null
    group by 1, 2, 3`;
}

/** Why somebody is no longer subscribed, where it was not their own doing. */
const DETAIL = sql`case when v.name = ${names.CONTACT_UNSUBSCRIBED} then coalesce(v.data ->> 'reason', '') else '' end`;

/** Rows of `event_counts` without the project, counted from the events that are meant. */
export async function countOthers(
  database: Database,
  projectId: string,
  { recorded }: Counted,
): Promise<Expression> {
  const isShown = notBeingDeleted(await listEventsBeingDeleted(database, projectId));
  return sql`
    select ${quarterOf(sql`v.created_at`)} as quarter, v.name, ${DETAIL} as detail, count(*)::integer as count
    from events v
    where v.project_id = ${projectId} and v.name <> all(${MAIL_NAMES}::text[]) and ${allOf(recorded)}
      and ${isShown ?? sql`true`}
    group by 1, 2, 3`;
}

/** Adds what is meant to the counts, or takes it from them. */
async function upsertCounts(tx: Tx, projectId: string, counted: Counted, sign: 1 | -1): Promise<void> {
  const columns = MAIL_COLUMNS.map((column) => sql.id(column));
  const signed = MAIL_COLUMNS.map((column) => sql`${sign}::integer * ${sql.id(column)}`);
  const added = MAIL_COLUMNS.map(
    (column) => sql`${sql.id(column)} = c.${sql.id(column)} + excluded.${sql.id(column)}`,
  );
  await sql`
    ${plannedEachTime} insert into mail_counts as c (project_id, dimension, quarter, value, ${sql.join(columns)})
    select ${projectId}::uuid, dimension, quarter, value, ${sql.join(signed)} from (${countMails(projectId, counted)}) counted
    on conflict (project_id, dimension, quarter, value) do update set ${sql.join(added)}`.execute(tx);
  const others = await countOthers(tx, projectId, counted);
  await sql`
    ${plannedEachTime} insert into event_counts as c (project_id, quarter, name, detail, count)
    select ${projectId}::uuid, quarter, name, detail, ${sign}::integer * count from (${others}) counted
    on conflict (project_id, quarter, name, detail) do update set count = c.count + excluded.count`.execute(
    tx,
  );
}

/** Makes the position the transaction's own; whoever changes what is counted already holds it until the commit. */
export async function lockPosition(tx: Tx, projectId: string): Promise<string> {
  await sql`
    insert into count_positions (project_id, position) values (${projectId}, ${NO_ID})
    on conflict (project_id) do nothing`.execute(tx);
  const { rows } = await sql<{ position: string }>`
    select position from count_positions where project_id = ${projectId} for update`.execute(tx);
  return rows[0]?.position ?? NO_ID;
}

/** Projects with events that are not counted, as far as may be counted now; in an order that is another one each time. */
export async function listUncounted(database: Database, limit: number): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    ${plannedEachTime} select p.id from projects p left join count_positions c on c.project_id = p.id
    where exists (select 1 from events v where v.project_id = p.id and v.id >= coalesce(c.position, ${NO_ID}))
      or exists (select 1 from emails e where e.project_id = p.id and ${isSentEvent(null)} and ${SENT_ID} >= coalesce(c.position, ${NO_ID}))
    order by random() limit ${limit}`.execute(database);
  return rows.map(({ id }) => id);
}

/**
 * As far as may be counted: nothing can come any more with an id below. An id is made, and a mail booked as sent, in the transaction
 * that writes it; so below the beginning of the oldest one, with what the clocks may differ by.
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

/** The id before which about `limit` events and mails lie from `position` on, or `until`; and later than `position` if any is. */
async function findStep(
  tx: Tx,
  projectId: string,
  { position, until, limit }: { position: string; until: string; limit: number },
) {
  const { rows } = await sql<{ step: string }>`
    ${plannedEachTime} select least(${until}::uuid,
      (select v.id from events v where v.project_id = ${projectId} and v.id >= ${position} order by v.id offset ${limit} limit 1),
      (select ${SENT_ID} from emails e where e.project_id = ${projectId} and ${isSentEvent(null)} and ${SENT_ID} >= ${position}
       order by ${SENT_ID} offset ${limit} limit 1)) as step`.execute(tx);
  return rows[0]?.step ?? until;
}

/** Counts the next events of a project, about `limit` of each kind. @returns whether there are more */
export async function advanceCounts(
  tx: Tx,
  projectId: string,
  { until, limit }: { until: string; limit: number },
): Promise<boolean> {
  const position = await lockPosition(tx, projectId);
  if (position >= until) return false;
  const step = await findStep(tx, projectId, { position, until, limit });
  await upsertCounts(tx, projectId, inRange(sql`${position}::uuid`, sql`${step}::uuid`), 1);
  await sql`update count_positions set position = ${step} where project_id = ${projectId}`.execute(tx);
  return step < until;
}

/** Takes the events of contacts, their mails as such among them, from the counts. */
export async function subtractContacts(
  tx: Tx,
  projectId: string,
  contactIds: readonly string[],
): Promise<void> {
  const position = await lockPosition(tx, projectId);
  const counted = {
    recorded: [sql`v.contact_id = any(${contactIds}::uuid[]) and v.id < ${position}`],
    sent: [sql`e.contact_id = any(${contactIds}::uuid[]) and ${SENT_ID} < ${position}`],
  };
  await upsertCounts(tx, projectId, counted, -1);
}

/** Adds mails to the counts of which it became known only now that they were sent, where the counts are beyond that instant. */
export async function addLateSent(tx: Tx, projectId: string, emailIds: readonly string[]): Promise<void> {
  const position = await lockPosition(tx, projectId);
  const counted = {
    recorded: [sql`false`],
    sent: [sql`e.id = any(${emailIds}::uuid[]) and ${SENT_ID} < ${position}`],
  };
  await upsertCounts(tx, projectId, counted, 1);
}

/** Takes all events of a name from the counts. */
export async function deleteCountsOfName(tx: Tx, projectId: string, name: string): Promise<void> {
  await lockPosition(tx, projectId);
  await sql`delete from event_counts where project_id = ${projectId} and name = ${name}`.execute(tx);
}

/** The first event that is not counted. */
export const positionOf = (projectId: string) =>
  sql`coalesce((select q.position from count_positions q where q.project_id = ${projectId}), ${NO_ID}::uuid)`;

/** A span of quarters: from the first on, before the last. */
export interface Span {
  from: Date;
  to: Date;
}

export const inSpan = ({ from, to }: Span, instant: Expression) =>
  sql`${instant} >= ${from.toISOString()}::timestamptz and ${instant} < ${to.toISOString()}::timestamptz`;

/**
 * What is not counted yet, for a statement that reads the counts too: from the position of its own snapshot on. The planner cannot know
 * that one and would expect a third of all rows; the position of a moment ago, which is never a later one, tells it how few there are.
 */
async function uncounted(database: Database, projectId: string): Promise<Counted> {
  const { rows } = await sql<{ position: string }>`select ${positionOf(projectId)} as position`.execute(
    database,
  );
  const aMomentAgo = inRange(sql`${rows[0]?.position ?? NO_ID}::uuid`, null);
  const now = inRange(positionOf(projectId), null);
  return {
    recorded: [...aMomentAgo.recorded, ...now.recorded],
    sent: [...aMomentAgo.sent, ...now.sent],
  };
}

/** As a query: the counts of mails by one dimension and quarter, counted and not yet counted alike; `value` null: of all values. */
export async function mailCounts(
  database: Database,
  projectId: string,
  span: Span,
  { dimension, value }: { dimension: string; value: string | null },
): Promise<Expression> {
  const columns = sql.join(MAIL_COLUMNS.map((column) => sql.id(column)));
  const ofValue = value === null ? sql`true` : sql`value = ${value}`;
  const { recorded, sent } = await uncounted(database, projectId);
  const rest = countMails(projectId, {
    recorded: [...recorded, inSpan(span, sql`v.created_at`)],
    sent: [...sent, inSpan(span, sql`e.sent_at`)],
  });
  return sql`
    select quarter, value, ${columns} from mail_counts
    where project_id = ${projectId} and dimension = ${dimension} and ${inSpan(span, sql`quarter`)} and ${ofValue}
    union all
    select quarter, value, ${columns} from (${rest}) rest where dimension = ${dimension} and ${ofValue}`;
}

/** As a query: the counts of all other events by quarter, name and detail; those of some names, or null: of all. */
export async function eventCounts(
  database: Database,
  projectId: string,
  span: Span,
  only: readonly string[] | null,
): Promise<Expression> {
  const { recorded } = await uncounted(database, projectId);
  const named = (name: Expression) => (only === null ? sql`true` : sql`${name} = any(${only}::text[])`);
  const rest = await countOthers(database, projectId, {
    recorded: [...recorded, inSpan(span, sql`v.created_at`), named(sql`v.name`)],
    sent: [],
  });
  return sql`
    select quarter, name, detail, count from event_counts
    where project_id = ${projectId} and ${inSpan(span, sql`quarter`)} and ${named(sql`name`)}
    union all
    ${rest}`;
}
