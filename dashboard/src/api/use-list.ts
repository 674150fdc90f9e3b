// A list that is read a page at a time, behind a cursor.
import { keepPreviousData, useInfiniteQuery, useQuery, type QueryKey } from "@tanstack/react-query";
import { useMemo } from "react";
import { goingQuery } from "./going.ts";

interface ListPage<Row> {
  data: readonly Row[];
  cursor: string | null;
  total?: number;
}

export const PAGE_SIZE = 50;

/** What a page is asked with. */
export interface PageQuestion {
  query: { limit: string; cursor?: string };
  signal: AbortSignal;
}

interface ListOptions {
  /** How often it looks again, while only its beginning is shown: what was read on does not move under the reader. */
  lookEveryMs?: number;
  /** Whether there is a question yet; there is unless said otherwise. */
  enabled?: boolean;
}

/** Pages of a list as one: `rows` is undefined while the first loads, and stays what it was while another question is asked. */
export function useList<Row>(
  key: QueryKey,
  read: (question: PageQuestion) => Promise<ListPage<Row>>,
  { lookEveryMs, enabled = true }: ListOptions = {},
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
      lookEveryMs !== undefined && (state.data?.pages.length ?? 0) <= 1 ? lookEveryMs : false,
  });
  const { data: going } = useQuery(goingQuery);
  // The same array while nothing changes: whoever shows it has nothing to do.
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
