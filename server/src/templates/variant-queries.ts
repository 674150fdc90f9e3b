// SQL statements on `template_variants`.
import { sql } from "kysely";
import type { Database, Tx } from "../platform/database/database.ts";
import type { Row } from "../platform/database/row.ts";

export type VariantRow = Row<
  "template_variants",
  "locale" | "subject" | "previewText" | "body" | "design" | "createdAt" | "updatedAt"
>;

/** Names a variant. */
export interface VariantKey {
  projectId: string;
  templateId: string;
  locale: string;
}

const COLUMNS = ["locale", "subject", "previewText", "body", "design", "createdAt", "updatedAt"] as const;

export async function findVariant(database: Database, key: VariantKey): Promise<VariantRow | undefined> {
  return database
    .selectFrom("template_variants")
    .select(COLUMNS)
    .where("projectId", "=", key.projectId)
    .where("templateId", "=", key.templateId)
    .where("locale", "=", key.locale)
    .executeTakeFirst();
}

export async function listLocales(
  database: Database,
  projectId: string,
  templateId: string,
): Promise<string[]> {
  const rows = await database
    .selectFrom("template_variants")
    .select("locale")
    .where("projectId", "=", projectId)
    .where("templateId", "=", templateId)
    .orderBy("locale")
    .execute();
  return rows.map(({ locale }) => locale);
}

/** Returns the texts of variants of several projects, for the emails of one batch. */
export async function findVariantTexts(database: Database, keys: readonly VariantKey[]) {
  const { rows } = await sql<
    Row<"template_variants", "projectId" | "templateId" | "locale" | "subject" | "previewText" | "body">
  >`
    select v.project_id, v.template_id, v.locale, v.subject, v.preview_text, v.body
    from unnest(
      ${keys.map((key) => key.projectId)}::uuid[],
      ${keys.map((key) => key.templateId)}::uuid[],
      ${keys.map((key) => key.locale)}::text[]
    ) as i (project_id, template_id, locale)
    join template_variants v on v.project_id = i.project_id and v.template_id = i.template_id and v.locale = i.locale`.execute(
    database,
  );
  return rows;
}

/** Inserts a variant, or replaces its content. `design` is JSON. */
export async function upsertVariant(
  tx: Tx,
  { projectId, templateId, locale }: VariantKey,
  content: { subject: string; previewText: string | null; body: string; design: string | null },
): Promise<void> {
  const { subject, previewText, body, design } = content;
  await sql`
    insert into template_variants (project_id, template_id, locale, subject, preview_text, body, design)
    values (${projectId}, ${templateId}, ${locale}, ${subject}, ${previewText}, ${body}, ${design}::jsonb)
    on conflict (project_id, template_id, locale) do update
      set subject = excluded.subject, preview_text = excluded.preview_text, body = excluded.body, design = excluded.design, updated_at = excluded.updated_at`.execute(
    tx,
  );
}

/** Copies all variants of a template to another template. */
export async function copyVariants(
  tx: Tx,
  projectId: string,
  { fromId, toId }: { fromId: string; toId: string },
): Promise<void> {
  await sql`
    insert into template_variants (project_id, template_id, locale, subject, preview_text, body, design)
    select project_id, ${toId}::uuid, locale, subject, preview_text, body, design from template_variants
    where project_id = ${projectId} and template_id = ${fromId}`.execute(tx);
}

export async function deleteVariantRow(tx: Tx, { projectId, templateId, locale }: VariantKey): Promise<void> {
  await tx
    .deleteFrom("template_variants")
    .where("projectId", "=", projectId)
    .where("templateId", "=", templateId)
    .where("locale", "=", locale)
    .execute();
}
