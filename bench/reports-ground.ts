// What `npm run bench reports` stands on: one project with very many mails and events over ninety days, beside a thousand small ones.
// Before it: reports.ts. After it: the counts are kept up to date, and the reports are asked.
import { sql } from "kysely";
import * as names from "@postloft/contract/event-names.ts";
import type { Database } from "../server/src/platform/database.ts";
import { newId } from "../server/src/platform/ids.ts";
import { progress } from "./table.ts";

export interface ReportSize {
  mails: number;
  events: number;
  neighbours: number;
}

/** Of whose reports the benchmark asks. */
export interface ReportProject {
  id: string;
  campaignId: string;
  contactId: string;
}

/** A campaign goes to all of them. */
const CONTACTS = 20_000;
const ROWS_AT_ONCE = 50_000;
export const DAYS_OF_GROUND = 90;
const MAILS_OF_NEIGHBOUR = 20;
const DOMAINS = "gmail.com hotmail.com yahoo.com icloud.com web.de corp.example.org example.com example.net";
const OTHER_NAMES =
  "page_viewed page_viewed page_viewed page_viewed signed_in signed_in feature_used cart_updated purchase contact.subscribed contact.unsubscribed";

/** Of a hundred mails: how many come back so. */
const CAME_BACK = [
  { name: names.EMAIL_DELIVERY, percent: 97, data: "{}" },
  { name: names.EMAIL_OPEN, percent: 30, data: '{"isFirst": true}' },
  { name: names.EMAIL_MACHINE_OPEN, percent: 15, data: "{}" },
  { name: names.EMAIL_CLICK, percent: 6, data: '{"isFirst": true}' },
  { name: names.EMAIL_BOUNCE, percent: 2, data: '{"bounceType": "hard"}' },
];
const EVENTS_A_MAIL = CAME_BACK.reduce((sum, { percent }) => sum + percent, 0) / 100;

/** When row `n` of `total` happened: evenly over the days, the last one a few minutes ago. */
const atOf = (total: number) =>
  sql`now() - interval '5 minutes' - (1 - n::float8 / ${total}) * interval '${sql.raw(String(DAYS_OF_GROUND))} days'`;

async function addContacts(database: Database, projectId: string, contacts: number): Promise<void> {
  await sql`
    insert into contacts (project_id, id, email, subscribed)
    select ${projectId}::uuid, new_id(), 'c' || n || '@' || (string_to_array(${DOMAINS}, ' '))[1 + n % 8], true
    from generate_series(1, ${contacts}::int) n`.execute(database);
}

/** A campaign and a workflow for each time that everybody is written to. */
async function addOccasions(database: Database, projectId: string, occasions: number): Promise<void> {
  await sql`
    insert into campaigns (project_id, id, name, subject, body, from_address, audience_type, status, total_recipients, finished_at)
    select ${projectId}::uuid, new_id(), 'Campaign ' || n, 'Hello', '<p>Hello</p>', 'news@shop.example', 'ALL', 'SENT', ${CONTACTS}::int, now()
    from generate_series(1, ${occasions}::int) n`.execute(database);
  await sql`
    insert into workflows (project_id, id, name) select ${projectId}::uuid, new_id(), 'Workflow ' || n
    from generate_series(1, 20) n`.execute(database);
}

/** Everybody gets mail after mail: half of the occasions are campaigns, a quarter are of workflows, the rest is transactional. */
async function addMails(database: Database, projectId: string, mails: number): Promise<void> {
  const contentId = newId();
  await sql`
    insert into email_contents (project_id, id, from_address, subject, html)
    values (${projectId}, ${contentId}, 'news@shop.example', 'Hello', '<p>Hello</p>')`.execute(database);
  for (let from = 0; from < mails; from += ROWS_AT_ONCE) {
    await sql`
      with people as (
        select id, email, row_number() over (order by id) - 1 as at from contacts where project_id = ${projectId}
      ), occasions as (
        select k.id as campaign_id, row_number() over (order by k.id) - 1 as at from campaigns k where k.project_id = ${projectId}
      ), flows as (
        select w.id as workflow_id, row_number() over (order by w.id) - 1 as at from workflows w where w.project_id = ${projectId}
      ), made as (
        select n, ${atOf(mails)} as at from generate_series(${from}::int, ${Math.min(from + ROWS_AT_ONCE, mails) - 1}::int) n
      ), sent as (
        insert into emails (project_id, id, contact_id, content_id, priority, status, to_address, due_at, created_at, sent_at,
          delivered_at, campaign_id, workflow_id)
        select ${projectId}::uuid, sent_event_id(gen_random_uuid(), m.at), p.id, ${contentId}::uuid,
          case when o.at % 2 = 0 then 3 when o.at % 4 = 1 then 2 else 1 end, 'DELIVERED', p.email, m.at, m.at, m.at, m.at,
          case when o.at % 2 = 0 then o.campaign_id end, case when o.at % 4 = 1 then f.workflow_id end
        from made m join people p on p.at = m.n % ${CONTACTS} join occasions o on o.at = m.n / ${CONTACTS}
        join flows f on f.at = m.n % 20
        returning id, contact_id, sent_at
      )
      insert into events (project_id, id, contact_id, name, data, email_id, created_at)
      select ${projectId}::uuid, sent_event_id(gen_random_uuid(), s.sent_at + interval '1 minute'), s.contact_id, b.name, b.data::jsonb, s.id,
        s.sent_at + interval '1 minute'
      from sent s
      join unnest(${CAME_BACK.map(({ name }) => name)}::text[], ${CAME_BACK.map(({ percent }) => percent)}::int[],
        ${CAME_BACK.map(({ data }) => data)}::text[]) b (name, percent, data)
        on abs(hashtextextended(s.id::text || b.name, 7)) % 100 < b.percent`.execute(database);
    progress(`${Math.min(from + ROWS_AT_ONCE, mails)} of ${mails} mails`);
  }
}

async function addOtherEvents(database: Database, projectId: string, events: number): Promise<void> {
  for (let from = 0; from < events; from += ROWS_AT_ONCE) {
    await sql`
      with people as (
        select id, row_number() over (order by id) - 1 as at from contacts where project_id = ${projectId}
      ), made as (
        select n, ${atOf(events)} as at from generate_series(${from}::int, ${Math.min(from + ROWS_AT_ONCE, events) - 1}::int) n
      )
      insert into events (project_id, id, contact_id, name, data, created_at)
      select ${projectId}::uuid, sent_event_id(gen_random_uuid(), m.at), p.id, (string_to_array(${OTHER_NAMES}, ' '))[1 + m.n % 11], '{"a": 1}', m.at
      from made m join people p on p.at = (m.n::bigint * 7919) % ${CONTACTS}`.execute(database);
    progress(`${Math.min(from + ROWS_AT_ONCE, events)} of ${events} events that are not of mails`);
  }
}

/** Projects of one contact, with a few mails that were delivered. */
async function addNeighbours(database: Database, neighbours: number): Promise<void> {
  await sql`
    with small as (
      insert into projects (id, name) select new_id(), 'small ' || n from generate_series(1, ${neighbours}::int) n returning id
    ), people as (
      insert into contacts (project_id, id, email, subscribed) select id, new_id(), 'ada@example.com', true from small
      returning project_id, id
    ), contents as (
      insert into email_contents (project_id, id, from_address, subject, html)
      select id, new_id(), 'news@shop.example', 'Hello', '<p>Hello</p>' from small returning project_id, id
    ), sent as (
      insert into emails (project_id, id, contact_id, content_id, priority, status, to_address, created_at, sent_at, delivered_at)
      select p.project_id, sent_event_id(gen_random_uuid(), t.at), p.id, c.id, 1, 'DELIVERED', 'ada@example.com', t.at, t.at, t.at
      from people p join contents c on c.project_id = p.project_id
      cross join lateral (select ${atOf(MAILS_OF_NEIGHBOUR)} as at from generate_series(1, ${MAILS_OF_NEIGHBOUR}::int) n) t
      returning project_id, id, contact_id, sent_at
    )
    insert into events (project_id, id, contact_id, name, data, email_id, created_at)
    select project_id, sent_event_id(gen_random_uuid(), sent_at), contact_id, ${names.EMAIL_DELIVERY}, '{}', id, sent_at from sent`.execute(
    database,
  );
}

/** Fills the database; nothing of it is counted yet. */
export async function makeReportGround(database: Database, size: ReportSize): Promise<ReportProject> {
  const id = newId();
  await sql`insert into projects (id, name) values (${id}, 'large')`.execute(database);
  await addContacts(database, id, CONTACTS);
  await addOccasions(database, id, Math.ceil(size.mails / CONTACTS));
  await addNeighbours(database, size.neighbours);
  await addMails(database, id, size.mails);
  await addOtherEvents(database, id, Math.max(0, size.events - Math.round(size.mails * EVENTS_A_MAIL)));
  await sql`vacuum (analyze) contacts, events, emails, campaigns`.execute(database);
  const { rows } = await sql<{ campaignId: string; contactId: string }>`
    select campaign_id as "campaignId", contact_id as "contactId" from emails
    where project_id = ${id} and campaign_id is not null order by id desc limit 1`.execute(database);
  return { id, campaignId: rows[0]?.campaignId ?? "", contactId: rows[0]?.contactId ?? "" };
}

/** What came in the seconds that are never counted yet. */
export async function addNews(database: Database, projectId: string, events: number): Promise<void> {
  await sql`
    insert into events (project_id, id, contact_id, name, created_at)
    select ${projectId}::uuid, new_id(), id, 'page_viewed', now() from contacts where project_id = ${projectId} limit ${events}`.execute(
    database,
  );
}
