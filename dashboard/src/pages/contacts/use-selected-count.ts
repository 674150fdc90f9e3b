// Counts the selected contacts for the dialogs of bulk changes.
import { useQuery } from "@tanstack/react-query";
import { plural, t } from "../../text/t.ts";
import type { ContactsList } from "./contact-list.ts";
import type { Selection } from "./selection.ts";

interface Doing {
  error: unknown;
  isPending: boolean;
  mutate: () => void;
}

/** Counts all matches when a dialog opens, because the list may be old. `count` is null while it is unknown. */
export function useSelectedCount(selection: Selection, list: Pick<ContactsList, "recount">) {
  const counting = useQuery({ ...list.recount, enabled: selection.isAll, gcTime: 0, staleTime: Infinity });
  const isKnown = !selection.isAll || counting.data !== undefined;
  const count = isKnown ? selection.countOf(counting.data ?? 0) : null;
  return {
    count,
    said: count === null ? t("All matching contacts") : plural(count, "{n} contact", "{n} contacts"),
    /** Returns the given action, or counting again while the number is unknown. */
    afterCounting: (doing: Doing): Doing =>
      isKnown
        ? doing
        : { error: counting.error, isPending: counting.isFetching, mutate: () => void counting.refetch() },
  };
}
