// Search parameters of the contact pages.
import type { Filter, FilterCondition } from "@postloft/contract/filters.ts";

export interface ContactsSearch {
  search?: string;
  status?: "subscribed" | "unsubscribed";
  sort?: "email";
  dir?: "asc" | "desc";
  /** Shows only members of this segment. */
  segment?: string;
  /** A filter, as in segments. */
  filter?: Filter;
  /** Custom fields shown as columns, separated by commas. */
  fields?: string;
  /** The opened saved view. Its filters are copied into the URL and may have been changed since. */
  view?: string;
  /** A bulk change that is running or has just ended. */
  job?: string;
}

/** Parses the search parameters and drops invalid ones. */
export function readContactsSearch(input: Record<string, unknown>): ContactsSearch {
  const { search, status, sort, dir, segment, filter, fields, view } = input;
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
    ...readJobSearch(input),
  };
}

/** The API accepts no deeper filter. */
const DEEPEST_FILTER = 10;

/** Returns whether a value has the shape of a filter. The server validates its content. */
function isFilter(input: unknown, depth = 1): input is Filter {
  if (typeof input !== "object" || input === null || depth > DEEPEST_FILTER) return false;
  const { operator, conditions } = input as Partial<Record<keyof Filter, unknown>>;
  return (
    (operator === "AND" || operator === "OR") &&
    Array.isArray(conditions) &&
    conditions.length > 0 &&
    conditions.every((part: unknown) => isCondition(part) || isFilter(part, depth + 1))
  );
}

function isCondition(input: unknown): boolean {
  if (typeof input !== "object" || input === null) return false;
  const { field, operator } = input as Partial<Record<keyof FilterCondition, unknown>>;
  return typeof field === "string" && typeof operator === "string";
}

/** Maximum length in a URL. Servers accept URLs of 16 KB, and signing in again encodes this URL inside another one. */
const LONGEST_FILTER = 4_000;

/** Returns whether a filter fits into the page's URL. */
export function fitsIntoUrl(filter: Filter): boolean {
  return encodeURIComponent(JSON.stringify(filter)).length <= LONGEST_FILTER;
}

/** Screens have no room for more columns. */
export const MAX_FIELD_COLUMNS = 5;

/** A change of search parameters. `undefined` removes a parameter. */
export type ContactsChange = { [Name in keyof ContactsSearch]?: ContactsSearch[Name] | undefined };

/** Returns the custom fields shown as columns, in the chosen order. */
export function fieldsOf({ fields = "" }: ContactsSearch): string[] {
  return [...new Set(fields.split(",").filter((name) => name !== ""))].slice(0, MAX_FIELD_COLUMNS);
}

/** The stored part of a saved view. */
export interface ViewQuery {
  search?: string | undefined;
  subscribed?: boolean | undefined;
  segmentId?: string | undefined;
  filters?: Filter | undefined;
  sort?: "email" | "createdAt" | undefined;
  dir?: "asc" | "desc" | undefined;
  fields?: string[] | undefined;
}

/** Returns the part of the search parameters that a saved view stores. */
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

/** Returns the search parameters that show a saved view. */
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

/** Returns whether two views are equal, ignoring key order. */
export function isSameView(one: ViewQuery, other: SavedView["query"]): boolean {
  return JSON.stringify(inOneOrder(one)) === JSON.stringify(inOneOrder(other));
}

/** Sorts the keys of every object, because the server does not preserve their order. */
function inOneOrder(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(inOneOrder);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .toSorted(([one], [other]) => (one < other ? -1 : 1))
      .map(([name, inner]) => [name, inOneOrder(inner)]),
  );
}

/** Reads the id of the job that a page follows across reloads. */
function readJobSearch({ job }: Record<string, unknown>): { job?: string } {
  return typeof job === "string" && job !== "" ? { job } : {};
}

export interface ImportSearch {
  /** Set while columns are mapped; otherwise a file is chosen. */
  step?: "columns";
  /** The job of the preview. */
  trial?: string;
  /** The job of the import. */
  job?: string;
}

/** Parses the step of an import: its file, its columns or its report. */
export function readImportSearch(input: Record<string, unknown>): ImportSearch {
  const { step, trial } = input;
  if (step !== "columns") return readJobSearch(input);
  return { step, ...(typeof trial === "string" && trial !== "" ? { trial } : {}) };
}

const CONTACT_TABS = ["mails", "data", "segments", "workflows", "consent"] as const;

export interface ContactSearch {
  tab?: (typeof CONTACT_TABS)[number];
}

/** Parses the search parameters of one contact. */
export function readContactSearch({ tab }: Record<string, unknown>): ContactSearch {
  const known = CONTACT_TABS.find((one) => one === tab);
  return known === undefined ? {} : { tab: known };
}
