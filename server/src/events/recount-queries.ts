// Counts held against the rows that they are counts of. Before it: recount.ts. After it: count-queries.ts, whose way of counting is the same.
import { sql, type RawBuilder } from "kysely";
import { plannedEachTime, type Database, type Tx } from "../platform/database.ts";
import {
  countMails,
  countOthers,
  inSpan,
  MAIL_COLUMNS,
  positionOf,
  SENT_ID,
  type Span,
} from "./count-queries.ts";

/** Some of the projects with counts, others each time. */
export async function sampleCountedProjects(database: Database, limit: number): Promise<string[]> {
  const { rows } = await sql<{ project_id: string }>`
    select project_id from count_positions order by random() limit ${limit}`.execute(database);
  return rows.map(({ project_id }) => project_id);
}

/** Counts and rows as of one instant: what is counted meanwhile is in neither. First in the transaction. */
export async function seeOneInstant(tx: Tx): Promise<void> {
  await sql`set transaction isolation level repeatable read, read only`.execute(tx);
}

/** How many quarters of which dimension, or of other events, are not what the rows up to the position add up to. */
export async function countWrongQuarters(tx: Tx, projectId: string, span: Span) {
  const counted = {
    recorded: [sql`v.id < ${positionOf(projectId)}`, inSpan(span, sql`v.created_at`)],
    sent: [sql`${SENT_ID} < ${positionOf(projectId)}`, inSpan(span, sql`e.sent_at`)],
  };
  const columns = sql.join(MAIL_COLUMNS.map((column) => sql.id(column)));
  const kept = (table: string, shown: RawBuilder<unknown>, isSome: RawBuilder<unknown>) => sql`
    select ${shown} from ${sql.table(table)} where project_id = ${projectId} and ${inSpan(span, sql`quarter`)} and ${isSome}`;
  const isCounted = sql`(${sql.join(
    MAIL_COLUMNS.map((column) => sql`${sql.id(column)} <> 0`),
    sql` or `,
  )})`;
  const mails = kept("mail_counts", sql`dimension, quarter, value, ${columns}`, isCounted);
  const recounted = sql`select dimension, quarter, value, ${columns} from (${countMails(projectId, counted)}) told where ${isCounted}`;
  const others = kept("event_counts", sql`quarter, name, detail, count`, sql`count <> 0`);
  const recountedOthers = await countOthers(tx, projectId, counted);
  const { rows } = await sql<{ what: string; quarters: number }>`
    ${plannedEachTime} select what, count(distinct quarter)::integer as quarters from (
      select dimension as what, quarter from ((${mails} except ${recounted}) union all (${recounted} except ${mails})) m
      union all
      select 'events', quarter from ((${others} except ${recountedOthers}) union all (${recountedOthers} except ${others})) o
    ) wrong group by what order by what`.execute(tx);
  return rows;
}
