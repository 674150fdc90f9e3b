// Converts a field's cell to a value of its column's type.
import { cellValue, isNothing, readTextCell } from "../cell.ts";
import type { DateOrder, MappedColumn, ValueType } from "./mapping.ts";
import { readDate } from "./read-date.ts";

export type DecimalSign = "point" | "comma";

/** `isOther` means that the cell does not have the type of its column and stays a text. Undefined for a cell without a value. */
export type ReadValue = { value: unknown; isOther: boolean } | undefined;

const YES_OR_NO: ReadonlyMap<string, boolean> = new Map([
  ...["true", "t", "yes", "y", "1", "x", "on", "ja", "oui", "sí", "si", "sim", "да"].map(
    (word) => [word, true] as const,
  ),
  ...["false", "f", "no", "n", "0", "off", "nein", "non", "não", "нет"].map((word) => [word, false] as const),
]);
/** Groups of three digits are separated by the other sign, a blank or an apostrophe. */
const WITH_POINT = /^-?(?:\d{1,15}|\d{1,3}(?:[, '\u00a0\u202f]\d{3})+)(?:\.\d+)?$/;
const WITH_COMMA = /^-?(?:\d{1,15}|\d{1,3}(?:[. '\u00a0\u202f]\d{3})+)(?:,\d+)?$/;
const GROUPS = { point: /[, '\u00a0\u202f]/g, comma: /[. '\u00a0\u202f]/g };
const LEADING_ZERO = /^-?0\d/;
const EXACT_DIGITS = 15;
/** Unambiguous numbers with a decimal comma: the number of digits after it is not three. */
const SURE_COMMA = /^-?(?:0|[1-9]\d*),(?:\d{1,2}|\d{4,})$|^-?[1-9]\d{0,2}(?:\.\d{3})+,\d+$/;
const ZERO_DATE = /^0{1,4}[/.-]0{1,2}[/.-]0{1,4}(?: 00:00(?::00)?)?$/;

/** Converts a cell by the type of its column. */
export function readValue(
  cell: string,
  { type, dateFormat }: Pick<MappedColumn, "type" | "dateFormat">,
  decimal: DecimalSign,
): ReadValue {
  if (isNothing(cell)) return undefined;
  if (type === "auto") return { value: autoValue(cell, decimal), isOther: false };
  if (cell.startsWith("'")) return { value: readTextCell(cell), isOther: type !== "text" };
  const value = VALUES[type](cell, dateFormat, decimal);
  if (value === undefined) return undefined;
  return value === null ? { value: cell, isOther: true } : { value, isOther: false };
}

function autoValue(cell: string, decimal: DecimalSign): unknown {
  const value = cellValue(cell);
  if (decimal === "point" || typeof value === "object") return value;
  // With a decimal comma, 1.500 can be one thousand five hundred or a version, so it stays a text.
  if (typeof value === "number") return cell.includes(".") ? cell : value;
  return value === cell && SURE_COMMA.test(cell.trim()) ? (numberOf(cell, decimal) ?? cell) : value;
}

type Reader = (cell: string, dateFormat: MappedColumn["dateFormat"], decimal: DecimalSign) => unknown;

/** Null if the cell does not have the type; undefined if it has no value. */
const VALUES: Readonly<Record<Exclude<ValueType, "auto">, Reader>> = {
  text: (cell) => cell,
  boolean: (cell) => YES_OR_NO.get(cell.trim().toLowerCase()) ?? null,
  number: (cell, _dateFormat, decimal) => numberOf(cell, decimal),
  date: (cell, dateFormat) => (ZERO_DATE.test(cell.trim()) ? undefined : readDate(cell, dateFormat)),
};

/** Returns null for an identifier such as `007` and for more digits than a number can represent. */
function numberOf(cell: string, decimal: DecimalSign): number | null {
  const text = cell.trim();
  const pattern = decimal === "comma" ? WITH_COMMA : WITH_POINT;
  if (!pattern.test(text) || LEADING_ZERO.test(text)) return null;
  const plain = text.replace(GROUPS[decimal], "").replace(",", ".");
  const value = Number(plain);
  const isExact = plain.replace(/[-.]/g, "").length <= EXACT_DIGITS || String(value) === plain;
  return isExact ? value : null;
}

/** `none` means no date. `sure` means a date in any order, or a missing date. Otherwise, the orders in which a numeric date is valid. */
export function dateFormOf(cell: string): "none" | "sure" | readonly DateOrder[] {
  const text = cell.trim();
  if (ZERO_DATE.test(text) || readDate(text, null) !== null) return "sure";
  const orders = (["DMY", "MDY"] as const).filter((order) => readDate(text, order) !== null);
  return orders.length === 0 ? "none" : orders;
}
