// Reads a list page by page with a cursor.
import { keepPreviousData, useInfiniteQuery, useQuery, type QueryKey } from "@tanstack/react-query";
import { useMemo } from "react";
import { pendingDeletionsQuery } from "./going.ts";

interface ListPage<Row> {
  data: readonly Row[];
  cursor: string | null;
  total?: number;
}

export const PAGE_SIZE = 50;

export interface PageQuestion {
  query: { limit: string; cursor?: string };
  signal: AbortSignal;
}

interface ListOptions {
  /** Poll interval. Polls only while a single page is loaded, so that longer lists do not move under the reader. */
  pollEveryMs?: number;
  /** Defaults to true. */
  enabled?: boolean;
}

/** Combines the pages of a list. `rows` is undefined during the first load and keeps the previous rows while the query changes. */
export function useList<Row>(
  key: QueryKey,
  read: (question: PageQuestion) => Promise<ListPage<Row>>,
  { pollEveryMs, enabled = true }: ListOptions = {},
) {
  const list = useInfiniteQuery({
    queryKey: key,
    enabled,
    queryFn: ({ pageParam, signal }) =>
      read({
        query: { limit: String(PAGE_SIZE), ...(pageParam === null ? {} : { cursor: pageParam }) },
        signal,
      }),
    initialPageParam: null as string | null,
    getNextPageParam: (page) => page.cursor,
    placeholderData: keepPreviousData,
    refetchInterval: ({ state }) =>
      pollEveryMs !== undefined && (state.data?.pages.length ?? 0) <= 1 ? pollEveryMs : false,
  });
  const { data: going } = useQuery(pendingDeletionsQuery);
  // Keep the array's identity while nothing changes, so that components do not render again.
  const all = useMemo(() => list.data?.pages.flatMap(({ data }) => data), [list.data]);
  const rows = useMemo(
    () => all?.filter((row) => !going.has(String((row as { id?: unknown }).id))),
    [all, going],
  );
  const total = list.data?.pages[0]?.total;
  return {
    ...list,
    rows,
    total: total === undefined ? undefined : total - ((all?.length ?? 0) - (rows?.length ?? 0)),
  };
}
