// SQL statements on `templates`. Uses of a template are counted in the tables that refer to it.
import { sql } from "kysely";
import type { TemplateType } from "@postloft/contract/templates.ts";
import type { Database, Tx } from "../platform/database/database.ts";
import type { Row } from "../platform/database/row.ts";
import { limitToPageBytes, containing, type RowOfBytes } from "../platform/http/page.ts";

export interface TemplateRow extends Row<"templates", (typeof COLUMNS)[number]> {
  /** The languages of its variants. */
  locales: string[];
}

export type WholeTemplateRow = TemplateRow & Row<"templates", "previewText"> & { design: unknown };
export type LockedTemplateRow = Omit<WholeTemplateRow, "locales">;

const COLUMNS = [
  "id",
  "name",
  "description",
  "type",
  "subject",
  "body",
  "fromAddress",
  "fromName",
  "replyTo",
  "createdAt",
  "updatedAt",
] as const;

/** The languages of the variants of a row of `templates`. */
const LOCALES = sql<string[]>`array(
  select v.locale from template_variants v
  where v.project_id = templates.project_id and v.template_id = templates.id order by v.locale)`;

/** The stored fields of a template; `design` is JSON. */
export interface TemplateFields extends Row<
  "templates",
  | "name"
  | "description"
  | "type"
  | "subject"
  | "previewText"
  | "body"
  | "fromAddress"
  | "fromName"
  | "replyTo"
> {
  design: string | null;
}

export async function insertTemplate(
  tx: Tx,
  projectId: string,
  id: string,
  fields: TemplateFields,
): Promise<void> {
  await tx
    .insertInto("templates")
    .values({ projectId, id, ...fields })
    .execute();
}

export async function findTemplate(
  database: Database,
  projectId: string,
  id: string,
): Promise<WholeTemplateRow | undefined> {
  return database
    .selectFrom("templates")
    .select([...COLUMNS, "previewText", "design", LOCALES.as("locales")])
    .where("projectId", "=", projectId)
    .where("id", "=", id)
    .executeTakeFirst();
}

/** Locks a template. The row has no languages, because a statement that waits for the lock would return those from before the wait. */
export async function findTemplateForUpdate(
  tx: Tx,
  projectId: string,
  id: string,
): Promise<LockedTemplateRow | undefined> {
  return tx
    .selectFrom("templates")
    .select([...COLUMNS, "previewText", "design"])
    .where("projectId", "=", projectId)
    .where("id", "=", id)
    .forUpdate()
    .executeTakeFirst();
}

/** Returns templates of several projects, for the emails of one batch. */
export async function findTemplatesById(
  database: Database,
  keys: ReadonlyArray<{ projectId: string; id: string }>,
) {
  const { rows } = await sql<{
    projectId: string;
    id: string;
    type: TemplateType;
    subject: string;
    previewText: string | null;
    body: string;
    fromAddress: string | null;
    fromName: string | null;
    replyTo: string | null;
    locales: string[];
  }>`
    select templates.project_id, templates.id, templates.type, templates.subject, templates.preview_text, templates.body,
      templates.from_address, templates.from_name, templates.reply_to, ${LOCALES} as locales
    from unnest(${keys.map((key) => key.projectId)}::uuid[], ${keys.map((key) => key.id)}::uuid[]) as i (project_id, id)
    join templates on templates.project_id = i.project_id and templates.id = i.id`.execute(database);
  return rows;
}

/** Returns the ids of the templates with these names, one or two for each name, because names are not unique. */
export async function findTemplateIdsByName(
  database: Database,
  keys: ReadonlyArray<{ projectId: string; name: string }>,
) {
  const { rows } = await sql<{ projectId: string; name: string; ids: string[] }>`
    select t.project_id, t.name, (array_agg(t.id))[1:2] as ids
    from unnest(${keys.map((key) => key.projectId)}::uuid[], ${keys.map(({ name }) => name)}::text[]) as i (project_id, name)
    join templates t on t.project_id = i.project_id and t.name = i.name
    group by t.project_id, t.name`.execute(database);
  return rows;
}

export interface TemplateFilter {
  search?: string | undefined;
  type?: TemplateType | undefined;
}

/** Returns the filter's SQL conditions. The search is literal: `%`, `_` and `\` have no special meaning. */
function conditionsOf(projectId: string, filter: TemplateFilter) {
  const conditions = [sql`project_id = ${projectId}`];
  if (filter.search !== undefined) conditions.push(sql`name ilike ${containing(filter.search)}`);
  if (filter.type !== undefined) conditions.push(sql`type = ${filter.type}`);
  return conditions;
}

/**
 * Returns a page and one more row, newest first. The page ends after the row at which the bodies reach `maxBytes`.
 * The database knows the length of a body without reading it.
 */
export async function listTemplateRows(
  database: Database,
  projectId: string,
  filter: TemplateFilter,
  page: { limit: number; before: string | null },
): Promise<Array<TemplateRow & RowOfBytes>> {
  const conditions = conditionsOf(projectId, filter);
  if (page.before !== null) conditions.push(sql`id < ${page.before}`);
  const found = sql`
    select id, name, description, type, subject, body, from_address, from_name, reply_to, created_at, updated_at, ${LOCALES} as locales
    from templates where ${sql.join(conditions, sql` and `)}
    order by id desc limit ${page.limit + 1}`;
  const fitting = { order: sql`order by id desc`, size: sql`octet_length(body)` };
  const { rows } = await sql<TemplateRow & RowOfBytes>`${limitToPageBytes(found, fitting)}`.execute(database);
  return rows;
}

export async function countTemplates(
  database: Database,
  projectId: string,
  filter: TemplateFilter,
): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*) as count from templates where ${sql.join(conditionsOf(projectId, filter), sql` and `)}`.execute(
    database,
  );
  return rows[0]?.count ?? 0;
}

export async function updateTemplateRow(
  tx: Tx,
  projectId: string,
  id: string,
  changes: Partial<TemplateFields>,
): Promise<void> {
  await tx
    .updateTable("templates")
    .set({ ...changes, updatedAt: sql`now()` })
    .where("projectId", "=", projectId)
    .where("id", "=", id)
    .execute();
}

export async function deleteTemplateRow(tx: Tx, projectId: string, id: string): Promise<void> {
  await tx.deleteFrom("templates").where("projectId", "=", projectId).where("id", "=", id).execute();
}

/** Returns the keys that contact data of the project ever had. */
export async function listFieldNames(database: Database, projectId: string): Promise<string[]> {
  const rows = await database
    .selectFrom("contact_fields")
    .select("field")
    .where("projectId", "=", projectId)
    .execute();
  return rows.map((row) => row.field);
}

/** Returns the fields of projects that a footer shows. */
export async function findProjectsById(database: Database, ids: readonly string[]) {
  const { rows } = await sql<{
    id: string;
    name: string;
    language: string;
    postalAddress: string | null;
    logoUrl: string | null;
    align: string;
    showsLogo: boolean;
  }>`
    select id, name, language, postal_address, logo_url, brand_footer_align as align, brand_footer_logo as shows_logo
    from projects where id = any(${ids}::uuid[])`.execute(database);
  return rows;
}

/** Returns the name of a template that sends from the domain. An address has a single `@`. */
export async function findTemplateFrom(
  database: Database,
  projectId: string,
  domain: string,
): Promise<string | undefined> {
  const row = await database
    .selectFrom("templates")
    .select("name")
    .where("projectId", "=", projectId)
    .where(sql`split_part(from_address, '@', 2)`, "=", domain)
    .limit(1)
    .executeTakeFirst();
  return row?.name;
}
