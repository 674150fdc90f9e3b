// Lists the variables available in an email: built-in ones and the fields of the project's contacts.
import { useQuery } from "@tanstack/react-query";
import { coverageQuery, fieldsQuery } from "../contacts/field-queries.ts";
import { useProject } from "../project-shell.tsx";
import type { OfferedVariable } from "./write-variable.ts";

/** Variables that every contact has. */
const BUILT_IN = ["email", "unsubscribeUrl", "manageUrl", "subscribeUrl"];

/** Customers read the fallback, so its language is the project's, not the user's. Other languages have none. */
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
