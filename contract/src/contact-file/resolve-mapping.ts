// Combines the proposed mapping of a file with the caller's decisions, and checks the result as a whole.
import { LIMITS } from "../limits/limits.ts";
import { sharedKey } from "./column-names.ts";
import { exactKey, isOwnName, ownKey } from "./field-names.ts";
import type { FileTable, GivenColumn, MappedColumn } from "./mapping.ts";
import { asMessage, withValues, type ErrorMessage, type Wording } from "../translation.ts";

export interface MappingProblem extends ErrorMessage {
  /** The position in the given mapping, counted from 0; null if the file itself is the problem. */
  item: number | null;
  /** The position of the column, counted from 1; null if the column does not exist. */
  position: number | null;
}

export type ResolvedMapping =
  | { columns: MappedColumn[]; problems?: never }
  | { problems: MappingProblem[]; columns?: never };

const SHOWN_CHARS = 60;
const shown = (name: string | number) =>
  typeof name === "number" ? String(name) : JSON.stringify(name.slice(0, SHOWN_CHARS));

/** Applies the caller's decisions to the proposal. */
export function resolveMapping(
  table: FileTable,
  proposed: readonly MappedColumn[],
  input: readonly GivenColumn[],
): ResolvedMapping {
  const columns = [...proposed];
  const problems: MappingProblem[] = [];
  const decided = new Map<number, number>();
  for (const [item, one] of input.entries()) {
    const positions = positionsOf(table, columns, one.column);
    const [position] = positions;
    const column = position === undefined ? undefined : columns[position - 1];
    const problem =
      column === undefined || position === undefined
        ? withValues("The file has no column {column}. Its columns are {columns}.", {
            column: shown(one.column),
            columns: listOf(columns),
          })
        : positions.length > 1
          ? withValues("{count} columns are named {column}: {positions}. Use the position instead.", {
              count: positions.length,
              column: shown(one.column),
              positions: positions.join(", "),
            })
          : decided.has(position)
            ? withValues("The mapping contains the column {column} twice.", { column: shown(column.name) })
            : problemOf(one);
    if (problem !== null) problems.push({ item, position: position ?? null, ...asMessage(problem) });
    else if (column !== undefined && position !== undefined) {
      decided.set(position, item);
      columns[position - 1] = decide(column, one);
    }
  }
  // The column chosen by the caller replaces the proposed one.
  if ([...decided.keys()].some((position) => columns[position - 1]?.target === "email"))
    for (const [at, column] of columns.entries())
      if (column.target === "email" && !decided.has(column.position))
        columns[at] = { ...column, target: "ignore", why: "other" };
  if (problems.length === 0) problems.push(...problemsOf(columns, decided));
  return problems.length === 0 ? { columns } : { problems };
}

/** Looks for the exact header first, then for the header in any case. */
function positionsOf(table: FileTable, columns: readonly MappedColumn[], column: string | number): number[] {
  if (typeof column === "number") return column <= table.names.length ? [column] : [];
  const find = (isIt: (name: string) => boolean) =>
    columns.filter(({ name }) => isIt(name)).map(({ position }) => position);
  const exact = find((name) => name === column);
  const text = column.trim().toLowerCase();
  return exact.length > 0 ? exact : find((name) => name.trim().toLowerCase() === text);
}

function problemOf({ target, field, values, dateFormat, type }: GivenColumn): Wording | null {
  if (field !== undefined && target !== "field")
    return withValues("Only the target field can have a field, but this target is {target}.", { target });
  if (values !== undefined && target !== "status")
    return withValues("Only the target status can have values, but this target is {target}.", { target });
  if ((type !== undefined || dateFormat !== undefined) && target !== "field")
    return withValues("Only the target field can have type and dateFormat, but this target is {target}.", {
      target,
    });
  if (dateFormat !== undefined && type !== undefined && type !== "date")
    return withValues("Only the type date can have a dateFormat, but this type is {type}.", { type });
  if (field === undefined) return null;
  if (field.trim() === "") return "The field has no name.";
  return isOwnName(field)
    ? withValues("The field {field} is filled in by the service. Choose another name.", {
        field: shown(field),
      })
    : null;
}

function decide(column: MappedColumn, one: GivenColumn): MappedColumn {
  const base = {
    ...column,
    target: one.target,
    field: null,
    type: "auto",
    dateFormat: null,
    values: null,
    why: "given",
  } as const;
  if (one.target === "status") return { ...base, values: { ...column.values, ...one.values } };
  if (one.target !== "field") return base;
  const type = one.type ?? (one.dateFormat === undefined ? column.type : "date");
  const dateFormat = type === "date" ? (one.dateFormat ?? column.dateFormat) : null;
  return {
    ...base,
    field: one.field?.replace(/^data\./, "") ?? column.field ?? keyOf(column),
    type,
    dateFormat,
  };
}

/** Returns the key of a column with another proposed target. */
function keyOf({ name, position }: MappedColumn): string {
  return exactKey(name, { keys: "exact" }) ?? sharedKey(name) ?? ownKey(name, position, new Set());
}

function problemsOf(
  columns: readonly MappedColumn[],
  decided: ReadonlyMap<number, number>,
): MappingProblem[] {
  const emails = columns.filter(({ target }) => target === "email");
  const problems: MappingProblem[] = [];
  const notify = (column: MappedColumn, message: ErrorMessage) =>
    problems.push({ item: decided.get(column.position) ?? null, position: column.position, ...message });
  if (emails.length === 0)
    problems.push({
      item: null,
      position: null,
      ...withValues(
        "No column has email addresses. The columns are {columns}. Name one of them email, or map it to the target email.",
        { columns: listOf(columns) },
      ),
    });
  for (const other of emails.slice(1))
    notify(
      other,
      withValues("The columns {first} and {second} are both mapped to email.", {
        first: shown(emails[0]?.name ?? ""),
        second: shown(other.name),
      }),
    );
  const byField = new Map<string, MappedColumn>();
  const byName = new Map<string, MappedColumn>();
  for (const column of columns) {
    const { target, field, name, position } = column;
    const key = target === "field" ? (field ?? "") : null;
    const isIdentity = target === "email" || target === "status" || name.trim().toLowerCase() === "email";
    const same = isIdentity && !decided.has(position) ? byName.get(name.trim().toLowerCase()) : undefined;
    if (key === "")
      notify(
        column,
        withValues("Column {position} has no name. Name it in the first row, or map it.", { position }),
      );
    else if (key !== null && key.length > LIMITS.dataKeyLength.value)
      notify(
        column,
        withValues("Column {position} cannot be a key of data because it has more than {most} characters.", {
          position,
          most: LIMITS.dataKeyLength.value,
        }),
      );
    else if (same !== undefined || (key !== null && byField.has(key)))
      notify(column, sameName(column, same ?? byField.get(key ?? "")));
    if (key !== null) byField.set(key, byField.get(key) ?? column);
    if (isIdentity) byName.set(name.trim().toLowerCase(), column);
  }
  return problems;
}

function sameName({ position, name, field }: MappedColumn, other: MappedColumn | undefined): ErrorMessage {
  if (other === undefined || other.name.trim().toLowerCase() === name.trim().toLowerCase())
    return withValues(
      "Another column has the same name as column {position}: {name}. Rename or delete one of them, or map them by position.",
      { position, name: shown(name) },
    );
  return withValues(
    "Column {position} has the same name as column {other}: {first} and {second} both become the field {field}.",
    {
      position,
      other: other.position,
      first: shown(name),
      second: shown(other.name),
      field: shown(field ?? ""),
    },
  );
}

const COLUMNS_LISTED = 20;

function listOf(columns: readonly MappedColumn[]): string {
  const listed = columns.slice(0, COLUMNS_LISTED).map(({ name }) => shown(name));
  return columns.length > listed.length
    ? `${listed.join(", ")} and ${columns.length - listed.length} more`
    : listed.join(", ");
}
