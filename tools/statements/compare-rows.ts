// Compares a declared row with the result of its statement: missing columns, other types, unexpected nulls. Pure.
import type { DeclaredField, DeclaredRow, Kind } from "./declared-rows.ts";
import type { RunStatement } from "./statement-record.ts";

/** JavaScript types of columns by type OID (see server/src/platform/database/database.ts for int8). */
const KINDS: Readonly<Record<number, Kind>> = {
  16: "boolean",
  17: "buffer",
  18: "string",
  19: "string",
  20: "number",
  21: "number",
  23: "number",
  25: "string",
  26: "number",
  700: "number",
  701: "number",
  705: "string",
  869: "string",
  1042: "string",
  1043: "string",
  1082: "date",
  1114: "date",
  1184: "date",
  1700: "string",
  2950: "string",
  1000: "boolean[]",
  1001: "buffer[]",
  1005: "number[]",
  1007: "number[]",
  1009: "string[]",
  1015: "string[]",
  // Arrays that the driver returns as texts, unlike their elements.
  1016: "string[]",
  1022: "number[]",
  1115: "date[]",
  1185: "date[]",
  1231: "number[]",
  2951: "string[]",
  // JSON may contain any value.
  114: "any",
  3802: "any",
  2278: "string",
};

/** @returns one sentence per fault */
export function faultsOfRow(declared: DeclaredRow, run: RunStatement): string[] {
  if (declared.fields === null) return [];
  const columns = new Map(run.columns);
  const named = Object.entries(declared.fields).flatMap(([name, field]) => {
    const oid = columns.get(name);
    if (oid === undefined) return field.mayBeMissing ? [] : [`no column "${name}" is returned`];
    return faultsOfColumn({ name, oid, isNull: run.nulls.includes(name) }, field);
  });
  const others = [...columns].flatMap(([name, oid]) =>
    declared.others === null || name in (declared.fields ?? {})
      ? []
      : faultsOfColumn({ name, oid, isNull: run.nulls.includes(name) }, declared.others),
  );
  return [...named, ...others];
}

function faultsOfColumn(
  { name, oid, isNull }: { name: string; oid: number; isNull: boolean },
  { kinds, mayBeNull }: DeclaredField,
): string[] {
  const kind = KINDS[oid];
  if (kind === undefined)
    return [`"${name}" has the type ${oid}, which tools/statements/compare-rows.ts does not know`];
  const fits = kinds.includes("any") || kind === "any" || kinds.some((one) => isKind(one, kind));
  return [
    ...(fits || kinds.length === 0 ? [] : [`"${name}" is ${kind}, declared as ${kinds.join(" | ")}`]),
    ...(isNull && !mayBeNull && !kinds.includes("any") ? [`"${name}" was null, declared as never null`] : []),
  ];
}

function isKind(declared: Kind, kind: Kind): boolean {
  if (declared === kind) return true;
  if (!declared.endsWith("[]") || !kind.endsWith("[]")) return false;
  const items = declared.slice(0, -2).split("|");
  return items.includes("any") || items.includes(kind.slice(0, -2));
}

export interface Comparison {
  /** One sentence per fault, with its place. */
  faults: string[];
  placesRun: number;
  /** Places of statements with used rows that no test ran. */
  placesNotRun: string[];
}

/** Compares each executed statement with the row declared at its place. */
export function compareRows(declared: readonly DeclaredRow[], run: readonly RunStatement[]): Comparison {
  const byPlace = new Map(declared.map((row) => [row.at, row]));
  const ran = new Set(run.map(({ at }) => at));
  const faults = run.flatMap((statement) => {
    const row = byPlace.get(statement.at);
    // Report it, because a statement that is no longer found would otherwise not be compared.
    if (row === undefined) return [`${statement.at}: nothing in the source runs a statement here`];
    return faultsOfRow(row, statement).map((fault) => `${statement.at}: ${fault}`);
  });
  const read = declared.filter(({ fields }) => fields !== null);
  return {
    faults: [...new Set(faults)].toSorted(),
    placesRun: ran.size,
    placesNotRun: read.map(({ at }) => at).filter((at) => !ran.has(at)),
  };
}
