// What the URLs of the contacts' pages say. Before it: router.tsx. After it: contacts-page.tsx, contact-page.tsx, import-page.tsx.
export interface ContactsSearch {
  search?: string;
  status?: "subscribed" | "unsubscribed";
  sort?: "email";
  dir?: "asc" | "desc";
  /** A bulk change that is under way, or has just ended. */
  job?: string;
}

/** What of the URL is understood; the rest is left out. */
export function readContactsSearch(given: Record<string, unknown>): ContactsSearch {
  const { search, status, sort, dir } = given;
  return {
    ...((typeof search === "string" && search !== "") || typeof search === "number"
      ? { search: String(search) }
      : {}),
    ...(status === "subscribed" || status === "unsubscribed" ? { status } : {}),
    ...(sort === "email" ? { sort } : {}),
    ...(dir === "asc" || dir === "desc" ? { dir } : {}),
    ...readJobSearch(given),
  };
}

/** The job that a page follows, so that a reload loses nothing. */
export function readJobSearch({ job }: Record<string, unknown>): { job?: string } {
  return typeof job === "string" && job !== "" ? { job } : {};
}

export interface ContactSearch {
  tab?: "data" | "consent";
}

/** The same for one contact. */
export function readContactSearch({ tab }: Record<string, unknown>): ContactSearch {
  return tab === "data" || tab === "consent" ? { tab } : {};
}
