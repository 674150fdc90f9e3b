// SQL statements on `template_versions`.
import { sql } from "kysely";
import type { Database, Tx } from "../platform/database/database.ts";
import type { Row } from "../platform/database/row.ts";

export interface TemplateVersionRow extends Row<
  "template_versions",
  "id" | "locale" | "subject" | "savedAt" | "replacedAt"
> {
  bytes: number;
}
export interface WholeTemplateVersionRow
  extends TemplateVersionRow, Row<"template_versions", "previewText" | "body"> {
  design: unknown;
}

/** Stores the current content of a template, or of one of its variants, as a version. */
export async function insertTemplateVersion(
  tx: Tx,
  { projectId, templateId, locale }: { projectId: string; templateId: string; locale: string | null },
  id: string,
): Promise<void> {
  const current =
    locale === null
      ? sql`select project_id, id, null, subject, preview_text, body, design, updated_at from templates
          where project_id = ${projectId} and id = ${templateId}`
      : sql`select project_id, template_id, locale, subject, preview_text, body, design, updated_at from template_variants
          where project_id = ${projectId} and template_id = ${templateId} and locale = ${locale}`;
  await sql`
    insert into template_versions (project_id, template_id, id, locale, subject, preview_text, body, design, saved_at)
    select c.project_id, c.template_id, ${id}::uuid, c.locale, c.subject, c.preview_text, c.body, c.design, c.saved_at
    from (${current}) as c (project_id, template_id, locale, subject, preview_text, body, design, saved_at)`.execute(
    tx,
  );
}

/**
 * Deletes the oldest versions beyond `keep` and beyond `bytes` in each language, but never the newest one. Those of removed languages count
 * together, so that adding and removing languages can't keep more.
 */
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
        select o.id, row_number() over newest_first as place, sum(octet_length(o.body)) over newest_first as bytes
        from template_versions o
        left join template_variants t on t.project_id = o.project_id and t.template_id = o.template_id and t.locale = o.locale
        where o.project_id = ${projectId} and o.template_id = ${templateId}
        window newest_first as (partition by o.locale is null, t.locale order by o.id desc)
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
    select id, locale, subject, octet_length(body) as bytes, saved_at, replaced_at from template_versions
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
    select id, locale, subject, octet_length(body) as bytes, saved_at, replaced_at, preview_text, body, design
    from template_versions
    where project_id = ${projectId} and template_id = ${templateId} and id = ${id}`.execute(database);
  return rows[0];
}
