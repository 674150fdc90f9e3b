// The variants of templates: their content in other languages (docs/decisions/0144-variants-of-templates.md).
import { localeTagOf } from "@postloft/contract/locale-tag.ts";
import { LIMITS } from "@postloft/contract/limits/limits.ts";
import type * as contract from "@postloft/contract/template-variants.ts";
import { withValues } from "@postloft/contract/translation.ts";
import type { z } from "zod";
import { asChecked, type Checked } from "../platform/checked.ts";
import type { Database, Tx } from "../platform/database/database.ts";
import { isId } from "../platform/ids.ts";
import { AppError, invalidField, requireUnchanged } from "../platform/app-error.ts";
import type { AskedRenderer } from "../rendering/asked-renderer.ts";
import { checkContent } from "./check-content.ts";
import { shownPreviewText, storedPreviewText } from "./designs.ts";
import { findTemplate, findTemplateForUpdate, type LockedTemplateRow } from "./queries.ts";
import {
  deleteVariantRow,
  findVariant,
  listLocales,
  upsertVariant,
  type VariantRow,
} from "./variant-queries.ts";
import { contentDiffers } from "./rules.ts";
import { keepVersion } from "./versions.ts";

export type VariantView = z.output<typeof contract.templateVariant>;

/** The content of a variant as written by a caller. It replaces the whole variant. */
export interface VariantContent {
  subject: string;
  previewText?: string | null | undefined;
  body: string;
  design?: Readonly<Record<string, unknown>> | null | undefined;
  /** The content is stored only if the variant was last changed at that time. */
  expectedUpdatedAt?: string | undefined;
}

/** A template and a language, both as written by a caller. */
export interface VariantPlace {
  id: string;
  locale: string;
}

function present({ createdAt, updatedAt, design, ...row }: VariantRow): VariantView {
  return {
    ...row,
    previewText: shownPreviewText({ design, previewText: row.previewText }),
    design: design as VariantView["design"],
    createdAt: createdAt.toISOString(),
    updatedAt: updatedAt.toISOString(),
  };
}

const contentOf = ({ subject, previewText, body }: Omit<VariantContent, "design">) => ({
  subject,
  previewText: previewText ?? null,
  html: body,
  text: null,
});

const notFound = (locale: string) =>
  new AppError("TEMPLATE_NOT_FOUND", withValues("The template has no variant for {locale}.", { locale }));

/** @throws AppError VALIDATION_ERROR for a malformed tag; TEMPLATE_NOT_FOUND, also without this variant or for another project */
export async function getVariant(
  database: Database,
  projectId: string,
  place: VariantPlace,
): Promise<VariantView> {
  const template = isId(place.id) ? await findTemplate(database, projectId, place.id) : undefined;
  if (template === undefined) throw new AppError("TEMPLATE_NOT_FOUND");
  const locale = requireTag(place.locale);
  const row = await findVariant(database, { projectId, templateId: template.id, locale });
  if (row === undefined) throw notFound(locale);
  return present(row);
}

/** @throws AppError VALIDATION_ERROR with line and column */
export async function checkVariant(
  renderer: AskedRenderer,
  projectId: string,
  content: VariantContent,
): Promise<Checked<VariantContent>> {
  await checkContent(renderer, projectId, contentOf(content), false);
  return asChecked(content);
}

/**
 * Creates or replaces a variant. The replaced content becomes a version. Locks the template, so that its type can't change meanwhile.
 * @throws AppError VALIDATION_ERROR for a malformed tag, for too many languages, and for a footer that doesn't fit; TEMPLATE_NOT_FOUND;
 *   CHANGED_MEANWHILE
 */
export async function saveVariant(
  tx: Tx,
  renderer: AskedRenderer,
  projectId: string,
  place: VariantPlace,
  content: Checked<VariantContent>,
): Promise<VariantView> {
  const template = await lockTemplate(tx, projectId, place.id);
  const key = { projectId, templateId: template.id, locale: requireTag(place.locale) };
  const current = await findVariant(tx, key);
  if (current === undefined) {
    if (content.expectedUpdatedAt !== undefined)
      throw new AppError("CHANGED_MEANWHILE", { message: "This language was removed after you read it." });
    requireRoom(await listLocales(tx, projectId, template.id));
  } else requireUnchanged(current, content.expectedUpdatedAt);
  if (template.type === "MARKETING") await checkContent(renderer, projectId, contentOf(content), true);
  const { subject, body, design = null } = content;
  const { previewText = null } = storedPreviewText(content);
  if (current !== undefined && contentDiffers(current, { subject, previewText, body }))
    await keepVersion(tx, projectId, key.templateId, key.locale);
  const stored = { subject, previewText, body, design: design === null ? null : JSON.stringify(design) };
  await upsertVariant(tx, key, stored);
  return getVariant(tx, projectId, place);
}

/**
 * Deletes a variant and keeps its content as a version.
 * @throws AppError VALIDATION_ERROR for a malformed tag; TEMPLATE_NOT_FOUND
 */
export async function deleteVariant(tx: Tx, projectId: string, place: VariantPlace): Promise<void> {
  const { id: templateId } = await lockTemplate(tx, projectId, place.id);
  const locale = requireTag(place.locale);
  const key = { projectId, templateId, locale };
  if ((await findVariant(tx, key)) === undefined) throw notFound(locale);
  await keepVersion(tx, projectId, templateId, locale);
  await deleteVariantRow(tx, key);
}

/**
 * Checks all variants of a template with a footer, one at a time because each may be large.
 * @throws AppError VALIDATION_ERROR that names the language
 */
export async function checkVariants(
  database: Database,
  renderer: AskedRenderer,
  projectId: string,
  templateId: string,
): Promise<void> {
  for (const locale of await listLocales(database, projectId, templateId)) {
    const variant = await findVariant(database, { projectId, templateId, locale });
    if (variant === undefined) continue;
    await checkContent(renderer, projectId, contentOf(variant), true).catch((error: unknown) => {
      if (!(error instanceof AppError) || error.fields === null) throw error;
      const fields = error.fields.map((one) => ({ ...one, field: `variants.${locale}.${one.field}` }));
      throw new AppError(error.code, { fields });
    });
  }
}

/** @throws AppError TEMPLATE_NOT_FOUND */
async function lockTemplate(tx: Tx, projectId: string, id: string): Promise<LockedTemplateRow> {
  const template = isId(id) ? await findTemplateForUpdate(tx, projectId, id) : undefined;
  if (template === undefined) throw new AppError("TEMPLATE_NOT_FOUND");
  return template;
}

/** Returns the canonical form of a tag. @throws AppError VALIDATION_ERROR on `locale` */
function requireTag(text: string): string {
  const tag = localeTagOf(text);
  if (tag === null)
    throw invalidField("locale", "invalid_string", "Must be a language tag, such as `de` or `pt-BR`.");
  return tag;
}

function requireRoom(locales: readonly string[]): void {
  const most = LIMITS.templateVariants.value;
  if (locales.length >= most)
    throw invalidField(
      "locale",
      "too_big",
      withValues("A template can have at most {most} languages.", { most }),
    );
}
