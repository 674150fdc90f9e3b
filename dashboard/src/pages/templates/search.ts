// What the URL of the templates says.
import type { TemplateType } from "@postloft/contract/templates.ts";

export interface TemplatesSearch {
  search?: string;
  type?: TemplateType;
}

/** What of the URL is understood; the rest is left out. */
export function readTemplatesSearch({ search, type }: Record<string, unknown>): TemplatesSearch {
  return {
    ...(typeof search === "string" && search !== "" ? { search } : {}),
    ...(type === "TRANSACTIONAL" || type === "MARKETING" || type === "HEADLESS" ? { type } : {}),
  };
}
