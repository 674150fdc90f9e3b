// SQL statements on `template_versions`.
import { sql } from "kysely";
import type { Database, Tx } from "../platform/database/database.ts";
import type { Row } from "../platform/database/row.ts";

export interface TemplateVersionRow extends Row<
  "template_versions",
  "id" | "subject" | "savedAt" | "replacedAt"
> {
  bytes: number;
}
export interface WholeTemplateVersionRow
  extends TemplateVersionRow, Row<"template_versions", "previewText" | "body"> {
  design: unknown;
}

/** Stores the current content of a template as a version. */
export async function insertTemplateVersion(
  tx: Tx,
  projectId: string,
  templateId: string,
  id: string,
): Promise<void> {
  await sql`
    insert into template_versions (project_id, template_id, id, subject, preview_text, body, design, saved_at)
    select project_id, id, ${id}, subject, preview_text, body, design, updated_at from templates
    where project_id = ${projectId} and id = ${templateId}`.execute(tx);
}

/** Deletes the oldest versions beyond `keep` and beyond `bytes`, but never the newest one. */
export async function deleteOldTemplateVersions(
  tx: Tx,
  projectId: string,
  templateId: string,
  { keep, bytes }: { keep: number; bytes: number },
): Promise<void> {
  await sql`
    delete from template_versions
    where project_id = ${projectId} and template_id = ${templateId} and id in (
      select id from (
        select id, row_number() over newest_first as place, sum(octet_length(body)) over newest_first as bytes
        from template_versions where project_id = ${projectId} and template_id = ${templateId}
        window newest_first as (order by id desc)
      ) as v where place > ${keep} or (place > 1 and bytes > ${bytes})
    )`.execute(tx);
}

/** Returns the versions, newest first, without their bodies. */
export async function listTemplateVersionRows(
  database: Database,
  projectId: string,
  templateId: string,
): Promise<TemplateVersionRow[]> {
  const { rows } = await sql<TemplateVersionRow>`
    select id, subject, octet_length(body) as bytes, saved_at, replaced_at from template_versions
    where project_id = ${projectId} and template_id = ${templateId} order by id desc`.execute(database);
  return rows;
}

export async function findTemplateVersion(
  database: Database,
  projectId: string,
  templateId: string,
  id: string,
): Promise<WholeTemplateVersionRow | undefined> {
  const { rows } = await sql<WholeTemplateVersionRow>`
    select id, subject, octet_length(body) as bytes, saved_at, replaced_at, preview_text, body, design from template_versions
    where project_id = ${projectId} and template_id = ${templateId} and id = ${id}`.execute(database);
  return rows[0];
}
