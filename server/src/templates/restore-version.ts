// Restores an earlier version of a template or of one of its languages.
import type { Database, Tx } from "../platform/database/database.ts";
import {
  checkTemplateChange,
  getTemplate,
  updateTemplate,
  type TemplateDependencies,
  type WholeTemplateView,
} from "./templates.ts";
import { checkVariant, saveVariant } from "./variants.ts";
import { getVersion } from "./versions.ts";

/**
 * Reads and checks a version, and returns the function that restores it. A removed language comes back.
 * @throws AppError TEMPLATE_NOT_FOUND; VALIDATION_ERROR if the limits no longer allow the content
 */
export async function prepareRestore(
  database: Database,
  deps: TemplateDependencies,
  projectId: string,
  { id, versionId }: { id: string; versionId: string },
): Promise<(tx: Tx) => Promise<WholeTemplateView>> {
  const { locale, subject, previewText, body, design } = await getVersion(database, projectId, id, versionId);
  const content = { subject, previewText, body, design };
  if (locale === null) {
    const change = await checkTemplateChange(deps, projectId, content);
    return (tx) => updateTemplate(tx, deps, projectId, id, change);
  }
  const checked = await checkVariant(deps.renderer, projectId, content);
  return async (tx) => {
    await saveVariant(tx, deps.renderer, projectId, { id, locale }, checked);
    return getTemplate(tx, projectId, id);
  };
}
