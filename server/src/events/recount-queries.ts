// Compares counts with the rows that they count.
import { sql } from "kysely";
import { plannedEachTime, type Database, type Tx } from "../platform/database/database.ts";
import {
  countMails,
  countOthers,
  DIMENSION_NUMBERS,
  inSpan,
  MAIL_COLUMNS,
  positionOf,
  SENT_ID,
  type Span,
} from "./count-queries.ts";

/** Returns a random sample of the projects with counts. */
export async function sampleCountedProjects(database: Database, limit: number): Promise<string[]> {
  const { rows } = await sql<{ projectId: string }>`
    select project_id from count_positions order by random() limit ${limit}`.execute(database);
  return rows.map(({ projectId }) => projectId);
}

/** Reads counts and rows from one snapshot, so that concurrent counting affects neither. Must be the first statement of the transaction. */
export async function useOneSnapshot(tx: Tx): Promise<void> {
  await sql`set transaction isolation level repeatable read, read only`.execute(tx);
}

/** Returns the number of wrong quarter hours per dimension, and for other events, compared with the rows up to the position. */
export async function countWrongQuarters(tx: Tx, projectId: string, span: Span) {
  const counted = {
    recorded: [sql`v.id < ${positionOf(projectId)}`, inSpan(span, sql`v.created_at`)],
    sent: [sql`${SENT_ID} < ${positionOf(projectId)}`, inSpan(span, sql`e.sent_at`)],
  };
  const columns = sql.join(MAIL_COLUMNS.map((column) => sql.id(column)));
  const isCounted = sql`(${sql.join(
    MAIL_COLUMNS.map((column) => sql`${sql.id(column)} <> 0`),
    sql` or `,
  )})`;
  const within = inSpan(span, sql`quarter`);
  const mails = sql`
    select c.dimension, quarter, v.value, ${columns} from mail_counts c
    join count_values v on v.project_id = c.project_id and v.dimension = c.dimension and v.id = c.value
    where c.project_id = ${projectId} and not c.of_deleted and ${within} and ${isCounted}`;
  const recounted = sql`select dimension, quarter, value, ${columns} from (${countMails(projectId, counted)}) told where ${isCounted}`;
  const others = sql`
    select quarter, name, detail, count from event_counts where project_id = ${projectId} and ${within} and count <> 0`;
  const recountedOthers = countOthers(projectId, counted.recorded);
  const names = Object.entries(DIMENSION_NUMBERS).map(
    ([name, number]) => sql`(${number}::smallint, ${name})`,
  );
  const { rows } = await sql<{ what: string; quarters: number }>`
    ${plannedEachTime} select what, count(distinct quarter)::integer as quarters from (
      select n.name as what, quarter from ((${mails} except ${recounted}) union all (${recounted} except ${mails})) m
      join (values ${sql.join(names)}) n (number, name) on n.number = m.dimension
      union all
      select 'events', quarter from ((${others} except ${recountedOthers}) union all (${recountedOthers} except ${others})) o
    ) wrong group by what order by what`.execute(tx);
  return rows;
}
