// The list of contacts as the URL asks for it: page by page, and beside it how many match, which takes longer where many are looked through.
// Before it: contacts-page.tsx. After it: api/.
import { useQuery } from "@tanstack/react-query";
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
  withTotal = false,
) {
  if (search.filter === undefined) {
    const said = withTotal ? ("true" as const) : ("false" as const);
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

/** `total` is undefined while it is counted. */
export function useContacts(projectId: string, search: ContactsSearch) {
  const key = ["project", projectId, "contacts", questionOf(search)];
  const list = useList(key, (asked) => readPage(projectId, search, asked));
  const first = list.data?.pages[0];
  const isWhole = first?.cursor === null || (first?.total ?? 0) > 0;
  const counting = useQuery({
    queryKey: [...key, "total"],
    queryFn: async ({ signal }) =>
      (await readPage(projectId, search, { query: { limit: "1" }, signal }, true)).total,
    enabled: first !== undefined && !list.isPlaceholderData && !isWhole,
  });
  const known = first?.cursor === null ? list.rows?.length : list.total;
  return { ...list, total: isWhole ? known : counting.data };
}
