// What one row of an imported file means for a contact, or what is wrong with it. Pure.
// Before it: contract/src/read-csv.ts made cells of the row, read-header.ts named the columns. After it: import-contacts.ts applies the change.
import { parseAddress } from "@postloft/contract/address.ts";
import { exceedsBytes } from "@postloft/contract/field.ts";
import { readTextCell } from "@postloft/contract/cell.ts";
import { LIMITS } from "@postloft/contract/limits.ts";
import { faultOfSurplus } from "@postloft/contract/read-csv.ts";
import { faultOfRow, type RowFault } from "@postloft/contract/row-faults.ts";
import { readCell } from "../cell-text.ts";
import { readDataPatch, type DataPatch } from "../rules.ts";
import type { Column } from "./read-header.ts";

export interface RowChange {
  /** Canonical. */
  email: string;
  /** Missing: a contact keeps its state, and is subscribed when it is new. */
  subscribed?: boolean;
  patch: DataPatch;
}

const SUBSCRIBED: ReadonlyMap<string, boolean> = new Map([
  ...["true", "1", "yes", "y"].map((word) => [word, true] as const),
  ...["false", "0", "no", "n"].map((word) => [word, false] as const),
]);
const SHOWN_CHARS = 60;
/** Below this the data cannot have too many bytes as JSON, where one character of a cell takes six at most. */
const SURELY_SMALL_CHARS = LIMITS.dataBytes.value / 32;

/** A row below the header as a change, or its first fault. */
export function readRow(columns: readonly Column[], cells: readonly string[]): RowChange | RowFault {
  const address = parseAddress(readTextCell(cells[0] ?? ""));
  if (!address.ok) return address.fault;
  const surplus = faultOfSurplus(cells, columns.length + 1);
  if (surplus !== null) return surplus;
  const data: Record<string, unknown> = {};
  const change: { subscribed?: boolean } = {};
  let chars = 0;
  for (const [at, column] of columns.entries()) {
    const cell = cells[at + 1] ?? "";
    if (cell === "" || column.kind === "ignored") continue;
    if (column.kind === "subscribed") {
      const subscribed = SUBSCRIBED.get(readTextCell(cell).trim().toLowerCase());
      if (subscribed === undefined)
        return faultOfRow("row.subscribed", {
          column: "subscribed",
          value: JSON.stringify(cell.slice(0, SHOWN_CHARS)),
        });
      change.subscribed = subscribed;
      continue;
    }
    const read = readCell(cell);
    if ("fault" in read) return faultOfRow("row.value", { key: column.key, why: read.fault });
    data[column.key] = read.value;
    chars += column.key.length + cell.length;
  }
  if (chars > SURELY_SMALL_CHARS && exceedsBytes(JSON.stringify(data), LIMITS.dataBytes.value))
    return faultOfRow("row.dataLong", { most: LIMITS.dataBytes.value });
  return { email: address.address, ...change, patch: readDataPatch(data) };
}
