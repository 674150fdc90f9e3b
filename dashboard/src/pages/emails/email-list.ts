// Loads the emails of a search page by page, and continues while the server returns short pages.
import { useEffect } from "react";
import { api } from "../../api/endpoints.ts";
import { PAGE_SIZE, usePages } from "../../api/use-list.ts";
import { endpointKey } from "../../api/query-key.ts";
import { call } from "../../api/call.ts";
import { queryOf, type EmailsSearch } from "./search.ts";

const POLL_EVERY_MS = 10_000;
/** The search waits for the user after this number of short pages, about two seconds. */
const PAGES_WITHOUT_ASKING = 20;

interface LoadedPage {
  data: readonly unknown[];
  searchedTo?: string | undefined;
}

/** Returns the time back to which emails were searched, or null if the list shows all matches or ends with a full page. */
function searchedToOf(pages: readonly LoadedPage[]): string | null {
  return pages.at(-1)?.searchedTo ?? null;
}

/** Returns whether the newest pages have too few rows for the table, and the search may continue without asking. */
function isContinued(pages: readonly LoadedPage[]): boolean {
  const shown = pages.reduce((sum, { data }) => sum + data.length, 0);
  const before = shown - (pages.at(-1)?.data.length ?? 0);
  const isFilled = Math.floor(shown / PAGE_SIZE) > Math.floor(before / PAGE_SIZE);
  return searchedToOf(pages) !== null && !isFilled && pages.length % PAGES_WITHOUT_ASKING !== 0;
}

export type EmailsList = ReturnType<typeof useEmails>;

/**
 * Returns the emails of a search, newest first. `searchedTo` is the time back to which they were searched, or null if no older email was left
 * out. `isSearching` says whether the search continues automatically.
 */
export function useEmails(projectId: string, search: EmailsSearch) {
  const asked = queryOf(search);
  const list = usePages(
    endpointKey(api.emails.list, { projectId, query: asked }),
    ({ query, signal }) =>
      call(api.emails.list, {
        projectId,
        query: { ...asked, ...query, shortPages: "true", withTotal: "false" },
        signal,
      }),
    { pollEveryMs: POLL_EVERY_MS },
  );
  const { data, isPlaceholderData, isError, isFetching, fetchNextPage } = list;
  const pages: readonly LoadedPage[] = data?.pages ?? [];
  const isSearching = !isPlaceholderData && !isError && isContinued(pages);
  useEffect(() => {
    if (isSearching && !isFetching) void fetchNextPage();
  }, [isSearching, isFetching, fetchNextPage]);
  return { ...list, isSearching, searchedTo: isPlaceholderData ? null : searchedToOf(pages) };
}
