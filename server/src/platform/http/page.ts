// Implements cursor pagination, newest first by id (UUIDv7). A cursor is opaque, names its list and survives the deletion of its row. A
// page ends early if it would contain too many bytes.
import { formsOfAddressPart } from "@postloft/contract/address-part.ts";
import { LIMITS } from "@postloft/contract/limits/limits.ts";
import { sql, type RawBuilder, type SqlBool } from "kysely";
import { isId } from "../ids.ts";
import { AppError } from "../app-error.ts";

export interface PageRequest {
  limit: number;
  /** The id of the last item of the previous page, or null for the first page. */
  before: string | null;
}

export interface Page<Item> {
  data: Item[];
  cursor: string | null;
  hasMore: boolean;
}

/** Reads limit and cursor. @throws AppError BAD_REQUEST for a cursor of another list */
export function readPage(
  list: string,
  query: { limit?: number | undefined; cursor?: string | undefined },
): PageRequest {
  const limit = query.limit ?? LIMITS.pageSizeDefault.value;
  if (query.cursor === undefined) return { limit, before: null };
  const [, before = ""] = Buffer.from(query.cursor, "base64url").toString("utf8").split(":");
  if (!isId(before) || cursorOf(list, before) !== query.cursor)
    throw new AppError("BAD_REQUEST", { message: "The cursor does not belong to this list." });
  return { limit, before };
}

/** The bytes of the preceding rows, for pages that may end early. */
export interface RowOfBytes {
  bytesBefore: number;
}

/**
 * Returns the rows that fit into a response and one more as a sign that there are more. `order` and `size`, the bytes of a row, name
 * columns of `page`. Goes row by row, because measuring a large row takes milliseconds and no row is measured once the page is full.
 */
export function limitToPageBytes(
  page: RawBuilder<unknown>,
  { order, size }: { order: RawBuilder<unknown>; size: RawBuilder<unknown> },
): RawBuilder<unknown> {
  return sql`
    select * from (
      with recursive placed as materialized (
        select row_number() over (${order}) as place, p.* from (${page}) p
      ), walked (place, bytes_before) as (
        select 1::bigint, 0::float8
        union all
        select w.place + 1, w.bytes_before + (select ${size} from placed p where p.place = w.place)
        from walked w
        where w.bytes_before <= ${LIMITS.pageBytes.value} and w.place < (select count(*) from placed)
      )
      select p.*, w.bytes_before from walked w join placed p on p.place = w.place
    ) p ${order}`;
}

/** Returns how many rows of `limitToPageBytes` are on the page. */
export function fittingLimit(limit: number, rows: readonly RowOfBytes[]): number {
  const beyond = rows.findIndex((row) => row.bytesBefore > LIMITS.pageBytes.value);
  return beyond === -1 ? limit : Math.min(limit, beyond);
}

/** Returns a `like` pattern for values that contain this text, with `%`, `_` and `\` escaped. */
export function containing(text: string): string {
  return `%${beginningWith(text)}`;
}

/** Returns a `like` pattern for values that begin with this text. */
export function beginningWith(text: string): string {
  return `${text.replace(/[\\%_]/g, "\\$&")}%`;
}

/** Returns whether a column of canonical addresses contains this part of an address. */
export function containsAddressPart(column: string, part: string): RawBuilder<SqlBool> {
  const likes = formsOfAddressPart(part).map((form) => sql`${sql.ref(column)} like ${containing(form)}`);
  return sql<SqlBool>`(${sql.join(likes, sql` or `)})`;
}

/** Returns the cursor for the items before this id. */
export function cursorOf(list: string, id: string): string {
  return Buffer.from(`${list}:${id}`).toString("base64url");
}

/** Builds a page from `limit + 1` rows, of which the extra one only shows whether there are more. */
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
