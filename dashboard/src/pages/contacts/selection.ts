// Which contacts are chosen: some by their ids, or all that match the filter but a few.
import { useCallback, useEffect, useState } from "react";
import type { z } from "zod";
import type { bulkDelete } from "@postloft/contract/contact-bulk.ts";
import type { ContactsSearch } from "./search.ts";

export interface Selection {
  count: number;
  total: number;
  /** Whether all that match are chosen, but those that were ticked off. */
  isAll: boolean;
  /** How many are chosen where so many match. */
  countOf: (total: number) => number;
  has: (id: string) => boolean;
  toggle: (id: string) => void;
  toggleShown: () => void;
  isShownChosen: boolean;
  /** Whether there are more that match than are shown and chosen. */
  canTakeAll: boolean;
  takeAll: () => void;
  clear: () => void;
  /** Whom a bulk change is for, as the API takes it. */
  body: () => z.input<(typeof bulkDelete)["body"]>;
}

/** Another filter means other people: what was chosen before is not chosen any more. */
export function useSelection(
  { search, status, segment, filter }: ContactsSearch,
  shown: readonly string[],
  total: number,
): Selection {
  const [ids, setIds] = useState<ReadonlySet<string>>(new Set());
  /** With all: those that are left out. */
  const [isAll, setAll] = useState(false);
  const clear = () => {
    setIds((old) => (old.size === 0 ? old : new Set()));
    setAll(false);
  };
  useEffect(clear, [search, status, segment, JSON.stringify(filter)]);
  // These two stay what they are until somebody ticks: else every row would be drawn again with each press.
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
