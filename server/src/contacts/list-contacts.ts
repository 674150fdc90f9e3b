// Lists of contacts: who is meant by a search, a state, a segment; in which order; page by page.
// Before it: routes.ts. After it: list-queries.ts; bulk/ and import/ mean the same contacts by the same filter.
import type { Filter } from "@postloft/contract/filters.ts";
import type { RawBuilder, SqlBool } from "kysely";
import type { Database } from "../platform/database.ts";
import { fittingLimit, type Page } from "../platform/page.ts";
import { Refusal } from "../platform/refusal.ts";
import { presentContact, type ContactView } from "./contacts.ts";
import { membershipOf } from "./filters/compile-filter.ts";
import { loadSegmentsFor } from "./filters/load-segments.ts";
import { cursorAfter, type ContactPageRequest } from "./list-cursor.ts";
import {
  countContacts,
  hasInAddress,
  isSubscribed,
  listContactRows,
  listContactRowsNearby,
  listFewContactRows,
  type ListedContactRow,
} from "./list-queries.ts";

/** What is left out restricts nothing. */
export interface ContactFilter {
  /** A part of the address, in any case. */
  search?: string | undefined;
  subscribed?: boolean | undefined;
  segmentId?: string | undefined;
}

/** The conditions of a filter on `contacts c`, all of which must hold. @throws Refusal SEGMENT_NOT_FOUND. */
export async function conditionsOf(
  database: Database,
  projectId: string,
  { search = "", subscribed, segmentId }: ContactFilter,
): Promise<Array<RawBuilder<SqlBool>>> {
  return [
    ...(search === "" ? [] : [hasInAddress(search)]),
    ...(subscribed === undefined ? [] : [isSubscribed(subscribed)]),
    ...(segmentId === undefined ? [] : [await isMember(database, projectId, segmentId.toLowerCase())]),
  ];
}

async function isMember(
  database: Database,
  projectId: string,
  segmentId: string,
): Promise<RawBuilder<SqlBool>> {
  const inSegment: Filter = {
    operator: "AND",
    conditions: [{ field: `segment.${segmentId}`, operator: "memberOfSegment" }],
  };
  const segments = await loadSegmentsFor(database, projectId, [inSegment]);
  if (!segments.has(segmentId)) throw new Refusal("SEGMENT_NOT_FOUND");
  return membershipOf(database, segmentId, { projectId, segments });
}

/** How many contacts a project has. */
export async function countAll(database: Database, projectId: string): Promise<number> {
  return countContacts(database, projectId, []);
}

/** Contacts page by page; `total` is counted on the first page only. @throws Refusal SEGMENT_NOT_FOUND. */
export async function listContacts(
  database: Database,
  projectId: string,
  filter: ContactFilter,
  request: ContactPageRequest,
): Promise<Page<ContactView> & { total: number }> {
  const conditions = await conditionsOf(database, projectId, filter);
  const isNarrow = (filter.search ?? "") !== "" || filter.segmentId !== undefined;
  const isIndexed = !isNarrow && (filter.subscribed === undefined || request.order.sort === "createdAt");
  const { rows, total } = await (isIndexed ? listIndexed : listSelected)(
    database,
    projectId,
    conditions,
    request,
  );
  return { ...toContactPage(rows, request), total };
}

type Conditions = ReadonlyArray<RawBuilder<SqlBool>>;
type Found = { rows: ListedContactRow[]; total: number };

/** An index has exactly these contacts in exactly this order. */
async function listIndexed(
  database: Database,
  projectId: string,
  conditions: Conditions,
  request: ContactPageRequest,
): Promise<Found> {
  const [rows, total] = await Promise.all([
    listContactRows(database, projectId, conditions, request),
    request.after === null ? countContacts(database, projectId, conditions) : 0,
  ]);
  return { rows, total };
}

/** Where one contact in a hundred meets the conditions, a page is found among so many. */
const NEARBY_CONTACTS = 2_000;

/**
 * No plan suits both common and rare conditions, and the planner cannot tell them apart for parts of addresses and for
 * segments: first a short walk along the order of the list, which finds the common, then all that match, by the best index.
 */
async function listSelected(
  database: Database,
  projectId: string,
  conditions: Conditions,
  request: ContactPageRequest,
): Promise<Found> {
  const isFirst = request.after === null;
  const nearby = { ...request, look: NEARBY_CONTACTS };
  const rows = await listContactRowsNearby(database, projectId, conditions, nearby);
  if (rows.length > request.limit)
    return { rows, total: isFirst ? await countContacts(database, projectId, conditions) : 0 };
  const few = await listFewContactRows(database, projectId, conditions, request);
  return { rows: few.rows, total: isFirst ? few.found : 0 };
}

function toContactPage(rows: readonly ListedContactRow[], request: ContactPageRequest): Page<ContactView> {
  const { order } = request;
  const limit = fittingLimit(request.limit, rows);
  const shown = rows.slice(0, limit);
  const last = shown.at(-1);
  const hasMore = rows.length > limit;
  const key = order.sort === "email" ? last?.email : last?.id;
  return {
    data: shown.map(presentContact),
    cursor: hasMore && key !== undefined ? cursorAfter(order, key) : null,
    hasMore,
  };
}
