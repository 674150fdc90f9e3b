// How a page of contacts is found: along the order of the list, by the best index, or in pieces; and how many there are.
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
  /** Where those that were looked at end before the list does. */
  looked?: Looked;
}

interface Looked {
  count: number;
  /** The key of the last of them, as the order says. */
  end: string;
}

/** Whether somebody wants to know how many there are. */
const isCounted = ({ after, withTotal }: ContactPageRequest) => after === null && withTotal !== false;

/** An index has exactly these contacts in exactly this order. */
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

/** No piece of a look ends later, but for the statement that runs. */
const PIECE_MS = 60;
/** Twenty conditions on each of so many take that long. */
const PIECE_CONTACTS = 6_000;
/** What an index has is found in a few milliseconds. */
const INDEX_MS = 30;
/** Where so large a part of a page is near, many match: an index would have thousands. */
const MANY_NEAR = 4;

/**
 * The same in pieces: a page of those near; else all that match, where an index finds them quickly; else whoever was near, and the next
 * piece goes on behind them (docs/decisions/0099).
 */
export async function listInPieces(
  database: Database,
  projectId: string,
  conditionsFor: ConditionsFor,
  request: ContactPageRequest,
): Promise<Found> {
  const near = await lookOn(database, projectId, await conditionsFor("few"), request);
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
    // Nor would they be counted quickly.
    if (request.withTotal === "quick") return near;
  }
  return { ...near, total: isCounted(request) ? await count(database, projectId, conditions, request) : 0 };
}

/** Those that match among the next in order: at once one look, and while a look is under way until somebody is found or time is up. */
async function lookOn(
  database: Database,
  projectId: string,
  conditions: Conditions,
  request: ContactPageRequest,
): Promise<Found> {
  const endMs = performance.now() + (request.isLooking ? PIECE_MS : 0);
  let { after } = request;
  for (let looked = PIECE_CONTACTS; ; looked += PIECE_CONTACTS) {
    const place = { ...request, after, look: PIECE_CONTACTS };
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

/** So many contacts are counted whatever it takes: tens of milliseconds, of which a busy machine makes a hundred. */
const FEW_CONTACTS = 20_000;

/** How many meet the conditions; 0 where a quick total is asked for and that was not to be found out in its time. */
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

/** What is found in so many milliseconds; null where that is not enough. */
async function quickly<Answer>(
  database: Database,
  timeoutMs: number,
  ask: (tx: Tx) => Promise<Answer>,
): Promise<Answer | null> {
  const asking = transaction(database, async (tx) => {
    await limitStatements(tx, timeoutMs);
    return ask(tx);
  });
  return asking.catch((error: unknown) => {
    if (!isOutOfTime(error)) throw error;
    return null;
  });
}
