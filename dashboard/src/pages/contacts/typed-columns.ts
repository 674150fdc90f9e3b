// What the values of a column become: what each says by itself, or all of them a text or a yes and no where that was chosen. Pure.
// Before it: contract/src/cell.ts, by which the API reads cells. After it: column-type.tsx shows it, csv.ts writes the file so.
import { cellValue, plainValue } from "@postloft/contract/cell.ts";
import { kindOf, type Kind } from "./own-data/field-value.ts";

/** Null: each value becomes what it says. */
export type ColumnType = "text" | "boolean" | null;

/** What stands for yes and for no in the languages of the dashboard; the API knows a value of its own only by `true` and `false`. */
const YES_OR_NO: ReadonlyMap<string, boolean> = new Map([
  ...["true", "yes", "y", "1", "x", "ja", "oui", "sí", "si"].map((word) => [word, true] as const),
  ...["false", "no", "n", "0", "nein", "non"].map((word) => [word, false] as const),
]);
const MARK = "'";

const readYesOrNo = (cell: string) => YES_OR_NO.get(cell.trim().toLowerCase());

/** A cell as it is written into the file, so that the API makes what was chosen of it. */
export function writeAs(cell: string, type: ColumnType): string {
  if (type === "boolean") return String(readYesOrNo(cell) ?? cell);
  if (type === null || cell.startsWith(MARK) || typeof plainValue(cell) === "string") return cell;
  return `${MARK}${cell}`;
}

/** How many values of a column become what; empty cells become nothing. The most frequent first. */
export function kindsOf(
  rows: readonly string[][],
  column: number,
  type: ColumnType,
): ReadonlyArray<readonly [Kind, number]> {
  const counts = new Map<Kind, number>();
  for (const row of rows) {
    const cell = row[column] ?? "";
    if (cell.trim() === "") continue;
    const kind = kindOf(cellValue(writeAs(cell, type)), undefined);
    counts.set(kind, (counts.get(kind) ?? 0) + 1);
  }
  return [...counts].toSorted(([, one], [, other]) => other - one);
}

/** What else than by itself a column can become, where that makes a difference. */
export function choicesFor(rows: readonly string[][], column: number): Array<"text" | "boolean"> {
  const kinds = kindsOf(rows, column, null).map(([kind]) => kind);
  const cells = rows.map((row) => row[column] ?? "").filter((cell) => cell.trim() !== "");
  const isYesOrNo = cells.length > 0 && cells.every((cell) => readYesOrNo(cell) !== undefined);
  return [
    ...(kinds.some((kind) => kind !== "text" && kind !== "day" && kind !== "instant")
      ? (["text"] as const)
      : []),
    ...(isYesOrNo && kinds.some((kind) => kind !== "boolean") ? (["boolean"] as const) : []),
  ];
}
