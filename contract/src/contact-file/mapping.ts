// The column mapping of an imported file, as callers send it and as results return it.
import { z } from "zod";
import { LIMITS } from "../limits/limits.ts";

export const COLUMN_TARGETS = ["email", "status", "field", "ignore"] as const;
export type ColumnTarget = (typeof COLUMN_TARGETS)[number];

/** From mildest to strictest. If columns of a row disagree, the strictest one wins. */
export const IMPORT_STATUSES = ["subscribed", "skip", "unsubscribed", "suppressed"] as const;
export type ImportStatus = (typeof IMPORT_STATUSES)[number];

export const VALUE_TYPES = ["auto", "text", "number", "boolean", "date"] as const;
export type ValueType = (typeof VALUE_TYPES)[number];

export const DATE_ORDERS = ["YMD", "DMY", "MDY"] as const;
export type DateOrder = (typeof DATE_ORDERS)[number];

/** The reason for a column's mapping. */
export const MAPPING_REASONS = ["given", "name", "values", "own", "unnamed", "other"] as const;
export type MappingReason = (typeof MAPPING_REASONS)[number];

/** Represents every non-empty word in `values` that is neither listed nor known. */
export const EVERY_OTHER = "*";

const target = z
  .enum(COLUMN_TARGETS)
  .describe("`email`: the address. `status`: the subscription status. `field`: a key of `data`. `ignore`.");
const type = z
  .enum(VALUE_TYPES)
  .describe("For a field. `auto` (default) detects numbers, booleans, ISO dates and JSON.");
const dateFormat = z
  .enum(DATE_ORDERS)
  .describe("Order of numeric dates such as `03/02/2024`. Not needed for ISO dates and month names.");
const values = z
  .record(z.string().max(LIMITS.dataKeyLength.value), z.enum(IMPORT_STATUSES))
  .describe(
    'For a status column, the status of each word. `""` means empty cells and `"*"` every other word. Words that are not listed keep their usual meaning.',
  );
const field = z
  .string()
  .max(LIMITS.dataKeyLength.value)
  .describe("The key of `data`, for the target `field`.");

/** One column with the caller's decision. All other columns are mapped automatically. */
export const columnDecision = z.strictObject({
  column: z
    .union([z.string().max(LIMITS.dataKeyLength.value * 4), z.int().min(1)])
    .describe("The header of the column, or its position, counted from 1."),
  target,
  field: field.optional(),
  type: type.optional(),
  dateFormat: dateFormat.optional(),
  values: values.optional(),
});
export type GivenColumn = z.output<typeof columnDecision>;

export const givenMapping = z.array(columnDecision).max(LIMITS.importColumns.value);

export const mappedColumn = z.object({
  position: z.int().describe("Counted from 1."),
  name: z.string().describe("The header of the column, or `Column 1` and so on without a header."),
  target,
  field: field.nullable(),
  type,
  dateFormat: dateFormat.nullable(),
  values: values.nullable(),
  why: z
    .enum(MAPPING_REASONS)
    .describe(
      "`given` by the caller, detected by `name` or `values`, the service's `own` column, `unnamed`, or any `other` name.",
    ),
});
export type MappedColumn = z.output<typeof mappedColumn>;

/** The location of the table in a file. */
export interface FileTable {
  separator: string;
  /** The header cells: `""` for an unnamed column, and `Column 1` and so on in a file without a header. */
  names: string[];
  hasHeader: boolean;
  /** The first data row, numbered as in a spreadsheet. */
  firstRow: number;
  /** The position of the first data row, in characters. */
  start: number;
  /** Rows with content above the header, which are not imported. */
  rowsAbove: number;
}
