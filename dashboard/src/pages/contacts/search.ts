// What the URLs of the contacts' pages say. Before it: router.tsx. After it: contacts-page.tsx, contact-page.tsx, import-page.tsx.
export interface ContactsSearch {
  search?: string;
  status?: "subscribed" | "unsubscribed";
  sort?: "email";
  dir?: "asc" | "desc";
  /** Only members of this segment. */
  segment?: string;
  /** Own fields that have a column, with a comma between them. */
  fields?: string;
  /** A bulk change that is under way, or has just ended. */
  job?: string;
}

/** What of the URL is understood; the rest is left out. */
export function readContactsSearch(given: Record<string, unknown>): ContactsSearch {
  const { search, status, sort, dir, segment, fields } = given;
  return {
    ...((typeof search === "string" && search !== "") || typeof search === "number"
      ? { search: String(search) }
      : {}),
    ...(status === "subscribed" || status === "unsubscribed" ? { status } : {}),
    ...(sort === "email" ? { sort } : {}),
    ...(dir === "asc" || dir === "desc" ? { dir } : {}),
    ...(typeof segment === "string" && segment !== "" ? { segment } : {}),
    ...(typeof fields === "string" && fields !== "" ? { fields } : {}),
    ...readJobSearch(given),
  };
}

/** More columns than these no screen has room for. */
export const MOST_FIELDS = 5;

/** A change of what the URL says; what becomes undefined leaves it. */
export type ContactsChange = { [Name in keyof ContactsSearch]?: ContactsSearch[Name] | undefined };

/** The own fields that have a column, as they were chosen. */
export function fieldsOf({ fields = "" }: ContactsSearch): string[] {
  return [...new Set(fields.split(",").filter((name) => name !== ""))].slice(0, MOST_FIELDS);
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
