// What the URL of the contacts' page says. Before it: router.tsx. After it: contacts-page.tsx.
export interface ContactsSearch {
  search?: string;
  status?: "subscribed" | "unsubscribed";
  sort?: "email";
  dir?: "asc" | "desc";
}

/** What of the URL is understood; the rest is left out. */
export function readContactsSearch({ search, status, sort, dir }: Record<string, unknown>): ContactsSearch {
  return {
    ...((typeof search === "string" && search !== "") || typeof search === "number"
      ? { search: String(search) }
      : {}),
    ...(status === "subscribed" || status === "unsubscribed" ? { status } : {}),
    ...(sort === "email" ? { sort } : {}),
    ...(dir === "asc" || dir === "desc" ? { dir } : {}),
  };
}
