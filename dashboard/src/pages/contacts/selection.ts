// Manages the selected contacts: some by id, or all that match except a few.
import { useCallback, useEffect, useState } from "react";
import type { z } from "zod";
import type { bulkDelete } from "@postloft/contract/contact-bulk.ts";
import type { ContactsSearch } from "./search.ts";

export interface Selection {
  count: number;
  total: number;
  /** Whether all matches are selected, except those unticked. */
  isAll: boolean;
  /** Returns the number of selected contacts for a given total. */
  countOf: (total: number) => number;
  has: (id: string) => boolean;
  toggle: (id: string) => void;
  /** Whether contacts are shown that can be selected. */
  hasShown: boolean;
  toggleShown: () => void;
  isShownChosen: boolean;
  /** Whether more contacts match than are shown and selected. */
  canTakeAll: boolean;
  takeAll: () => void;
  clear: () => void;
  /** Returns the selection in the API's format. */
  body: () => z.input<(typeof bulkDelete)["body"]>;
}

/** Returns the selection, which is cleared when the filter changes. */
export function useSelection(
  { search, status, segment, filter }: ContactsSearch,
  shown: readonly string[],
  total: number,
): Selection {
  const [ids, setIds] = useState<ReadonlySet<string>>(new Set());
  /** With `isAll`, `ids` holds the excluded contacts. */
  const [isAll, setAll] = useState(false);
  const clear = () => {
    setIds((old) => (old.size === 0 ? old : new Set()));
    setAll(false);
  };
  useEffect(clear, [search, status, segment, JSON.stringify(filter)]);
  // Memoized until the selection changes, so that a click does not render every row again.
  const has = useCallback((id: string) => ids.has(id) !== isAll, [ids, isAll]);
  const toggle = useCallback(
    (id: string) =>
      setIds((old) => new Set(old.has(id) ? [...old].filter((one) => one !== id) : [...old, id])),
    [],
  );
  const isShownChosen = shown.length > 0 && shown.every(has);
  const countOf = (matching: number) => (isAll ? Math.max(0, matching - ids.size) : ids.size);
  return {
    count: countOf(total),
    total,
    isAll,
    countOf,
    has,
    toggle,
    hasShown: shown.length > 0,
    toggleShown: () => {
      if (isAll || isShownChosen) clear();
      else setIds((old) => new Set([...old, ...shown]));
    },
    isShownChosen,
    canTakeAll: !isAll && isShownChosen && total > ids.size,
    takeAll: () => {
      setIds(new Set());
      setAll(true);
    },
    clear,
    body: () => {
      if (!isAll) return { mode: "ids", contactIds: [...ids] };
      const conditions = {
        ...(search === undefined ? {} : { search }),
        ...(segment === undefined ? {} : { segmentId: segment }),
        ...(filter === undefined ? {} : { filters: filter }),
        ...(status === undefined ? {} : { subscribed: status === "subscribed" }),
      };
      const isEveryone = Object.keys(conditions).length === 0;
      return { mode: "query", filter: isEveryone ? { all: true } : conditions, excludeIds: [...ids] };
    },
  };
}
