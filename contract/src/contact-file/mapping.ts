// The mapping of an imported file: what each of its columns becomes, as callers send it and as results show it.
import { z } from "zod";
import { LIMITS } from "../limits/limits.ts";

export const COLUMN_TARGETS = ["email", "status", "field", "ignore"] as const;
export type ColumnTarget = (typeof COLUMN_TARGETS)[number];

/** From the mildest to the strictest: where columns of a row disagree, the strictest wins. */
export const IMPORT_STATUSES = ["subscribed", "skip", "unsubscribed", "suppressed"] as const;
export type ImportStatus = (typeof IMPORT_STATUSES)[number];

export const VALUE_TYPES = ["auto", "text", "number", "boolean", "date"] as const;
export type ValueType = (typeof VALUE_TYPES)[number];

export const DATE_ORDERS = ["YMD", "DMY", "MDY"] as const;
export type DateOrder = (typeof DATE_ORDERS)[number];

/** Why a column is mapped as it is. */
export const MAPPING_REASONS = ["given", "name", "values", "own", "unnamed", "other"] as const;
export type MappingReason = (typeof MAPPING_REASONS)[number];

/** Stands in `values` for every word that is neither named nor known, and isn't empty. */
export const EVERY_OTHER = "*";

const target = z
  .enum(COLUMN_TARGETS)
  .describe("`email`: the address. `status`: the subscription status. `field`: a key of `data`. `ignore`.");
const type = z
  .enum(VALUE_TYPES)
  .describe(
    "Of a field. `auto` (default) makes numbers, booleans, ISO dates and JSON of values that look like them.",
  );
const dateFormat = z
  .enum(DATE_ORDERS)
  .describe("Order of numeric dates such as `03/02/2024`. ISO dates and month names need none.");
const values = z
  .record(z.string().max(LIMITS.dataKeyLength.value), z.enum(IMPORT_STATUSES))
  .describe(
    'Of a status column: what each word becomes. `""` means empty cells and `"*"` every other word. Words that are not named keep their usual meaning.',
  );
const field = z
  .string()
  .max(LIMITS.dataKeyLength.value)
  .describe("The key of `data`, for the target `field`.");

/** One column that the caller decides. Columns that are not named are mapped automatically. */
export const givenColumn = z.strictObject({
  column: z
    .union([z.string().max(LIMITS.dataKeyLength.value * 4), z.int().min(1)])
    .describe("The header of the column, or its position, counted from 1."),
  target,
  field: field.optional(),
  type: type.optional(),
  dateFormat: dateFormat.optional(),
  values: values.optional(),
});
export type GivenColumn = z.output<typeof givenColumn>;

export const givenMapping = z.array(givenColumn).max(LIMITS.importColumns.value);

export const mappedColumn = z.object({
  position: z.int().describe("Counted from 1."),
  name: z.string().describe("The header of the column; `Column 1` and so on where it has none."),
  target,
  field: field.nullable(),
  type,
  dateFormat: dateFormat.nullable(),
  values: values.nullable(),
  why: z
    .enum(MAPPING_REASONS)
    .describe(
      "`given` by the caller, by its `name`, by its `values`, as the service's `own` column, or as a column that is `unnamed` or has any `other` name.",
    ),
});
export type MappedColumn = z.output<typeof mappedColumn>;

/** Where the table of a file is. */
export interface FileTable {
  separator: string;
  /** The header cells; `""` where a column is unnamed, and `Column 1` and so on in a file without a header. */
  names: string[];
  hasHeader: boolean;
  /** The number of the first data row, as a spreadsheet counts. */
  firstRow: number;
  /** Where the first data row begins, in characters. */
  start: number;
  /** Rows with content above the header, which are not imported. */
  rowsAbove: number;
}
