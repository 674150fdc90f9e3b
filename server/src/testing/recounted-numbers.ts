// Recomputes every number of a project's reports from its rows for tests, by days and hours in PostgreSQL's time zones.
import { percentOf } from "../campaigns/rules.ts";
import type { Period } from "../reports/period.ts";
import type { TestServer } from "./test-server.ts";

const WHATS = [
  "emails",
  "delivered",
  "opens",
  "clicks",
  "machineOpens",
  "machineClicks",
  "bounces",
  "softBounces",
  "complaints",
  "refused",
] as const;
type What = (typeof WHATS)[number];
export type Counts = Record<What, number>;

/** One event of an email, at its local time and with the email's dimensions. */
export interface Fact {
  what: What;
  date: string;
  weekday: number;
  hour: number;
  kind: string;
  provider: string;
  campaign: string | null;
  template: string | null;
  workflow: string | null;
}

interface NamedEvent {
  name: string;
  date: string;
  reason: string | null;
}

/** The events, and those of deleted contacts that the test kept with `keepEventsOf`. */
const EVENTS = `(
  select project_id, email_id, name, data, created_at from events
  union all select project_id, email_id, name, data, created_at from deleted_events)`;

const FACTS = `
  select e.sent_at as at, 'emails' as what, e.id from emails e
  where e.project_id = $1 and e.sent_at is not null and e.is_test is null
  union all
  select v.created_at, case v.name when 'email.delivery' then 'delivered' when 'email.open' then 'opens'
    when 'email.click' then case when (v.data ->> 'isFirst')::boolean then 'clicks' end
    when 'email.machine-open' then 'machineOpens' when 'email.machine-click' then 'machineClicks'
    when 'email.bounce' then case v.data ->> 'bounceType' when 'hard' then 'bounces' else 'softBounces' end
    when 'email.complaint' then 'complaints' end, e.id
  from ${EVENTS} v join emails e on e.project_id = v.project_id and e.id = v.email_id
  where v.project_id = $1 and e.is_test is null
  union all
  select v.created_at, 'refused', e.id from ${EVENTS} v join emails e on e.project_id = v.project_id and e.id = v.email_id
  where v.project_id = $1 and e.is_test is null and v.name = 'email.bounce' and (v.data ->> 'atOnce')::boolean`;

/** Names that are being deleted are hidden from all readers (docs/decisions/0090). */
const SHOWN = `v.name <> all (select j.input ->> 'name' from jobs j where j.project_id = v.project_id
  and j.state in ('waiting', 'active') and v.created_at <= (j.input ->> 'until')::timestamptz)`;

type Rows = Pick<TestServer, "rows">;

/** Copies the events of emails to a contact that a test deletes next, because they still count. */
export async function keepEventsOf(server: Rows, projectId: string, contactId: string): Promise<void> {
  await server.rows(
    `insert into deleted_events select project_id, email_id, name, data, created_at from events
     where project_id = $1 and contact_id = $2 and email_id is not null`,
    projectId,
    contactId,
  );
}

/** Creates the table of `keepEventsOf`. */
export async function prepareDeletedEvents(server: Rows): Promise<void> {
  await server.rows(
    "create unlogged table deleted_events (project_id uuid, email_id uuid, name text, data jsonb, created_at timestamptz)",
  );
}

async function readFacts(server: Rows, projectId: string, { zone, firstDay, lastDay }: Period) {
  return server.rows<Fact & { id: string }>(
    `select f.what, (f.at at time zone $2)::date::text as date, extract(isodow from f.at at time zone $2)::integer as weekday,
       extract(hour from f.at at time zone $2)::integer as hour,
       case e.priority when 1 then 'TRANSACTIONAL' when 2 then 'WORKFLOW' else 'CAMPAIGN' end as kind,
       case substring(e.to_address from '[^@]*$') when 'gmail.com' then 'gmail' when 'hotmail.com' then 'microsoft'
         when 'web.de' then 'gmx' else 'other' end as provider,
       e.campaign_id as campaign, e.template_id as template, e.workflow_id as workflow
     from (${FACTS}) f join emails e on e.project_id = $1 and e.id = f.id
     where f.what is not null and (f.at at time zone $2)::date between $3::date and $4::date`,
    projectId,
    zone,
    firstDay,
    lastDay,
  );
}

async function readEvents(server: Rows, projectId: string, { zone, firstDay, lastDay }: Period) {
  return server.rows<NamedEvent>(
    `select v.name, (v.created_at at time zone $2)::date::text as date, v.data ->> 'reason' as reason from events v
     where v.project_id = $1 and v.email_id is null and (v.created_at at time zone $2)::date between $3::date and $4::date and ${SHOWN}`,
    projectId,
    zone,
    firstDay,
    lastDay,
  );
}

async function countStarts(server: Rows, projectId: string, { zone, firstDay, lastDay }: Period) {
  const [found] = await server.rows<{ count: number }>(
    `select count(*)::integer as count from workflow_executions
     where project_id = $1 and (started_at at time zone $2)::date between $3::date and $4::date`,
    projectId,
    zone,
    firstDay,
    lastDay,
  );
  return found?.count ?? 0;
}

export const countsOf = (facts: readonly Fact[]): Counts =>
  Object.fromEntries(
    WHATS.map((what) => [what, facts.filter((fact) => fact.what === what).length]),
  ) as Counts;

export const withRates = (counts: Counts) => ({
  ...counts,
  openRate: percentOf(counts.opens, counts.emails),
  clickRate: percentOf(counts.clicks, counts.emails),
  bounceRate: percentOf(counts.bounces, counts.emails + counts.refused),
  complaintRate: percentOf(counts.complaints, counts.emails),
});

/** Reads the rows of a project in a period and the previous one. */
export async function readRows(server: Rows, projectId: string, period: Period, before: Period) {
  const [facts, factsBefore, events, eventsBefore, starts, arrivals] = await Promise.all([
    readFacts(server, projectId, period),
    readFacts(server, projectId, before),
    readEvents(server, projectId, period),
    readEvents(server, projectId, before),
    countStarts(server, projectId, period),
    readArrivals(server, projectId, period),
  ]);
  return { facts, factsBefore, events, eventsBefore, starts, arrivals };
}

/** Returns the day of each contact that was added as subscribed and still exists. */
async function readArrivals(server: Rows, projectId: string, { zone }: Period): Promise<string[]> {
  const rows = await server.rows<{ date: string }>(
    `select to_char(c.created_at at time zone $2, 'YYYY-MM-DD') as date from contacts k
     join lateral (
       select subscribed, created_at from consent_changes
       where project_id = k.project_id and contact_id = k.id order by created_at, id limit 1
     ) c on c.subscribed
     where k.project_id = $1`,
    projectId,
    zone,
  );
  return rows.map(({ date }) => date);
}

/** Counts the subscriptions of a day. */
export function audienceOf(events: readonly NamedEvent[], arrivals: readonly string[], date: string) {
  const added = arrivals.filter((day) => day === date).length;
  const own = events.filter((event) => event.date === date);
  const left = own.filter(({ name }) => name === "contact.unsubscribed");
  const by = (reason: string) => left.filter((event) => event.reason === reason).length;
  const subscribed = own.filter(({ name }) => name === "contact.subscribed").length;
  return {
    date,
    added,
    subscribed,
    unsubscribed: left.length,
    byBounce: by("bounce"),
    byComplaint: by("complaint"),
    byChoice: left.length - by("bounce") - by("complaint"),
    growth: added + subscribed - left.length,
  };
}

/** Returns names with their counts in the period and the previous one, the most frequent first. */
export function namesOf(events: readonly NamedEvent[], before: readonly NamedEvent[]) {
  const times = (all: readonly NamedEvent[], name: string) => all.filter((one) => one.name === name).length;
  return [...new Set(events.map(({ name }) => name))]
    .map((name) => ({ name, count: times(events, name), previousCount: times(before, name) }))
    .map((one) => ({
      ...one,
      trend:
        one.previousCount === 0
          ? null
          : Math.round(((one.count - one.previousCount) / one.previousCount) * 1_000) / 10,
    }))
    .toSorted((one, other) => other.count - one.count || (one.name < other.name ? -1 : 1));
}

/** Returns the count and the last time of each event name, in name order. */
export async function recountNames(server: Rows, projectId: string) {
  const rows = await server.rows<{ name: string; count: number; last: Date }>(
    `select v.name, count(*)::int as count, max(v.created_at) as last from events v where v.project_id = $1 and ${SHOWN} group by 1
     union all
     select 'email.sent', count(*)::int, max(e.sent_at) from emails e
     where e.project_id = $1 and e.sent_at is not null and e.contact_id is not null having count(*) > 0
     order by 1`,
    projectId,
  );
  return rows.map(({ name, count, last }) => ({ name, count, lastSeenAt: last.toISOString() }));
}
