// Lists of contacts: who is meant by a search, a state, a segment; in which order; page by page.
import type { Filter } from "@postloft/contract/filters.ts";
import type { RawBuilder, SqlBool } from "kysely";
import { isOutOfTime, type Database } from "../platform/database/database.ts";
import { containsAddressPart, fittingLimit, type Page } from "../platform/http/page.ts";
import { invalidField } from "../platform/refusal.ts";
import { presentContact, type ContactView } from "./contacts.ts";
import { listIndexed, listInPieces, listSelected, type Found } from "./find-contacts.ts";
import { cursorAfter, type ContactPageRequest } from "./list-cursor.ts";
import { countContacts, isSubscribed } from "./list-queries.ts";

/** What is left out restricts nothing. */
export interface ContactFilter {
  /** A part of the address, in any case. */
  search?: string | undefined;
  subscribed?: boolean | undefined;
  segmentId?: string | undefined;
  /** Conditions, as segments have them. */
  filters?: Filter | undefined;
}

/** What segments/ knows of contacts; handed in by api.ts. */
export interface Membership {
  /** The members of a segment now, as a condition on `contacts c`. @throws Refusal SEGMENT_NOT_FOUND. */
  membersOf: (database: Database, projectId: string, segmentId: string) => Promise<RawBuilder<SqlBool>>;
  /** Who matches a filter, the same way. @throws Refusal VALIDATION_ERROR naming `field` when it stands on a segment that is none. */
  matchesOf: (
    database: Database,
    projectId: string,
    field: string,
    filters: Filter,
    /** Whether it is asked of a few contacts, or of all. */
    scope?: "few" | "all",
  ) => Promise<RawBuilder<SqlBool>>;
}

/**
 * The conditions of a filter on `contacts c`, all of which must hold.
 * @param field where its `filters` stand in what was sent
 * @throws Refusal SEGMENT_NOT_FOUND; VALIDATION_ERROR for filters that stand on a segment that is none.
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

/** How many contacts a project has. */
export async function countAll(database: Database, projectId: string): Promise<number> {
  return countContacts(database, projectId, []);
}

/**
 * Contacts page by page; `total` is counted on the first page only, where it is wanted or known anyway.
 * @throws Refusal SEGMENT_NOT_FOUND; VALIDATION_ERROR for filters that stand on a segment that is none.
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
          ? listInPieces(database, projectId, conditions, request)
          : listSelected(database, projectId, conditions, request),
      );
  return { ...toContactPage(found, request), total };
}

/** @throws Refusal VALIDATION_ERROR when a question over all contacts takes longer than any statement may. */
export async function inTime<Answer>(asking: Promise<Answer>): Promise<Answer> {
  return asking.catch((error: unknown) => {
    if (!isOutOfTime(error)) throw error;
    throw invalidField("filters", "custom", TOO_SLOW);
  });
}
const TOO_SLOW = "Over all contacts these conditions take too long. Ask for fewer, or for what narrows them.";

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
