// Earlier versions of templates, kept on every change and restorable (docs/decisions/0062-blocks.md).
import type * as contract from "@postloft/contract/template-trials.ts";
import { LIMITS } from "@postloft/contract/limits/limits.ts";
import type { z } from "zod";
import type { Database, Tx } from "../platform/database/database.ts";
import { isId, newId } from "../platform/ids.ts";
import { AppError } from "../platform/app-error.ts";
import { shownPreviewText } from "./designs.ts";
import {
  deleteOldTemplateVersions,
  findTemplateVersion,
  insertTemplateVersion,
  listTemplateVersionRows,
  type TemplateVersionRow,
} from "./version-queries.ts";

export type TemplateVersionView = z.output<typeof contract.templateVersion>;
export type WholeTemplateVersionView = z.output<typeof contract.wholeTemplateVersion>;

function present({ savedAt, replacedAt, ...row }: TemplateVersionRow): TemplateVersionView {
  const { id, locale, subject, bytes } = row;
  return { id, locale, subject, bytes, savedAt: savedAt.toISOString(), replacedAt: replacedAt.toISOString() };
}

/** Keeps the current content of a template or a variant before it is replaced. The caller has locked the template's row. */
export async function keepVersion(
  tx: Tx,
  projectId: string,
  templateId: string,
  locale: string | null,
): Promise<void> {
  await insertTemplateVersion(tx, { projectId, templateId, locale }, newId());
  await deleteOldTemplateVersions(tx, projectId, templateId, {
    keep: LIMITS.templateVersions.value,
    bytes: LIMITS.templateVersionBytes.value,
  });
}

/** Returns the earlier versions of a template, newest first, without their bodies. */
export async function listVersions(
  database: Database,
  projectId: string,
  templateId: string,
): Promise<TemplateVersionView[]> {
  return (await listTemplateVersionRows(database, projectId, templateId)).map(present);
}

/** @throws AppError TEMPLATE_NOT_FOUND, also for a version of another template or project */
export async function getVersion(
  database: Database,
  projectId: string,
  templateId: string,
  id: string,
): Promise<WholeTemplateVersionView> {
  const row =
    isId(templateId) && isId(id) ? await findTemplateVersion(database, projectId, templateId, id) : undefined;
  if (row === undefined)
    throw new AppError("TEMPLATE_NOT_FOUND", { message: "Version not found for this template." });
  const { body, design } = row;
  return {
    ...present(row),
    previewText: shownPreviewText(row),
    body,
    design: design as Record<string, unknown> | null,
  };
}
