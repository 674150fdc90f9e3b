// Statements on `suppressions`.
import { sql, type RawBuilder } from "kysely";
import { SUPPRESSION_REASONS, type SuppressionReason } from "@postloft/contract/suppressions.ts";
import type { Database, Tx } from "../platform/database/database.ts";
import type { Row } from "../platform/database/row.ts";
import { containsAddressPart } from "../platform/http/page.ts";

export interface SuppressionRow extends Row<
  "suppressions",
  "id" | "email" | "emailId" | "actor" | "createdAt"
> {
  reason: SuppressionReason;
}

export interface NewSuppression extends Row<"suppressions", "projectId" | "id" | "emailId" | "actor"> {
  /** Canonical. */
  email: string;
  reason: SuppressionReason;
}

/** Returns a query for the reason why an address of a project is suppressed. */
export const reasonOf = (
  projectId: RawBuilder<unknown>,
  email: RawBuilder<unknown>,
): RawBuilder<unknown> => sql`
  select s.reason from suppressions s where s.project_id = ${projectId} and s.email = ${email}`;

const rank = (reason: RawBuilder<unknown>) =>
  sql`array_position(array[${sql.join(SUPPRESSION_REASONS.map((one) => sql.lit(one)))}], ${reason})`;

/**
 * Adds addresses to the list. A stronger reason replaces a weaker one. Each address of a project may appear once. Returns the new entries.
 */
export async function upsertSuppressions(
  tx: Tx,
  suppressions: readonly NewSuppression[],
): Promise<Array<{ projectId: string; email: string }>> {
  const { rows } = await sql<{ projectId: string; email: string; id: string }>`
    insert into suppressions as s (project_id, id, email, reason, email_id, actor)
    select * from unnest(
      ${suppressions.map((one) => one.projectId)}::uuid[],
      ${suppressions.map((one) => one.id)}::uuid[],
      ${suppressions.map((one) => one.email)}::text[],
      ${suppressions.map((one) => one.reason)}::text[],
      ${suppressions.map((one) => one.emailId)}::uuid[],
      ${suppressions.map((one) => one.actor)}::text[]
    ) as i (project_id, id, email, reason, email_id, actor)
    -- One order everywhere, so that concurrent inserts of the same addresses cannot deadlock.
    order by project_id, email
    on conflict (project_id, email) do update set
      reason = excluded.reason, email_id = excluded.email_id, actor = excluded.actor
      where ${rank(sql`excluded.reason`)} < ${rank(sql`s.reason`)}
    returning project_id, email, id`.execute(tx);
  const ids = new Set(suppressions.map(({ id }) => id));
  return rows.filter((row) => ids.has(row.id));
}

export interface SuppressionFilter {
  search?: string | undefined;
  reason?: SuppressionReason | undefined;
}

const restricted = (projectId: string, { search = "", reason }: SuppressionFilter) => sql`
  project_id = ${projectId}
  ${search === "" ? sql`` : sql`and ${containsAddressPart("email", search)}`}
  ${reason === undefined ? sql`` : sql`and reason = ${reason}`}`;

const COLUMNS = sql`id, email, reason, email_id, actor, created_at`;

/** Newest first. */
export async function listSuppressionRows(
  database: Database,
  projectId: string,
  filter: SuppressionFilter,
  page: { limit: number; before: string | null },
): Promise<SuppressionRow[]> {
  const before = page.before === null ? sql`` : sql`and id < ${page.before}`;
  const { rows } = await sql<SuppressionRow>`
    select ${COLUMNS} from suppressions where ${restricted(projectId, filter)} ${before}
    order by project_id desc, id desc limit ${page.limit + 1}`.execute(database);
  return rows;
}

export async function countSuppressionRows(
  database: Database,
  projectId: string,
  filter: SuppressionFilter,
): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*)::float8 as count from suppressions where ${restricted(projectId, filter)}`.execute(
    database,
  );
  return rows[0]?.count ?? 0;
}

/** Oldest first. */
export async function listSuppressionsAfter(
  database: Database,
  projectId: string,
  filter: SuppressionFilter,
  { after, limit }: { after: string | null; limit: number },
): Promise<SuppressionRow[]> {
  const isBehind = after === null ? sql`` : sql`and id > ${after}`;
  const { rows } = await sql<SuppressionRow>`
    select ${COLUMNS} from suppressions where ${restricted(projectId, filter)} ${isBehind}
    order by project_id, id limit ${limit}`.execute(database);
  return rows;
}

/** Returns the listed ones of these addresses, across projects. */
export async function findSuppressionRows(
  database: Database,
  addresses: ReadonlyArray<{ projectId: string; email: string }>,
): Promise<Array<SuppressionRow & { projectId: string }>> {
  const { rows } = await sql<SuppressionRow & { projectId: string }>`
    select s.project_id, s.id, s.email, s.reason, s.email_id, s.actor, s.created_at
    from unnest(
      ${addresses.map(({ projectId }) => projectId)}::uuid[],
      ${addresses.map(({ email }) => email)}::text[]) as i (project_id, email)
    join suppressions s on s.project_id = i.project_id and s.email = i.email`.execute(database);
  return rows;
}

/** Returns whether the address was listed. */
export async function deleteSuppressionRow(tx: Tx, projectId: string, email: string): Promise<boolean> {
  const result =
    await sql`delete from suppressions where project_id = ${projectId} and email = ${email}`.execute(tx);
  return (result.numAffectedRows ?? 0n) > 0n;
}
