// The variables that a mail can have: those of the project's contacts, and those that everybody has.
// Before it: mail-text.tsx, html-editor.tsx. After it: the API's contact fields.
import { useQuery } from "@tanstack/react-query";
import { writtenName } from "@postloft/contract/merge-tags/variables.ts";
import { coverageQuery, fieldsQuery } from "../contacts/field-queries.ts";
import { useProject } from "../project-shell.tsx";

/** A variable, and the share of contacts that have a value for it; null where everybody has one, undefined while it is counted. */
export interface OfferedVariable {
  name: string;
  coverage: number | null | undefined;
  /** What stands in its place for whoever has no value. */
  fallback: string;
}

/** What everybody has, whatever is stored of them. */
const BUILT_IN = ["email", "unsubscribeUrl", "manageUrl", "subscribeUrl"];

/** It goes out to customers: in the language of the project's mail, not in that of whoever writes it; in others nothing stands there. */
const FALLBACKS: Readonly<Record<string, string>> = { en: "friend", de: "Freund", fr: "ami", es: "amigo" };

export function useVariables(projectId: string): OfferedVariable[] {
  const fields = useQuery(fieldsQuery(projectId));
  const coverage = useQuery(coverageQuery(projectId));
  const { language } = useProject();
  const fallback = FALLBACKS[language.slice(0, 2)] ?? "";
  const own = (fields.data ?? []).map(({ field }) => ({
    name: field.replace(/^data\./, ""),
    coverage: coverage.data?.get(field),
    fallback,
  }));
  return [...own, ...BUILT_IN.map((name) => ({ name, coverage: null, fallback: "" }))];
}

/** Returns a variable as it is put into a text: in brackets if its name has spaces, with another word for contacts without a value. */
export function withFallback({ name, coverage, fallback }: OfferedVariable): string {
  const written = writtenName(name);
  return coverage === null || coverage === 1 ? written : `${written} ?? "${fallback}"`;
}
