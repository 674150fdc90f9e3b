// Finds a page of contacts along the list order, by the best index, or in partial pages, and counts the matches.
import { LIMITS } from "@postloft/contract/limits/limits.ts";
import type { RawBuilder, SqlBool } from "kysely";
import {
  isOutOfTime,
  limitStatements,
  transaction,
  type Database,
  type Tx,
} from "../platform/database/database.ts";
import { fittingLimit } from "../platform/http/page.ts";
import type { ContactPageRequest } from "./list-cursor.ts";
import {
  countContacts,
  findNearbyEnd,
  hasMoreContacts,
  listContactRows,
  listContactRowsNearby,
  listFewContactRows,
  type ListedContactRow,
} from "./list-queries.ts";

type Conditions = ReadonlyArray<RawBuilder<SqlBool>>;
type ConditionsFor = (scope: "few" | "all") => Promise<Conditions>;

export interface Found {
  rows: ListedContactRow[];
  total: number;
  /** Set if the search stopped before the end of the list. */
  looked?: Looked;
}

interface Looked {
  count: number;
  /** The sort key of the last checked contact. */
  end: string;
}

/** Returns whether the request needs a count. */
const isCounted = ({ after, withTotal }: ContactPageRequest) => after === null && withTotal !== false;

/** Lists contacts for which an index has exactly this filter and order. */
export async function listIndexed(
  database: Database,
  projectId: string,
  conditions: Conditions,
  request: ContactPageRequest,
): Promise<Found> {
  const [rows, total] = await Promise.all([
    listContactRows(database, projectId, conditions, request),
    isCounted(request) ? count(database, projectId, conditions, request) : 0,
  ]);
  return { rows, total };
}

/** This range contains a page if one contact in a hundred matches. Scanning it takes a few hundredths of a second. */
const NEARBY_CONTACTS = 12_000;
/** If there are some matches but too few for a page, a second scan covers up to twice the range that should suffice. */
const FARTHER_FACTOR = 2;
const FARTHEST_CONTACTS = 40_000;

/**
 * Finds a page in up to three attempts, because no plan suits both common and rare conditions. The planner cannot tell them apart for parts
 * of addresses and for segments. A short scan along the list order finds common matches, and a longer one follows if it should suffice.
 * Otherwise the best index finds all matches.
 */
export async function listSelected(
  database: Database,
  projectId: string,
  conditionsFor: ConditionsFor,
  request: ContactPageRequest,
): Promise<Found> {
  const rows = await listNearby(database, projectId, await conditionsFor("few"), request);
  if (rows !== null && !isCounted(request)) return { rows, total: 0 };
  const conditions = await conditionsFor("all");
  if (rows !== null) return { rows, total: await count(database, projectId, conditions, request) };
  const few = await listFewContactRows(database, projectId, conditions, request);
  return { rows: few.rows, total: request.after === null ? few.found : 0 };
}

/** Returns a full page from the contacts next in order, or null if they contain too few matches. */
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

/** A partial page ends after this time, plus the statement that is still running. */
const PARTIAL_PAGE_MS = 60;
/** Checking twenty conditions on this number of contacts takes about as long. */
const SCAN_CONTACTS = 6_000;
/** An index lookup of rare matches takes a few milliseconds. */
const INDEX_MS = 30;
/** Matches count as common from a quarter of a page within the range on, because an index would then return thousands. */
const MANY_NEAR = 4;

/**
 * Finds a page in partial pages. Returns a full page of nearby matches, or all matches if an index finds them quickly. Otherwise returns
 * the nearby matches, and the next request continues after them (docs/decisions/0099).
 */
export async function listInPartialPages(
  database: Database,
  projectId: string,
  conditionsFor: ConditionsFor,
  request: ContactPageRequest,
): Promise<Found> {
  const near = await scanOn(database, projectId, await conditionsFor("few"), request);
  if (request.isLooking) return near;
  const isFirst = request.after === null;
  const isAll = near.looked === undefined && near.rows.length <= fittingLimit(request.limit, near.rows);
  if (isAll) return { ...near, total: isFirst ? near.rows.length : 0 };
  const isRare = near.rows.length * MANY_NEAR < request.limit;
  if (!isRare && !isCounted(request)) return near;
  const conditions = await conditionsFor("all");
  if (isRare) {
    const few = await quickly(database, INDEX_MS, (tx) =>
      listFewContactRows(tx, projectId, conditions, request),
    );
    if (few !== null) return { rows: few.rows, total: isFirst ? few.found : 0 };
    // Counting would not be quick either.
    if (request.withTotal === "quick") return near;
  }
  return { ...near, total: isCounted(request) ? await count(database, projectId, conditions, request) : 0 };
}

/**
 * Checks the contacts next in order. The first request checks one range, and a continuing search checks more until it finds a match or time
 * is up.
 */
async function scanOn(
  database: Database,
  projectId: string,
  conditions: Conditions,
  request: ContactPageRequest,
): Promise<Found> {
  const endMs = performance.now() + (request.isLooking ? PARTIAL_PAGE_MS : 0);
  let { after } = request;
  for (let looked = SCAN_CONTACTS; ; looked += SCAN_CONTACTS) {
    const place = { ...request, after, look: SCAN_CONTACTS };
    const [rows, end] = await Promise.all([
      listContactRowsNearby(database, projectId, conditions, place),
      findNearbyEnd(database, projectId, place),
    ]);
    if (end === undefined) return { rows, total: 0 };
    if (rows.length > 0 || performance.now() >= endMs)
      return { rows, total: 0, looked: { count: looked, end } };
    after = end;
  }
}

/** Projects up to this size are always counted. It takes tens of milliseconds, or about a hundred on a busy machine. */
const FEW_CONTACTS = 20_000;

/** Returns the number of matches. Returns 0 if a quick total is requested and counting exceeds its time limit. */
async function count(
  database: Database,
  projectId: string,
  conditions: Conditions,
  { withTotal }: ContactPageRequest,
): Promise<number> {
  if (withTotal !== "quick" || !(await hasMoreContacts(database, projectId, FEW_CONTACTS)))
    return countContacts(database, projectId, conditions);
  const counted = await quickly(database, LIMITS.quickTotal.value, (tx) =>
    countContacts(tx, projectId, conditions),
  );
  return counted ?? 0;
}

/** Returns the result, or null if the time limit is exceeded. */
async function quickly<HttpResponse>(
  database: Database,
  timeoutMs: number,
  ask: (tx: Tx) => Promise<HttpResponse>,
): Promise<HttpResponse | null> {
  const asking = transaction(database, async (tx) => {
    await limitStatements(tx, timeoutMs);
    return ask(tx);
  });
  return asking.catch((error: unknown) => {
    if (!isOutOfTime(error)) throw error;
    return null;
  });
}
