// Sums over a time span. One statement reads the counts with their position, and a second one counts the rows from there on
// (docs/decisions/0086).
import { sql, type RawBuilder } from "kysely";
import { EMAIL_KINDS } from "@postloft/contract/emails.ts";
import type { Dimension } from "@postloft/contract/report-queries.ts";
import { plannedEachTime, type Database } from "../platform/database/database.ts";
import { NO_ID } from "../platform/ids.ts";
import { joinProviders } from "../emails/rows/counted-by.ts";
import {
  DIMENSION_NUMBERS,
  inRange,
  inSpan,
  mailFacts,
  MAIL_COLUMNS,
  otherFacts,
  positionOf,
  SENT_ID,
  VALUES,
  WAS_SENT,
  type Counted,
  type MailColumn,
  type Span,
} from "./count-queries.ts";

type Expression = RawBuilder<unknown>;

/** Groups emails by the value of their dimension, or by an expression of their time. */
export type MailKey = "value" | ((instant: Expression) => Expression);

/** Count rows with their position. Without counts, a single row without a key. */
type WithPosition<Row> = Array<Row & { position: string; key: string | number | null }>;

/** Emails of one dimension, with one value or all values. */
export interface MailFilter {
  dimension: Dimension;
  value: string | null;
}

const withPosition = (projectId: string, counts: Expression) => sql`
  ${plannedEachTime} select k.position, c.* from (select ${positionOf(projectId)} as position) k left join (${counts}) c on true`;

/** Selects the uncounted rows from a position on. */
const since = (position: string): Counted => inRange(sql`${position}::uuid`, null);

/**
 * Sums emails in a span by key.
 * `columns`: the columns to sum. Fewer are faster.
 */
export async function sumMails<Column extends MailColumn = MailColumn>(
  database: Database,
  projectId: string,
  asked: { filter: MailFilter; span: Span; by: MailKey; columns?: readonly Column[] },
): Promise<Map<string | number, Record<Column, number>>> {
  const columns = asked.columns ?? (MAIL_COLUMNS as readonly MailColumn[] as readonly Column[]);
  const counted = await readCountedMails(database, projectId, { ...asked, columns });
  const sums = new Map<string | number, Record<Column, number>>();
  for (const { key, position: _position, ...row } of counted) if (key !== null) sums.set(key, row as never);
  const none = Object.fromEntries(columns.map((column) => [column, 0])) as Record<Column, number>;
  const position = counted[0]?.position ?? "";
  for (const { key, what, isRefusal, n } of await readMailsSince(database, projectId, {
    ...asked,
    position,
  })) {
    const counting = (isRefusal ? [what, "refused"] : [what]).filter(
      (column): column is Column => column in none,
    );
    const sum = sums.get(key) ?? { ...none };
    for (const column of counting) sum[column] += n;
    sums.set(key, sum);
  }
  return sums;
}

interface AskedMails<Column> {
  filter: MailFilter;
  span: Span;
  by: MailKey;
  columns: readonly Column[];
}

async function readCountedMails<Column extends MailColumn>(
  database: Database,
  projectId: string,
  { filter: { dimension, value }, span, by, columns }: AskedMails<Column>,
): Promise<WithPosition<Record<Column, number>>> {
  const number = DIMENSION_NUMBERS[dimension];
  const ofValue =
    value === null
      ? sql`true`
      : sql`m.value = (select x.id from count_values x where x.project_id = ${projectId} and x.dimension = ${number} and x.value = ${value})`;
  const sums = columns.map((column) => sql`sum(m.${sql.id(column)}) as ${sql.id(column)}`);
  const grouped = sql`
    select ${by === "value" ? sql`m.value` : by(sql`m.quarter`)} as key, ${sql.join(sums)} from mail_counts m
    where m.project_id = ${projectId} and m.dimension = ${number} and ${inSpan(span, sql`m.quarter`)} and ${ofValue}
    group by 1`;
  const named = sql`
    select x.value as key, ${sql.join(columns.map((column) => sql.id("g", column)))} from (${grouped}) g
    join count_values x on x.project_id = ${projectId} and x.dimension = ${number} and x.id = g.key`;
  const { rows } = await withPosition(projectId, by === "value" ? named : grouped).execute(database);
  return rows as WithPosition<Record<Column, number>>;
}

/** Lists all columns explicitly. The planner then expects few rows and starts no workers for them. */
async function readMailsSince(
  database: Database,
  projectId: string,
  { filter, span, by, position }: Omit<AskedMails<MailColumn>, "columns"> & { position: string },
) {
  const { recorded, sent } = since(position);
  const facts = mailFacts(projectId, {
    recorded: [...recorded, inSpan(span, sql`v.created_at`)],
    sent: [...sent, inSpan(span, sql`e.sent_at`)],
  });
  const value = VALUES[filter.dimension];
  const { rows } = await sql<{ key: string | number; what: string; isRefusal: boolean; n: number }>`
    ${plannedEachTime} select ${by === "value" ? value : by(sql`f.at`)} as key, f.what, f.is_refusal, count(*) as n
    from (${facts}) f ${filter.dimension === "provider" ? joinProviders(sql`f.domain`) : sql``}
    where f.what = any(${MAIL_COLUMNS}::text[]) and ${filter.value === null ? sql`${value} is not null` : sql`${value} = ${filter.value}`}
    group by 1, 2, 3`.execute(database);
  return rows as Array<{ key: string | number; what: MailColumn; isRefusal: boolean; n: number }>;
}

/**
 * Sums other events in a span with named expressions over `at`, `name`, `detail` and `count`, by a key over the same.
 * `only`: restricts the sums to these event names, or null for all.
 */
export async function sumOthers<Sum extends string>(
  database: Database,
  projectId: string,
  asked: {
    span: Span;
    only: readonly string[] | null;
    by: Expression;
    sums: Readonly<Record<Sum, Expression>>;
  },
): Promise<Map<string | number, Record<Sum, number>>> {
  const { span, only, by } = asked;
  const names = Object.keys(asked.sums) as Sum[];
  const shown = sql.join([
    sql`${by} as key`,
    ...names.map((name) => sql`${asked.sums[name]} as ${sql.id(name)}`),
  ]);
  const named = (name: Expression) => (only === null ? sql`true` : sql`${name} = any(${only}::text[])`);
  const counted = (
    await withPosition(
      projectId,
      sql`select ${shown} from (
        select c.quarter as at, c.name, c.detail, c.count from event_counts c
        where c.project_id = ${projectId} and ${inSpan(span, sql`c.quarter`)} and ${named(sql`c.name`)}
      ) f group by 1`,
    ).execute(database)
  ).rows as WithPosition<Record<Sum, number>>;
  const { recorded } = since(counted[0]?.position ?? "");
  const facts = otherFacts(projectId, [...recorded, inSpan(span, sql`v.created_at`), named(sql`v.name`)]);
  const fresh = (
    await sql`${plannedEachTime} select ${shown} from (select *, 1 as count from (${facts}) each) f group by 1`.execute(
      database,
    )
  ).rows as Array<Record<Sum, number> & { key: string | number }>;
  const sums = new Map<string | number, Record<Sum, number>>();
  for (const row of [...counted, ...fresh]) {
    if (row.key === null) continue;
    const before = sums.get(row.key);
    // A sum of no rows is null.
    const added = names.map((name) => [name, (row[name] ?? 0) + (before?.[name] ?? 0)]);
    sums.set(row.key, Object.fromEntries(added) as Record<Sum, number>);
  }
  return sums;
}

/**
 * Returns a query for emails sent in a span, as `sent` by `kind`, to embed in a statement. The statement's own snapshot decides the
 * position. The position read just before, which is never later, only tells the planner how few rows are uncounted.
 */
export async function sentMails(database: Database, projectId: string, span: Span): Promise<Expression> {
  const { rows } = await sql<{ position: string }>`select ${positionOf(projectId)} as position`.execute(
    database,
  );
  const position = sql`${rows[0]?.position ?? NO_ID}::uuid`;
  return sql`
    select x.value as kind, m.sent from mail_counts m
    join count_values x on x.project_id = m.project_id and x.dimension = m.dimension and x.id = m.value
    where m.project_id = ${projectId} and m.dimension = ${DIMENSION_NUMBERS.kind} and ${inSpan(span, sql`m.quarter`)}
    union all
    select (${EMAIL_KINDS}::text[])[e.priority], 1 from emails e
    where e.project_id = ${projectId} and e.is_test is null and ${WAS_SENT} and ${inSpan(span, sql`e.sent_at`)}
      and ${SENT_ID} >= ${position} and ${SENT_ID} >= ${positionOf(projectId)}`;
}
