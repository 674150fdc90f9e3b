// Search parameters of the templates page.
import type { TemplateType } from "@postloft/contract/templates.ts";

export interface TemplatesSearch {
  search?: string;
  type?: TemplateType;
}

/** Parses the search parameters and drops invalid ones. */
export function readTemplatesSearch({ search, type }: Record<string, unknown>): TemplatesSearch {
  return {
    ...(typeof search === "string" && search !== "" ? { search } : {}),
    ...(type === "TRANSACTIONAL" || type === "MARKETING" || type === "HEADLESS" ? { type } : {}),
  };
}
