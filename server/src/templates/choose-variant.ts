// Chooses the variant of a template for each email of a batch (docs/decisions/0144-variants-of-templates.md).
import { lookUpLocale } from "@postloft/contract/locale-tag.ts";
import type { Database } from "../platform/database/database.ts";
import type { SendableTemplate } from "./templates.ts";
import { findVariantTexts } from "./variant-queries.ts";

/** A template and the language that an email should have, as any value. */
export interface WishedVariant {
  template: SendableTemplate;
  wish: unknown;
}

const keyOf = ({ projectId, id }: { projectId: string; id: string }, locale: string) =>
  `${projectId} ${id} ${locale}`;

/**
 * Returns the templates in order, each with the content of the variant that matches its wish, if there is one. All variants are read with one
 * statement, and equal choices are the same object. If a variant was removed meanwhile, the template keeps its own content.
 */
export async function chooseVariants(
  database: Database,
  wishes: readonly WishedVariant[],
): Promise<SendableTemplate[]> {
  const choices = wishes.map(({ template, wish }) => ({
    template,
    locale: lookUpLocale(template.locales, wish),
  }));
  const wanted = new Map(
    choices.flatMap(({ template, locale }) =>
      locale === null ? [] : [[keyOf(template, locale), { template, locale }] as const],
    ),
  );
  if (wanted.size === 0) return wishes.map(({ template }) => template);
  const rows = await findVariantTexts(
    database,
    [...wanted.values()].map(({ template: { projectId, id }, locale }) => ({
      projectId,
      templateId: id,
      locale,
    })),
  );
  const found = new Map<string, SendableTemplate>();
  for (const { projectId, templateId, locale, ...texts } of rows) {
    const key = keyOf({ projectId, id: templateId }, locale);
    const template = wanted.get(key)?.template;
    if (template !== undefined) found.set(key, { ...template, ...texts, locale });
  }
  return choices.map(({ template, locale }) =>
    locale === null ? template : (found.get(keyOf(template, locale)) ?? template),
  );
}
