// The variables that a mail can have: those of the project's contacts, and those that everybody has.
// Before it: mail-text.tsx, html-editor.tsx. After it: the API's contact fields.
import { useQuery } from "@tanstack/react-query";
import { t } from "../../text/t.ts";
import { coverageQuery, fieldsQuery } from "../contacts/field-queries.ts";

/** A variable, and the share of contacts that have a value for it; null where everybody has one, undefined while it is counted. */
export interface OfferedVariable {
  name: string;
  coverage: number | null | undefined;
}

/** What everybody has, whatever is stored of them. */
const BUILT_IN = ["email", "unsubscribeUrl", "manageUrl", "subscribeUrl"];

export function useVariables(projectId: string): OfferedVariable[] {
  const fields = useQuery(fieldsQuery(projectId));
  const coverage = useQuery(coverageQuery(projectId));
  const own = (fields.data ?? []).map(({ field }) => ({
    name: field.replace(/^data\./, ""),
    coverage: coverage.data?.get(field),
  }));
  return [...own, ...BUILT_IN.map((name) => ({ name, coverage: null }))];
}

/** A variable as it is put into a text: with another word for whoever has no value. */
export function withFallback({ name, coverage }: OfferedVariable): string {
  return coverage === null || coverage === 1 ? name : `${name} ?? "${t("friend")}"`;
}
