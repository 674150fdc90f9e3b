// Cursors of the contact list, with the sort order and the last key. Pure. The cursor contains the key itself, so that it survives the
// deletion of the contact.
import { parseAddress } from "@postloft/contract/address.ts";
import type { CONTACT_SORTS, SORT_DIRECTIONS, TOTALS } from "@postloft/contract/contacts.ts";
import { LIMITS } from "@postloft/contract/limits/limits.ts";
import { withValues } from "@postloft/contract/translation.ts";
import { isId } from "../platform/ids.ts";
import { AppError } from "../platform/app-error.ts";

export interface ContactOrder {
  sort: (typeof CONTACT_SORTS)[number];
  dir: (typeof SORT_DIRECTIONS)[number];
}

export interface ContactPageRequest {
  limit: number;
  order: ContactOrder;
  /** Whether the first page counts all matches. With `quick` it does so only within a time limit. */
  withTotal: boolean | "quick";
  /** The id or the address of the last contact of the previous page, depending on the order. Null for the first page. */
  after: string | null;
  /** Whether a page may be short, so that a long search returns partial pages. */
  isShort: boolean;
  /** Whether such a search is in progress, so that only the contacts next in order are checked. */
  isLooking: boolean;
}

/** Suffix in the cursor of a partial page. */
const LOOKING = "on";
const LIST = "contacts";
const SORTS = ["createdAt", "email"] satisfies Array<ContactOrder["sort"]>;
const DIRECTIONS = ["asc", "desc"] satisfies Array<ContactOrder["dir"]>;

/** @throws AppError BAD_REQUEST for a cursor that this list did not return, or one with another order than requested. */
export function readContactPage(query: {
  limit?: number | undefined;
  cursor?: string | undefined;
  sort?: ContactOrder["sort"] | undefined;
  dir?: ContactOrder["dir"] | undefined;
  withTotal?: boolean | (typeof TOTALS)[number] | undefined;
  shortPages?: boolean | undefined;
}): ContactPageRequest {
  const { limit = LIMITS.pageSizeDefault.value, shortPages: isShort = false } = query;
  const withTotal = query.withTotal === "quick" ? "quick" : String(query.withTotal ?? true) === "true";
  if (query.cursor === undefined) {
    const sort = query.sort ?? "createdAt";
    const order = { sort, dir: query.dir ?? (sort === "email" ? "asc" : "desc") } as const;
    return { limit, withTotal, order, after: null, isShort, isLooking: false };
  }
  const place = readCursor(query.cursor);
  if (place === null)
    throw new AppError("BAD_REQUEST", { message: "The cursor does not belong to this list." });
  const { order } = place;
  if ((query.sort ?? order.sort) !== order.sort || (query.dir ?? order.dir) !== order.dir)
    throw new AppError(
      "BAD_REQUEST",
      withValues(
        "The cursor belongs to a list sorted by {sort}, {dir}. Remove `sort` and `dir`, or start without a cursor.",
        { sort: order.sort, dir: order.dir },
      ),
    );
  return { limit, withTotal, ...place, isShort, isLooking: isShort && place.isLooking };
}

type Place = Pick<ContactPageRequest, "order" | "isLooking"> & { after: string };

function readCursor(cursor: string): Place | null {
  const parts = Buffer.from(cursor, "base64url").toString("utf8").split(":");
  const sort = SORTS.find((known) => known === parts[1]);
  const dir = DIRECTIONS.find((known) => known === parts[2]);
  const after = parts[3];
  if (sort === undefined || dir === undefined || after === undefined) return null;
  const order = { sort, dir };
  const isLooking = parts[4] === LOOKING;
  if (!isKey(order, after) || cursorAfter(order, after, isLooking) !== cursor) return null;
  return { order, after, isLooking };
}

function isKey({ sort }: ContactOrder, key: string): boolean {
  if (sort === "createdAt") return isId(key);
  const parsed = parseAddress(key);
  return parsed.ok && parsed.address === key;
}

/** Returns the cursor of the page after the contact with this key. `isContinuing` marks the cursor of a partial page. */
export function cursorAfter({ sort, dir }: ContactOrder, key: string, isContinuing: boolean): string {
  const place = `${LIST}:${sort}:${dir}:${key}`;
  return Buffer.from(isContinuing ? `${place}:${LOOKING}` : place).toString("base64url");
}
