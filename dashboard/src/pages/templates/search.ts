// Search parameters of the pages of templates.
import { localeTagOf } from "@postloft/contract/locale-tag.ts";
import type { TemplateType } from "@postloft/contract/templates.ts";

export interface TemplatesSearch {
  search?: string;
  type?: TemplateType;
}

/** Search parameters of the page of one template. */
export interface TemplateSearch {
  /** The language to edit; missing for the template's own content. */
  locale?: string;
}

/** Parses the search parameters and drops invalid ones. */
export function readTemplateSearch({ locale }: Record<string, unknown>): TemplateSearch {
  const tag = typeof locale === "string" ? localeTagOf(locale) : null;
  return tag === null ? {} : { locale: tag };
}

/** Parses the search parameters and drops invalid ones. */
export function readTemplatesSearch({ search, type }: Record<string, unknown>): TemplatesSearch {
  return {
    ...(typeof search === "string" && search !== "" ? { search } : {}),
    ...(type === "TRANSACTIONAL" || type === "MARKETING" || type === "HEADLESS" ? { type } : {}),
  };
}
