// Reads a list page by page with a cursor.
import { keepPreviousData, useInfiniteQuery, useQuery, type QueryKey } from "@tanstack/react-query";
import { useMemo } from "react";
import type { Endpoint } from "@postloft/contract/endpoint.ts";
import type { Address, CallArguments, Input, ResponseOf } from "./address.ts";
import { call } from "./call.ts";
import { pendingDeletionsQuery } from "./going.ts";
import { endpointKey } from "./query-key.ts";

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
  /** A value that changes with the response, so that a change refetches it. */
  version?: string;
}

/** The rows of an endpoint that returns pages. */
type RowOf<E extends Endpoint> = Extract<ResponseOf<E>, ListPage<unknown>>["data"][number];

/** Reads an endpoint with `limit` and `cursor` page by page. */
export function useList<E extends Endpoint>(address: Address<E>, input: Input<E>, options?: ListOptions) {
  const read = ({ query, signal }: PageQuestion) => {
    const asked = { ...input, query: { ...(input.query as object | undefined), ...query }, signal };
    // The contract's pages have this shape.
    return call(address, ...([asked] as CallArguments<E>)) as Promise<unknown> as Promise<ListPage<RowOf<E>>>;
  };
  const key = endpointKey(address, input);
  return usePages(options?.version === undefined ? key : [...key, options.version], read, options);
}

/**
 * Combines the pages of a list. `rows` is undefined during the first load and keeps the previous rows while the query changes.
 * @param key without the page
 */
export function usePages<Row>(
  key: QueryKey,
  read: (question: PageQuestion) => Promise<ListPage<Row>>,
  { pollEveryMs, enabled = true }: ListOptions = {},
) {
  const list = useInfiniteQuery({
    // Pages have another shape than a single response, so they have keys of their own.
    queryKey: [...key, "pages"],
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
