// Cursor pages: newest first by id (UUIDv7). A cursor is opaque, names its list, and survives the deletion of its row.
// Before it: contract/field.ts `pageQuery`. After it: every list verb.
import { LIMITS } from "@postloft/contract/limits.ts";
import { isId } from "./ids.ts";
import { Refusal } from "./refusal.ts";

export interface PageRequest {
  limit: number;
  /** The id of the last item of the page before; null for the first page. */
  before: string | null;
}

export interface Page<Item> {
  data: Item[];
  cursor: string | null;
  hasMore: boolean;
}

/** @throws Refusal BAD_REQUEST for a cursor that is not one of this list's. */
export function readPage(
  list: string,
  query: { limit?: number | undefined; cursor?: string | undefined },
): PageRequest {
  const limit = query.limit ?? LIMITS.pageSizeDefault.value;
  if (query.cursor === undefined) return { limit, before: null };
  const [, before = ""] = Buffer.from(query.cursor, "base64url").toString("utf8").split(":");
  if (!isId(before) || cursorOf(list, before) !== query.cursor)
    throw new Refusal("BAD_REQUEST", { message: "The cursor is not one this list handed out." });
  return { limit, before };
}

function cursorOf(list: string, id: string): string {
  return Buffer.from(`${list}:${id}`).toString("base64url");
}

/** Makes the page of `limit + 1` rows that were read: the extra one only tells whether there is more. */
export function toPage<Row extends { id: string }, Item>(
  list: string,
  request: PageRequest,
  rows: readonly Row[],
  present: (row: Row) => Item,
): Page<Item> {
  const shown = rows.slice(0, request.limit);
  const hasMore = rows.length > request.limit;
  const last = shown.at(-1);
  return {
    data: shown.map(present),
    cursor: hasMore && last !== undefined ? cursorOf(list, last.id) : null,
    hasMore,
  };
}
