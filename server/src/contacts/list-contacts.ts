// Lists contacts by search, subscription, segment or conditions, in a chosen order, page by page.
import type { Filter } from "@postloft/contract/filters.ts";
import type { RawBuilder, SqlBool } from "kysely";
import { isOutOfTime, type Database } from "../platform/database/database.ts";
import { containsAddressPart, fittingLimit, type Page } from "../platform/http/page.ts";
import { invalidField } from "../platform/app-error.ts";
import { presentContact, type ContactView } from "./contacts.ts";
import { listIndexed, listInPartialPages, listSelected, type Found } from "./find-contacts.ts";
import { cursorAfter, type ContactPageRequest } from "./list-cursor.ts";
import { countContacts, isSubscribed } from "./list-queries.ts";

/** Omitted fields do not restrict the list. */
export interface ContactFilter {
  /** A part of the address, case-insensitive. */
  search?: string | undefined;
  subscribed?: boolean | undefined;
  segmentId?: string | undefined;
  /** Conditions in the filter language of segments. */
  filters?: Filter | undefined;
}

/** Conditions for the members of segments, provided by segments/ through api.ts. */
export interface Membership {
  /**
   * Returns the current members of a segment as a condition on `contacts c`.
   * @throws AppError SEGMENT_NOT_FOUND.
   */
  membersOf: (database: Database, projectId: string, segmentId: string) => Promise<RawBuilder<SqlBool>>;
  /**
   * Returns the matches of a filter in the same form.
   * @throws AppError VALIDATION_ERROR for `field` if the filter names an unknown segment.
   */
  matchesOf: (
    database: Database,
    projectId: string,
    field: string,
    filters: Filter,
    /** Whether the statement reads a few contacts or all of them. */
    scope?: "few" | "all",
  ) => Promise<RawBuilder<SqlBool>>;
}

/**
 * Returns the conditions of a filter on `contacts c`, to be joined with AND.
 * @param field the path of `filters` in the request
 * @throws AppError SEGMENT_NOT_FOUND, or VALIDATION_ERROR if the filters name an unknown segment.
 */
export async function conditionsOf(
  database: Database,
  projectId: string,
  { search = "", subscribed, segmentId, filters }: ContactFilter,
  { membersOf, matchesOf }: Membership,
  { field = "filters", scope = "all" as "few" | "all" } = {},
): Promise<Array<RawBuilder<SqlBool>>> {
  return [
    ...(search === "" ? [] : [containsAddressPart("c.email", search)]),
    ...(subscribed === undefined ? [] : [isSubscribed(subscribed)]),
    ...(segmentId === undefined ? [] : [await membersOf(database, projectId, segmentId.toLowerCase())]),
    ...(filters === undefined ? [] : [await matchesOf(database, projectId, field, filters, scope)]),
  ];
}

/** Returns the number of contacts of a project. */
export async function countAll(database: Database, projectId: string): Promise<number> {
  return countContacts(database, projectId, []);
}

/**
 * Returns a page of contacts. `total` is counted on the first page only, if requested or known for free.
 * @throws AppError SEGMENT_NOT_FOUND, or VALIDATION_ERROR if the filters name an unknown segment.
 */
export async function listContacts(
  database: Database,
  projectId: string,
  filter: ContactFilter,
  request: ContactPageRequest,
  membership: Membership,
): Promise<Page<ContactView> & { total: number; lookedAt?: number }> {
  const isNarrow =
    (filter.search ?? "") !== "" || filter.segmentId !== undefined || filter.filters !== undefined;
  const isIndexed = !isNarrow && (filter.subscribed === undefined || request.order.sort === "createdAt");
  const conditions = (scope: "few" | "all") =>
    conditionsOf(database, projectId, filter, membership, { scope });
  const { total, ...found } = isIndexed
    ? await listIndexed(database, projectId, await conditions("all"), request)
    : await inTime(
        request.isShort
          ? listInPartialPages(database, projectId, conditions, request)
          : listSelected(database, projectId, conditions, request),
      );
  return { ...toContactPage(found, request), total };
}

/** @throws AppError VALIDATION_ERROR if a query over all contacts exceeds the statement timeout. */
export async function inTime<HttpResponse>(asking: Promise<HttpResponse>): Promise<HttpResponse> {
  return asking.catch((error: unknown) => {
    if (!isOutOfTime(error)) throw error;
    throw invalidField("filters", "custom", TOO_SLOW);
  });
}
const TOO_SLOW =
  "These conditions take too long for all contacts. Use fewer, or add one that narrows the list.";

function toContactPage(
  { rows, looked }: Pick<Found, "rows" | "looked">,
  { order, limit, isLooking }: ContactPageRequest,
): Page<ContactView> & { lookedAt?: number } {
  const shown = rows.slice(0, fittingLimit(limit, rows));
  const data = shown.map(presentContact);
  const last = shown.at(-1);
  const hasMore = rows.length > shown.length;
  const key = order.sort === "email" ? last?.email : last?.id;
  if (hasMore && key !== undefined) return { data, cursor: cursorAfter(order, key, isLooking), hasMore };
  return looked === undefined
    ? { data, cursor: null, hasMore: false }
    : { data, cursor: cursorAfter(order, looked.end, true), hasMore: true, lookedAt: looked.count };
}
