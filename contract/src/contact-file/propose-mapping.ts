// Proposes a mapping for each column of a file from the headers and the first rows.
import { isNothing, readTextCell } from "../cell.ts";
import { looksLikeAddress } from "./clean-address.ts";
import { emailRank, mayNameAddresses } from "./column-names.ts";
import { exactKey, isOwnName, KEY_WAYS, ownKey, type KeyOptions } from "./field-names.ts";
import { unnamed } from "./find-table.ts";
import type { DateOrder, FileTable, MappedColumn } from "./mapping.ts";
import { dateFormOf } from "./read-value.ts";
import { proposeStatuses, unusedStatuses, type SampledColumn } from "./propose-statuses.ts";
import { warnOf, type ImportWarning } from "./warnings.ts";

/** Number of rows that show the content of a column. */
export const SAMPLE_ROWS = 1_000;

export interface ProposedMapping {
  /** One per column, in order. No column has the target `email` if none can be identified. */
  columns: MappedColumn[];
  warnings: ImportWarning[];
}

/**
 * Proposes a complete mapping. `sampleRows` are the first data rows, at most `SAMPLE_ROWS`. A caller that read the whole file can add one
 * row for each further status word.
 */
export function proposeMapping(
  table: FileTable,
  sampleRows: ReadonlyArray<readonly string[]>,
  options: KeyOptions = { keys: "readable" },
): ProposedMapping {
  const columns = table.names.map((name, at): SampledColumn => ({
    position: at + 1,
    name: name === "" ? unnamed(at) : name,
    cells: sampleRows.map((row) => row[at] ?? "").filter((cell) => !isNothing(cell)),
  }));
  const email = emailColumnOf(columns);
  const others = columns.filter((column) => column !== email);
  const statuses = proposeStatuses(others, sampleRows);
  const keys = keysOf(
    table,
    others.filter(({ position }) => !statuses.has(position)),
    options,
  );
  const warnings: ImportWarning[] = tableWarnings(table);
  const mapped = columns.map((column): MappedColumn => {
    const { position, name } = column;
    const base = { position, name, field: null, type: "auto", dateFormat: null, values: null } as const;
    if (column === email) {
      const why = emailRank(name) === null ? "values" : "name";
      return { ...base, target: "email", why };
    }
    const status = statuses.get(position);
    if (status !== undefined) return { ...base, target: "status", values: status.values, why: status.why };
    const key = keys.get(position);
    if (key === undefined) return { ...base, target: "ignore", why: "own" };
    const isUnnamed = table.names[position - 1] === "" || !table.hasHeader;
    if (table.names[position - 1] === "" && column.cells.length > 0)
      warnings.push(warnOf("column.unnamed", { position, key }, column));
    const date = proposeDate(column);
    if (date.ambiguous !== null) warnings.push(warnOf("date.ambiguous", { example: date.ambiguous }, column));
    const why = isUnnamed ? "unnamed" : key === readTextCell(name) ? "name" : "other";
    return { ...base, target: "field", field: key, type: date.type, dateFormat: date.order, why };
  });
  return { columns: mapped, warnings: [...warnings, ...unusedStatuses(mapped, sampleRows)] };
}

function tableWarnings({ hasHeader, rowsAbove }: FileTable): ImportWarning[] {
  return [
    ...(hasHeader ? [] : [warnOf("header.none", {})]),
    ...(rowsAbove === 0 ? [] : [warnOf("rows.above", { count: rowsAbove })]),
  ];
}

/** The share of values that must be addresses if only the values identify the email column. */
const MOSTLY = 0.5;

const countAddresses = ({ cells }: SampledColumn) => cells.filter(looksLikeAddress).length;
const isOfAddresses = (column: SampledColumn) =>
  column.cells.length > 0 && countAddresses(column) > column.cells.length * MOSTLY;

/** Returns the email column by its name, unless its values are something else and another column contains addresses. */
function emailColumnOf(columns: readonly SampledColumn[]): SampledColumn | undefined {
  const named = columns
    .flatMap((column) => {
      const rank = emailRank(column.name);
      return rank === null ? [] : [{ column, rank }];
    })
    .toSorted((one, other) => one.rank - other.rank)
    .map(({ column }) => column);
  const sure = named.find((column) => countAddresses(column) > 0);
  if (sure !== undefined) return sure;
  const likely = columns.find((column) => mayNameAddresses(column.name) && isOfAddresses(column));
  if (likely !== undefined) return likely;
  const byValues = columns.filter(isOfAddresses);
  return byValues.length === 1 ? byValues[0] : named[0];
}

/** Returns the key of each column that becomes a field. Headers with the same text share one key, which resolving the mapping reports. */
function keysOf(
  { names, hasHeader }: FileTable,
  columns: readonly SampledColumn[],
  options: KeyOptions,
): Map<number, string> {
  const keys = new Map<number, string>();
  const byName = new Map<string, string>();
  const taken = new Set<string>();
  const isNamed = ({ position }: SampledColumn) => hasHeader && names[position - 1] !== "";
  const fields = columns.filter((column) => !(isNamed(column) && isOwnName(readTextCell(column.name))));
  const assign = ({ name, position }: SampledColumn, key: string) => {
    keys.set(position, key);
    byName.set(name, key);
    taken.add(key);
  };
  const assignEach = (keyOf: (column: SampledColumn) => string | null) => {
    for (const column of fields) {
      if (keys.has(column.position)) continue;
      const key = isNamed(column) ? (byName.get(column.name) ?? keyOf(column)) : null;
      if (key !== null) assign(column, key);
    }
  };
  assignEach(({ name }) => exactKey(name, options));
  for (const way of KEY_WAYS)
    assignEach(({ name }) => {
      const key = way(name);
      return key === null || taken.has(key) ? null : key;
    });
  for (const column of fields)
    if (!keys.has(column.position))
      assign(column, byName.get(column.name) ?? ownKey(column.name, column.position, taken));
  return keys;
}

interface ProposedDate {
  type: "auto" | "date";
  order: DateOrder | null;
  /** A date with two possible readings, if no other value shows the order. */
  ambiguous: string | null;
}

/** Dates with a blank instead of `T` and similar forms need no type, because each value is recognizable as a date. */
function proposeDate({ cells }: SampledColumn): ProposedDate {
  const none: ProposedDate = { type: "auto", order: null, ambiguous: null };
  let orders: readonly DateOrder[] | null = null;
  for (const cell of cells) {
    const form = dateFormOf(cell);
    if (form === "none") return none;
    if (form !== "sure") orders = orders === null ? form : orders.filter((order) => form.includes(order));
    if (orders?.length === 0) return none;
  }
  if (orders === null) return cells.length === 0 ? none : { type: "date", order: null, ambiguous: null };
  const [order = null] = orders;
  if (orders.length === 1) return { type: "date", order, ambiguous: null };
  return { ...none, ambiguous: cells.find((cell) => Array.isArray(dateFormOf(cell))) ?? "" };
}
