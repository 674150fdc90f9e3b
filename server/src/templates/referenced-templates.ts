// Finds the templates that calls name by id or by name.
import { withValues } from "@postloft/contract/translation.ts";
import { AppError } from "../platform/app-error.ts";
import type { Database } from "../platform/database/database.ts";
import { isId } from "../platform/ids.ts";
import { findTemplateIdsByName } from "./queries.ts";
import { readTemplates, type SendableTemplate } from "./templates.ts";

/** A template by its id or, if the text is no id, by its name. */
export interface TemplateReference {
  projectId: string;
  reference: string;
}

/**
 * Returns the templates of a batch of calls by `"<project> <reference>"`. Unknown templates and those of other projects are missing. A name
 * of several templates gives an error, because either could be meant.
 */
export async function readReferencedTemplates(
  database: Database,
  references: readonly TemplateReference[],
): Promise<Map<string, SendableTemplate | AppError>> {
  const names = references.filter(({ reference }) => !isId(reference));
  const named = await readIdsByName(database, names);
  const idOf = ({ projectId, reference }: TemplateReference) =>
    isId(reference) ? [reference.toLowerCase()] : (named.get(`${projectId} ${reference}`) ?? []);
  const templates = await readTemplates(
    database,
    references.flatMap((one) => idOf(one).map((id) => ({ projectId: one.projectId, id }))),
  );
  const found = new Map<string, SendableTemplate | AppError>();
  for (const one of references) {
    const [id, other] = idOf(one);
    const template = other === undefined ? templates.get(`${one.projectId} ${id}`) : severalOf(one.reference);
    if (template !== undefined) found.set(`${one.projectId} ${one.reference}`, template);
  }
  return found;
}

async function readIdsByName(database: Database, references: readonly TemplateReference[]) {
  if (references.length === 0) return new Map<string, string[]>();
  const keys = new Map(references.map((one) => [`${one.projectId} ${one.reference}`, one]));
  const wanted = [...keys.values()].map(({ projectId, reference }) => ({ projectId, name: reference }));
  const rows = await findTemplateIdsByName(database, wanted);
  return new Map(rows.map(({ projectId, name, ids }) => [`${projectId} ${name}`, ids]));
}

const severalOf = (name: string) =>
  new AppError(
    "CONFLICT",
    withValues("Several templates are named “{name}”. Use the id, or rename the others.", { name }),
  );
