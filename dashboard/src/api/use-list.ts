// A list that is read a page at a time, behind a cursor. Before it: pages with a table. After it: call.ts.
import { keepPreviousData, useInfiniteQuery, type QueryKey } from "@tanstack/react-query";

interface ListPage<Row> {
  data: readonly Row[];
  cursor: string | null;
  total?: number;
}

const PAGE_SIZE = "50";

/** What a page is asked with. */
export interface PageQuestion {
  query: { limit: string; cursor?: string };
  signal: AbortSignal;
}

interface ListOptions {
  /** How often it looks again, while only its beginning is shown: what was read on does not move under the reader. */
  lookEveryMs?: number;
}

/** Pages of a list as one: `rows` is undefined while the first loads, and stays what it was while another question is asked. */
export function useList<Row>(
  key: QueryKey,
  read: (question: PageQuestion) => Promise<ListPage<Row>>,
  { lookEveryMs }: ListOptions = {},
) {
  const list = useInfiniteQuery({
    queryKey: key,
    queryFn: ({ pageParam, signal }) =>
      read({ query: { limit: PAGE_SIZE, ...(pageParam === null ? {} : { cursor: pageParam }) }, signal }),
    initialPageParam: null as string | null,
    getNextPageParam: (page) => page.cursor,
    placeholderData: keepPreviousData,
    refetchInterval: ({ state }) =>
      lookEveryMs !== undefined && (state.data?.pages.length ?? 0) <= 1 ? lookEveryMs : false,
  });
  return {
    ...list,
    rows: list.data?.pages.flatMap(({ data }) => data),
    total: list.data?.pages[0]?.total,
  };
}
