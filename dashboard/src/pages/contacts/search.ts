// What the URLs of the contacts' pages say.
import type { Filter, FilterCondition } from "@postloft/contract/filters.ts";

export interface ContactsSearch {
  search?: string;
  status?: "subscribed" | "unsubscribed";
  sort?: "email";
  dir?: "asc" | "desc";
  /** Only members of this segment. */
  segment?: string;
  /** Conditions, as segments have them. */
  filter?: Filter;
  /** Own fields that have a column, with a comma between them. */
  fields?: string;
  /** The saved view that was opened; what it shows stands beside it, and may have been changed since. */
  view?: string;
  /** A bulk change that is under way, or has just ended. */
  job?: string;
}

/** What of the URL is understood; the rest is left out. */
export function readContactsSearch(given: Record<string, unknown>): ContactsSearch {
  const { search, status, sort, dir, segment, filter, fields, view } = given;
  return {
    ...((typeof search === "string" && search !== "") || typeof search === "number"
      ? { search: String(search) }
      : {}),
    ...(status === "subscribed" || status === "unsubscribed" ? { status } : {}),
    ...(sort === "email" ? { sort } : {}),
    ...(dir === "asc" || dir === "desc" ? { dir } : {}),
    ...(typeof segment === "string" && segment !== "" ? { segment } : {}),
    ...(isFilter(filter) ? { filter } : {}),
    ...(typeof fields === "string" && fields !== "" ? { fields } : {}),
    ...(typeof view === "string" && view !== "" ? { view } : {}),
    ...readJobSearch(given),
  };
}

/** Deeper the API takes none. */
const DEEPEST_FILTER = 10;

/** Whether it has the shape of a filter; what is wrong inside of it the server says. */
function isFilter(given: unknown, depth = 1): given is Filter {
  if (typeof given !== "object" || given === null || depth > DEEPEST_FILTER) return false;
  const { operator, conditions } = given as Partial<Record<keyof Filter, unknown>>;
  return (
    (operator === "AND" || operator === "OR") &&
    Array.isArray(conditions) &&
    conditions.length > 0 &&
    conditions.every((part: unknown) => isCondition(part) || isFilter(part, depth + 1))
  );
}

function isCondition(given: unknown): boolean {
  if (typeof given !== "object" || given === null) return false;
  const { field, operator } = given as Partial<Record<keyof FilterCondition, unknown>>;
  return typeof field === "string" && typeof operator === "string";
}

/** As written in an address. Servers take addresses of 16 KB, and signing in again writes this one into another. */
const LONGEST_FILTER = 4_000;

/** Whether a filter has room in the address of the page. */
export function fitsAddress(filter: Filter): boolean {
  return encodeURIComponent(JSON.stringify(filter)).length <= LONGEST_FILTER;
}

/** More columns than these no screen has room for. */
export const MOST_FIELDS = 5;

/** A change of what the URL says; what becomes undefined leaves it. */
export type ContactsChange = { [Name in keyof ContactsSearch]?: ContactsSearch[Name] | undefined };

/** The own fields that have a column, as they were chosen. */
export function fieldsOf({ fields = "" }: ContactsSearch): string[] {
  return [...new Set(fields.split(",").filter((name) => name !== ""))].slice(0, MOST_FIELDS);
}

/** What a saved view keeps. */
export interface ViewQuery {
  search?: string | undefined;
  subscribed?: boolean | undefined;
  segmentId?: string | undefined;
  filters?: Filter | undefined;
  sort?: "email" | "createdAt" | undefined;
  dir?: "asc" | "desc" | undefined;
  fields?: string[] | undefined;
}

/** What of the URL a saved view keeps. */
export function viewQueryOf(search: ContactsSearch): ViewQuery {
  const { search: text, status, segment, filter, sort, dir } = search;
  const fields = fieldsOf(search);
  return {
    ...(text === undefined ? {} : { search: text }),
    ...(status === undefined ? {} : { subscribed: status === "subscribed" }),
    ...(segment === undefined ? {} : { segmentId: segment }),
    ...(filter === undefined ? {} : { filters: filter }),
    ...(sort === undefined ? {} : { sort }),
    ...(dir === undefined ? {} : { dir }),
    ...(fields.length === 0 ? {} : { fields }),
  };
}

interface SavedView {
  id: string;
  query: Omit<ViewQuery, "filters"> & { filters?: unknown };
}

/** The URL that shows a saved view. */
export function searchOfView({ id, query }: SavedView): ContactsSearch {
  return readContactsSearch({
    ...query,
    status: query.subscribed === undefined ? undefined : query.subscribed ? "subscribed" : "unsubscribed",
    segment: query.segmentId,
    filter: query.filters,
    fields: query.fields?.join(","),
    view: id,
  });
}

/** Whether two questions show the same, in whatever order they say it. */
export function isSameView(one: ViewQuery, other: SavedView["query"]): boolean {
  return JSON.stringify(inOneOrder(one)) === JSON.stringify(inOneOrder(other));
}

/** The same with the names of every object in one order: the server does not keep theirs. */
function inOneOrder(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(inOneOrder);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .toSorted(([one], [other]) => (one < other ? -1 : 1))
      .map(([name, inner]) => [name, inOneOrder(inner)]),
  );
}

/** The job that a page follows, so that a reload loses nothing. */
export function readJobSearch({ job }: Record<string, unknown>): { job?: string } {
  return typeof job === "string" && job !== "" ? { job } : {};
}

export interface ImportSearch {
  /** What the columns of the chosen file become; without it a file is chosen. */
  step?: "columns";
  /** The job that tried it out. */
  trial?: string;
  /** The job that imports. */
  job?: string;
}

/** Where an import stands: at its file, its columns, or its report. */
export function readImportSearch(given: Record<string, unknown>): ImportSearch {
  const { step, trial } = given;
  if (step !== "columns") return readJobSearch(given);
  return { step, ...(typeof trial === "string" && trial !== "" ? { trial } : {}) };
}

const CONTACT_TABS = ["mails", "data", "segments", "workflows", "consent"] as const;

export interface ContactSearch {
  tab?: (typeof CONTACT_TABS)[number];
}

/** The same for one contact. */
export function readContactSearch({ tab }: Record<string, unknown>): ContactSearch {
  const known = CONTACT_TABS.find((one) => one === tab);
  return known === undefined ? {} : { tab: known };
}
