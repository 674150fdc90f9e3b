// Suggests the values that contacts have in a field, most frequent first.
import { useQuery } from "@tanstack/react-query";
import { useId, type ReactNode } from "react";
import { api } from "../../../api/endpoints.ts";
import { query } from "../../../api/query.ts";
import { useDebounced } from "../../../ui/use-debounced.ts";
import { useProject } from "../../project-shell.tsx";

const PAUSE_MS = 250;
const SUGGESTIONS = "20";

/**
 * Returns the `list` of an input and its options. Events, emails and segments have no values to suggest.
 * @param isFocused nothing is read before, because the server reads the values of all contacts
 */
export function useValueSuggestions(
  field: string,
  typed: string,
  isFocused: boolean,
): { list: string | undefined; options: ReactNode } {
  const id = useId();
  const project = useProject();
  const search = useDebounced(typed.trim(), PAUSE_MS);
  const isOwn = field.startsWith("data.");
  const values = useQuery({
    ...query(api.contacts.listFieldValues, {
      projectId: project.id,
      params: { field },
      query: { limit: SUGGESTIONS, ...(search === "" ? {} : { search }) },
    }),
    enabled: isOwn && isFocused,
    staleTime: Infinity,
    // Not the values of another field.
    placeholderData: (before) => (before?.field === field ? before : undefined),
    retry: false,
  });
  const shown = (values.data?.values ?? []).filter((value) => String(value) !== typed);
  if (!isOwn || shown.length === 0) return { list: undefined, options: null };
  return {
    list: id,
    options: (
      <datalist id={id}>
        {shown.map((value) => (
          <option key={String(value)} value={String(value)} />
        ))}
      </datalist>
    ),
  };
}
