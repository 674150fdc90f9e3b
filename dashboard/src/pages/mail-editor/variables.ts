// The variables that a mail can have: those of the project's contacts, and those that everybody has.
import { useQuery } from "@tanstack/react-query";
import { coverageQuery, fieldsQuery } from "../contacts/field-queries.ts";
import { useProject } from "../project-shell.tsx";
import type { OfferedVariable } from "./write-variable.ts";

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
