// Loads the contacts for the URL's filters page by page, and the total separately because counting may take longer.
import { useQuery, type QueryClient } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { call } from "../../api/call.ts";
import { api } from "../../api/endpoints.ts";
import { PAGE_SIZE, usePages, type PageQuestion } from "../../api/use-list.ts";
import { endpointKey } from "../../api/query-key.ts";
import { viewQueryOf, type ContactsSearch } from "./search.ts";

/** Returns the part of the search that filters and sorts. */
function questionOf(search: ContactsSearch) {
  const { fields: _fields, ...question } = viewQueryOf(search);
  return question;
}

/** Returns the search as query parameters. */
export function queryOf(search: ContactsSearch) {
  const { subscribed, filters: _filters, ...rest } = questionOf(search);
  const said = subscribed === true ? ("true" as const) : ("false" as const);
  return { ...rest, ...(subscribed === undefined ? {} : { subscribed: said }) };
}

/** Returns the key of a search, which `readPage` reads. */
function keyOf(projectId: string, search: ContactsSearch) {
  return search.filter === undefined
    ? endpointKey(api.contacts.list, { projectId, query: queryOf(search) })
    : endpointKey(api.contacts.search, { projectId, body: questionOf(search) });
}

/** Refetches the lists of contacts, but not the slow counts of fields below the same path. */
export async function invalidateContactLists(queries: QueryClient, projectId: string): Promise<void> {
  await Promise.all(
    [api.contacts.list, api.contacts.search].map((list) =>
      queries.invalidateQueries({ queryKey: endpointKey(list, { projectId }) }),
    ),
  );
}

/** Fetches a page. Uses POST for filters, which are too long for a URL. */
function readPage(
  projectId: string,
  search: ContactsSearch,
  { query, signal }: PageQuestion,
  withTotal: boolean | "quick" = false,
) {
  if (search.filter === undefined) {
    const said = withTotal === "quick" ? withTotal : (`${withTotal}` as const);
    return call(api.contacts.list, {
      projectId,
      query: { ...queryOf(search), ...query, withTotal: said, shortPages: "true" },
      signal,
    });
  }
  const { limit, ...cursor } = query;
  const body = { ...questionOf(search), ...cursor, limit: Number(limit), withTotal, shortPages: true };
  return call(api.contacts.search, { projectId, body, signal });
}

export type ContactsList = ReturnType<typeof useContacts>;

interface Piece {
  data: readonly unknown[];
  lookedAt?: number | undefined;
}

/**
 * Returns how many contacts were searched when the last page ran out of time. Null if no search is running or a full page of matches was
 * found, because the user then loads more on request.
 */
function searchedCountOf(pages: readonly Piece[]): number | null {
  const last = pages.at(-1);
  if (last?.lookedAt === undefined) return null;
  const shown = pages.reduce((sum, { data }) => sum + data.length, 0);
  const before = shown - last.data.length;
  const isFilled = Math.floor(shown / PAGE_SIZE) > Math.floor(before / PAGE_SIZE);
  return isFilled ? null : pages.reduce((sum, { lookedAt = 0 }) => sum + lookedAt, 0);
}

interface Looking {
  data: { pages: readonly Piece[] } | undefined;
  isPlaceholderData: boolean;
  isError: boolean;
  isFetching: boolean;
  fetchNextPage: () => Promise<unknown>;
}

/** Fetches partial pages until a full page is found. Returns the result of `searchedCountOf`. */
function useContinueSearch({ data, isPlaceholderData, isError, isFetching, fetchNextPage }: Looking) {
  const lookedAt = isPlaceholderData || isError ? null : searchedCountOf(data?.pages ?? []);
  useEffect(() => {
    if (lookedAt !== null && !isFetching) void fetchNextPage();
  }, [lookedAt, isFetching, fetchNextPage]);
  return lookedAt;
}

/**
 * Returns the contacts of a search. `lookedAt` is null unless contacts are being searched. `total` is undefined while counting, or if
 * counting takes too long; `countAll` then counts anyway. `recount` is a query for the current total.
 * @param search null fetches nothing
 * @param withTotal whether the total is needed
 */
export function useContacts(projectId: string, search: ContactsSearch | null, withTotal = true) {
  const asked = search ?? {};
  const key = keyOf(projectId, asked);
  const enabled = search !== null;
  const list = usePages(key, (page) => readPage(projectId, asked, page), { enabled });
  const lookedAt = useContinueSearch(list);
  const first = list.data?.pages[0];
  const isAllShown = list.data?.pages.at(-1)?.cursor === null;
  const isWhole = isAllShown || (first?.total ?? 0) > 0;
  const isSettled = first !== undefined && !list.isPlaceholderData && lookedAt === null;
  const isCounted = withTotal && enabled && isSettled && !isWhole;
  const readTotal =
    (how: true | "quick") =>
    async ({ signal }: { signal: AbortSignal }) =>
      (await readPage(projectId, asked, { query: { limit: "1" }, signal }, how)).total ?? 0;
  const quick = useQuery({
    queryKey: [...key, "total"],
    queryFn: readTotal("quick"),
    enabled: isCounted,
  });
  const [wanted, setWanted] = useState("");
  const said = JSON.stringify(key);
  const exact = useQuery({
    queryKey: [...key, "exact total"],
    queryFn: readTotal(true),
    enabled: isCounted && wanted === said,
  });
  // The list has matches, so 0 means that the total could not be counted quickly.
  const counted = exact.data ?? (quick.data === 0 ? undefined : quick.data);
  const known = isAllShown ? list.rows?.length : list.total;
  const isLong = isCounted && quick.data === 0 && exact.data === undefined;
  return {
    ...list,
    lookedAt,
    total: isWhole ? known : counted,
    recount: { queryKey: [...key, "recount"], queryFn: readTotal(true) },
    countAll: isLong ? { isBusy: exact.isFetching, error: exact.error, start: () => setWanted(said) } : null,
  };
}
