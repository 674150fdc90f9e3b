// Lists of contacts: who is meant by a search, a state, a segment; in which order; page by page.
// Before it: routes.ts. After it: list-queries.ts; bulk/ and import/ mean the same contacts by the same filter.
import type { Filter } from "@postloft/contract/filters.ts";
import { LIMITS } from "@postloft/contract/limits.ts";
import type { RawBuilder, SqlBool } from "kysely";
import { isOutOfTime, limitStatements, transaction, type Database } from "../platform/database.ts";
import { fittingLimit, type Page } from "../platform/page.ts";
import { invalidField } from "../platform/refusal.ts";
import { presentContact, type ContactView } from "./contacts.ts";
import { cursorAfter, type ContactPageRequest } from "./list-cursor.ts";
import {
  countContacts,
  hasInAddress,
  hasMoreContacts,
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
    ...(search === "" ? [] : [hasInAddress(search)]),
    ...(subscribed === undefined ? [] : [isSubscribed(subscribed)]),
    ...(segmentId === undefined ? [] : [await membersOf(database, projectId, segmentId.toLowerCase())]),
    ...(filters === undefined ? [] : [await matchesOf(database, projectId, field, filters, scope)]),
  ];
}

/** How many contacts a project has. */
export async function countAll(database: Database, projectId: string): Promise<number> {
  return countContacts(database, projectId, []);
}

/** So many contacts are counted whatever it takes: tens of milliseconds, of which a busy machine makes a hundred. */
const FEW_CONTACTS = 20_000;

/** How many meet the conditions; 0 where that was not to be found out in the time of a quick total. */
async function countQuickly(
  database: Database,
  projectId: string,
  conditions: ReadonlyArray<RawBuilder<SqlBool>>,
): Promise<number> {
  if (!(await hasMoreContacts(database, projectId, FEW_CONTACTS)))
    return countContacts(database, projectId, conditions);
  const counting = transaction(database, async (tx) => {
    await limitStatements(tx, LIMITS.quickTotal.value);
    return countContacts(tx, projectId, conditions);
  });
  return counting.catch((error: unknown) => {
    if (!isOutOfTime(error)) throw error;
    return 0;
  });
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
): Promise<Page<ContactView> & { total: number }> {
  const isNarrow =
    (filter.search ?? "") !== "" || filter.segmentId !== undefined || filter.filters !== undefined;
  const isIndexed = !isNarrow && (filter.subscribed === undefined || request.order.sort === "createdAt");
  const conditions = (scope: "few" | "all") =>
    conditionsOf(database, projectId, filter, membership, { scope });
  const { rows, total } = isIndexed
    ? await listIndexed(database, projectId, await conditions("all"), request)
    : await inTime(listSelected(database, projectId, conditions, request));
  return { ...toContactPage(rows, request), total };
}

/** @throws Refusal VALIDATION_ERROR when a question over all contacts takes longer than any statement may. */
export async function inTime<Answer>(asking: Promise<Answer>): Promise<Answer> {
  return asking.catch((error: unknown) => {
    if (!isOutOfTime(error)) throw error;
    throw invalidField("filters", "custom", TOO_SLOW);
  });
}
const TOO_SLOW = "Over all contacts these conditions take too long. Ask for fewer, or for what narrows them.";

type Conditions = ReadonlyArray<RawBuilder<SqlBool>>;
type Found = { rows: ListedContactRow[]; total: number };

const countFor = ({ withTotal }: ContactPageRequest) =>
  withTotal === "quick" ? countQuickly : countContacts;

/** An index has exactly these contacts in exactly this order. */
async function listIndexed(
  database: Database,
  projectId: string,
  conditions: Conditions,
  request: ContactPageRequest,
): Promise<Found> {
  const [rows, total] = await Promise.all([
    listContactRows(database, projectId, conditions, request),
    request.after === null && request.withTotal !== false
      ? countFor(request)(database, projectId, conditions)
      : 0,
  ]);
  return { rows, total };
}

/** Where one contact in a hundred meets the conditions, a page is found among so many, in a few hundredths of a second. */
const NEARBY_CONTACTS = 12_000;
/** Where some do, but not enough: twice as many at most are looked at as a page should need. */
const FARTHER_FACTOR = 2;
const FARTHEST_CONTACTS = 40_000;

/**
 * No plan suits both common and rare conditions, and the planner cannot tell them apart for parts of addresses and for
 * segments: first a short walk along the order of the list, which finds the common; a longer one where that should be
 * enough; then all that match, by the best index.
 */
async function listSelected(
  database: Database,
  projectId: string,
  conditionsFor: (scope: "few" | "all") => Promise<Conditions>,
  request: ContactPageRequest,
): Promise<Found> {
  const isFirst = request.after === null;
  const rows = await listNearby(database, projectId, await conditionsFor("few"), request);
  if (rows !== null && (!isFirst || request.withTotal === false)) return { rows, total: 0 };
  const conditions = await conditionsFor("all");
  if (rows !== null) return { rows, total: await countFor(request)(database, projectId, conditions) };
  const few = await listFewContactRows(database, projectId, conditions, request);
  return { rows: few.rows, total: isFirst ? few.found : 0 };
}

/** A whole page of those that come next; null where they are not near. */
async function listNearby(
  database: Database,
  projectId: string,
  conditions: Conditions,
  request: ContactPageRequest,
): Promise<ListedContactRow[] | null> {
  const among = (look: number) =>
    listContactRowsNearby(database, projectId, conditions, { ...request, look });
  const near = await among(NEARBY_CONTACTS);
  if (near.length > request.limit) return near;
  const look = Math.ceil((NEARBY_CONTACTS * FARTHER_FACTOR * (request.limit + 1)) / near.length);
  if (look > FARTHEST_CONTACTS) return null;
  const farther = await among(look);
  return farther.length > request.limit ? farther : null;
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
