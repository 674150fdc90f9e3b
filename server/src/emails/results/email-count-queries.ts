// Queries on `email_counts`, and the CTEs by which every statement that ends or reports an email keeps the counts equal to the rows
// (docs/decisions/0125-email-counts.md).
import { sql, type RawBuilder } from "kysely";
import { plannedEachTime, type Database, type Tx } from "../../platform/database/database.ts";
import type { Row } from "../../platform/database/row.ts";
import { inProject, projectOf, queryByProject } from "../../platform/database/cluster.ts";
import { CAME_BACK, HAS_LEFT, IS_SENT } from "../rows/counted-by-queries.ts";

export const COUNTED = [
  "recipients",
  "sent",
  "failed",
  "skipped",
  "unconfirmed",
  "delivered",
  "opened",
  "clicked",
  "bounced",
  "complained",
  "unsubscribed",
] as const;
export type EmailCounts = Record<(typeof COUNTED)[number], number>;

const sums = sql.join(COUNTED.map((name) => sql`sum(${sql.ref(name)})::float8 as ${sql.ref(name)}`));

export type EmailCountRow = EmailCounts & Row<"email_counts", "subjectId">;

/** Returns the counts of campaigns, workflow steps or templates, without those that never had any. Reads a few rows of each. */
export async function sumEmailCounts(
  database: Database,
  projectId: string,
  subjectIds: readonly string[],
): Promise<EmailCountRow[]> {
  const { rows } = await sql<EmailCountRow>`
    select subject_id, ${sums} from email_counts
    where project_id = ${projectId} and subject_id = any(${subjectIds}::uuid[]) group by subject_id`.execute(
    database,
  );
  return rows;
}

/** Builds a statement that counts recipients. `source` has the columns project, campaign and number. */
export function addRecipients(source: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`insert into email_counts (project_id, subject_id, recipients) ${source}`;
}

/** The columns of email `e` that `countChanges` needs. */
export const SUBJECTS = sql`e.campaign_id, e.workflow_step_id, e.template_id`;

/** Counts the changes into a state and subtracts those out of it. */
const moved = (isIn: RawBuilder<unknown>) =>
  sql`count(*) filter (where became ${isIn}) - count(*) filter (where was ${isIn})`;
/** States that pending emails don't have. */
const IS_END = sql`not in ('QUEUED', 'CLAIMED')`;
const reported = (report: RawBuilder<unknown>) => sql`count(*) filter (where report = ${report})`;
const CHANGES = {
  sent: moved(IS_SENT),
  failed: moved(sql`= 'FAILED'`),
  skipped: moved(sql`= 'SKIPPED'`),
  unconfirmed: moved(sql`= 'UNCONFIRMED'`),
  delivered: reported(sql`'delivered'`),
  opened: reported(sql`'opened'`),
  clicked: reported(sql`'clicked'`),
  bounced: reported(sql`'bounced'`),
  complained: reported(sql`'complained'`),
  unsubscribed: reported(sql`'unsubscribed'`),
} as const;
const CHANGED = Object.keys(CHANGES).map((name) => sql.ref(name));

/**
 * Returns CTEs that count what a statement changes. `changes` is a query with one row per email and the columns `project_id`, those of
 * `SUBJECTS`, `was` and `became` (its status before and after, null if it was or is pending) and `report` (the name of a count, or null).
 * A change goes to a row that no other transaction is changing, or to a new one, so it never waits.
 * @param projectId the project of all changes, which a cluster requires
 */
export function countChanges(
  changes: RawBuilder<unknown>,
  projectId: string | null = null,
): RawBuilder<unknown> {
  return sql`
    count_changes as materialized (
      select c.project_id, s.subject_id, ${sql.join(Object.entries(CHANGES).map(([name, count]) => sql`${count} as ${sql.ref(name)}`))}
      from (${changes}) c cross join lateral (values (c.campaign_id), (c.workflow_step_id), (c.template_id)) as s (subject_id)
      where s.subject_id is not null
        and (report is not null or was is distinct from became and (was ${IS_END} or became ${IS_END}))
      group by 1, 2
    ), count_rows as materialized (
      select c.*, (
        select p.part from email_counts p
        where p.project_id = ${projectOf(sql`c.project_id`, projectId)} and p.subject_id = c.subject_id
        order by p.part limit 1 for no key update skip locked) as part
      from count_changes c
    ), counts_changed as (
      update email_counts c set ${sql.join(CHANGED.map((name) => sql`${name} = c.${name} + r.${name}`))}
      from count_rows r
      where c.project_id = r.project_id and c.subject_id = r.subject_id and c.part = r.part ${inProject(sql`c.project_id`, projectId)}
    ), counts_begun as (
      insert into email_counts (project_id, subject_id, ${sql.join(CHANGED)})
      select project_id, subject_id, ${sql.join(CHANGED)} from count_rows where part is null
    )`;
}

/** A contact that unsubscribed by a link. Without an email, the link counts for the last email to the contact. */
export interface UsedLink {
  projectId: string;
  contactId: string;
  emailId: string | null;
}

/** Stores the time when a contact first unsubscribed by a link of a sent email. */
export async function updateUnsubscribed(tx: Tx, links: readonly UsedLink[]): Promise<void> {
  await queryByProject(tx, links, async (own, projectId) => {
    const { rows } = await sql`
      with used as materialized (
        select i.project_id, i.contact_id, coalesce(i.email_id, (
          select l.id from emails l
          where l.project_id = ${projectOf(sql`i.project_id`, projectId)} and l.contact_id = i.contact_id and l.sent_at <= now()
          order by l.sent_at desc limit 1)) as id
        from unnest(
          ${own.map((link) => link.projectId)}::uuid[],
          ${own.map(({ contactId }) => contactId)}::uuid[],
          ${own.map(({ emailId }) => emailId)}::uuid[]
        ) as i (project_id, contact_id, email_id)
      ), marked as (
        update emails e set unsubscribed_at = now() from used u
        where e.project_id = u.project_id and e.id = u.id and e.contact_id = u.contact_id and e.sent_at <= now()
          and e.unsubscribed_at is null ${inProject(sql`e.project_id`, projectId)}
        returning e.project_id, ${SUBJECTS}
      ), ${countChanges(sql`select *, null as was, null as became, 'unsubscribed' as report from marked`, projectId)}
      select`.execute(tx);
    return rows;
  });
}

export interface Recount extends Row<"email_counts", "projectId" | "subjectId"> {
  /** In the order of `COUNTED`. */
  counted: number[];
  real: number[];
}

const hasEnded = (status: string) => sql`count(*) filter (where e.status = ${sql.lit(status)})`;
const hasBit = (bit: number) => sql`count(*) filter (where e.came_back & ${sql.lit(bit)} > 0)`;
/** The same numbers from the rows. */
const FROM_ROWS: Readonly<Record<keyof EmailCounts, RawBuilder<unknown>>> = {
  recipients: sql`count(*) filter (where s.subject_id = e.campaign_id)`,
  sent: sql`count(*) filter (where ${HAS_LEFT})`,
  failed: hasEnded("FAILED"),
  skipped: hasEnded("SKIPPED"),
  unconfirmed: hasEnded("UNCONFIRMED"),
  delivered: hasBit(CAME_BACK.delivered),
  opened: hasBit(CAME_BACK.opened),
  clicked: hasBit(CAME_BACK.clicked),
  bounced: hasBit(CAME_BACK.bounced),
  complained: hasBit(CAME_BACK.complained),
  unsubscribed: sql`count(e.unsubscribed_at)`,
};

/**
 * Returns the campaigns, steps and templates of a project whose counts differ from their emails. With `campaignId` it checks only that
 * campaign, from an index that has no unsubscribes. One statement, because counts and rows must come from one snapshot.
 */
export async function listWrongCounts(
  database: Database,
  projectId: string,
  campaignId: string | null,
): Promise<Recount[]> {
  const names = COUNTED.filter((name) => campaignId === null || name !== "unsubscribed");
  const isMeant = (column: string) =>
    campaignId === null ? sql`` : sql`and ${sql.ref(column)} = ${campaignId}`;
  const sumsWhere = (condition: RawBuilder<unknown>) =>
    sql`array[${sql.join(names.map((name) => sql`coalesce(sum(${sql.ref(name)}) filter (where ${condition}), 0)::float8`))}]`;
  const [counted, real] = [sumsWhere(sql`is_counted`), sumsWhere(sql`not is_counted`)];
  const zeros = names.slice(1).map(() => sql`0`);
  const { rows } = await sql<Recount>`
    ${plannedEachTime} select ${projectId}::uuid as project_id, subject_id, ${counted} as counted, ${real} as real
    from (
      select true as is_counted, subject_id, ${sql.join(names.map((name) => sql.ref(name)))}
      from email_counts where project_id = ${projectId} ${isMeant("subjectId")}
      union all
      select false, s.subject_id, ${sql.join(names.map((name) => FROM_ROWS[name]))}
      from emails e
      cross join lateral (values (e.campaign_id)${campaignId === null ? sql`, (e.workflow_step_id), (e.template_id)` : sql``}) as s (subject_id)
      where e.project_id = ${projectId} and s.subject_id is not null ${isMeant("e.campaignId")}
      group by s.subject_id
      union all
      select false, campaign_id, sum(cardinality(email_ids)), ${sql.join(zeros)}
      from recipient_batches where project_id = ${projectId} ${isMeant("campaignId")}
      group by campaign_id
    ) g
    group by subject_id having ${counted} <> ${real} order by subject_id`.execute(database);
  return rows;
}

/** Returns a random sample of the projects with counts. Closed queues are left out, because a removal deletes emails and counts separately. */
export async function sampleProjects(database: Database, limit: number): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    select p.project_id as id from project_queues p
    where p.is_open and exists (select 1 from email_counts c where c.project_id = p.project_id)
    order by random() limit ${limit}`.execute(database);
  return rows.map(({ id }) => id);
}
