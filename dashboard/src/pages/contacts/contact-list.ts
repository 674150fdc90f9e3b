// The list of contacts as the URL asks for it: page by page, and beside it how many match, which takes longer where many are looked through.
// Before it: contacts-page.tsx. After it: api/.
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { call } from "../../api/call.ts";
import { listContacts, searchContacts } from "../../api/endpoints.ts";
import { useList, type PageQuestion } from "../../api/use-list.ts";
import { viewQueryOf, type ContactsSearch } from "./search.ts";

/** What the list is asked. */
function questionOf(search: ContactsSearch) {
  const { fields: _fields, ...question } = viewQueryOf(search);
  return question;
}

/** The same in an address, where values are text. */
export function queryOf(search: ContactsSearch) {
  const { subscribed, filters: _filters, ...rest } = questionOf(search);
  const said = subscribed === true ? ("true" as const) : ("false" as const);
  return { ...rest, ...(subscribed === undefined ? {} : { subscribed: said }) };
}

/** A page of the list; conditions are too long for an address. */
function readPage(
  projectId: string,
  search: ContactsSearch,
  { query, signal }: PageQuestion,
  withTotal: boolean | "quick" = false,
) {
  if (search.filter === undefined) {
    const said = withTotal === "quick" ? withTotal : (`${withTotal}` as const);
    return call(listContacts, {
      projectId,
      query: { ...queryOf(search), ...query, withTotal: said },
      signal,
    });
  }
  const { limit, ...cursor } = query;
  const body = { ...questionOf(search), ...cursor, limit: Number(limit), withTotal };
  return call(searchContacts, { projectId, body, signal });
}

export type ContactsList = ReturnType<typeof useContacts>;

/**
 * `total` is undefined while it is counted, and where that takes long: then `countAll` has it counted all the same.
 *
 * @param search null asks nothing
 * @param withTotal whether anybody wants to know how many there are
 */
export function useContacts(projectId: string, search: ContactsSearch | null, withTotal = true) {
  const asked = search ?? {};
  const key = ["project", projectId, "contacts", questionOf(asked)];
  const enabled = search !== null;
  const list = useList(key, (page) => readPage(projectId, asked, page), { enabled });
  const first = list.data?.pages[0];
  const isWhole = first?.cursor === null || (first?.total ?? 0) > 0;
  const isCounted = withTotal && enabled && first !== undefined && !list.isPlaceholderData && !isWhole;
  const readTotal =
    (how: true | "quick") =>
    async ({ signal }: { signal: AbortSignal }) =>
      (await readPage(projectId, asked, { query: { limit: "1" }, signal }, how)).total;
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
  // Somebody matches, so 0 means that it was not to be found out quickly.
  const counted = exact.data ?? (quick.data === 0 ? undefined : quick.data);
  const known = first?.cursor === null ? list.rows?.length : list.total;
  const isLong = isCounted && quick.data === 0 && exact.data === undefined;
  return {
    ...list,
    total: isWhole ? known : counted,
    countAll: isLong ? { isBusy: exact.isFetching, error: exact.error, start: () => setWanted(said) } : null,
  };
}
