// Writes errors.csv with each rejected row and the reason. A corrected file can be imported again.
import { isFormula, plainValue, quoteCell } from "@postloft/contract/cell.ts";
import { ERROR_COLUMNS } from "@postloft/contract/contact-file/field-names.ts";
import type { MappedColumn } from "@postloft/contract/contact-file/mapping.ts";
import type { Database } from "../../platform/database/database.ts";
import { findJobInput, listJobErrors, type JobError } from "../../platform/background/jobs.ts";
import { readInput } from "./import-input.ts";

const ERRORS_A_CHUNK = 1_000;

/** Yields all errors of an import so far as lines of CSV, one chunk at a time. */
export async function* writeImportErrors(
  database: Database,
  projectId: string,
  id: string,
): AsyncGenerator<string> {
  const { columns } = readInput(await findJobInput(database, { projectId, id }));
  const own = new Set<string>(ERROR_COLUMNS);
  const kept = columns.filter(({ name }) => !own.has(name));
  yield lineOf([...kept.map(({ name }) => name), ...ERROR_COLUMNS]);
  for (let afterRow = 0; ;) {
    const errors = await listJobErrors(database, { projectId, id }, { afterRow, limit: ERRORS_A_CHUNK });
    const last = errors.at(-1);
    if (last === undefined) return;
    yield errors.map((error) => lineOf(cellsOf(error, columns, kept))).join("");
    if (errors.length < ERRORS_A_CHUNK) return;
    afterRow = last.row;
  }
}

/** Surplus cells without a column follow the reason, so that all others stay under their header. */
function cellsOf(
  { row, subject, error, cells }: JobError,
  columns: readonly MappedColumn[],
  kept: readonly MappedColumn[],
): string[] {
  const original = cells ?? columns.map(({ target }) => (target === "email" ? subject : ""));
  const surplus = original.slice(columns.length).filter((cell) => cell !== "");
  return [...kept.map(({ position }) => original[position - 1] ?? ""), String(row), error, ...surplus];
}

/** Cells are written unchanged, except that formulas are escaped for spreadsheets. */
function lineOf(cells: readonly string[]): string {
  return `${cells.map((cell) => quoteCell(runs(cell) ? `'${cell}` : cell)).join(",")}\r\n`;
}

const NUMBER = /^[-+]?[\d.,]+$/;

function runs(cell: string): boolean {
  return isFormula(cell) && typeof plainValue(cell) === "string" && !NUMBER.test(cell);
}
