// The variables that a mail can have: those of the project's contacts, and those that everybody has.
// Before it: mail-text.tsx, html-editor.tsx. After it: the API's contact fields.
import { useQuery } from "@tanstack/react-query";
import { call } from "../../api/call.ts";
import { listContactFields } from "../../api/endpoints.ts";
import { t } from "../../text/t.ts";

/** A variable, and the share of contacts that have a value for it; null where everybody has one. */
export interface OfferedVariable {
  name: string;
  coverage: number | null;
}

/** What everybody has, whatever is stored of them. */
const BUILT_IN = ["email", "unsubscribeUrl", "manageUrl", "subscribeUrl"];

export function useVariables(projectId: string): OfferedVariable[] {
  const fields = useQuery({
    queryKey: ["project", projectId, "contact-fields"],
    queryFn: ({ signal }) => call(listContactFields, { projectId, signal }),
  });
  const own = (fields.data?.fields ?? [])
    .filter(({ isCustom }) => isCustom)
    .map(({ field, coverage }) => ({ name: field.replace(/^data\./, ""), coverage }));
  return [...own, ...BUILT_IN.map((name) => ({ name, coverage: null }))];
}

/** A variable as it is put into a text: with another word for whoever has no value. */
export function withFallback({ name, coverage }: OfferedVariable): string {
  return coverage === null || coverage === 1 ? name : `${name} ?? "${t("friend")}"`;
}
