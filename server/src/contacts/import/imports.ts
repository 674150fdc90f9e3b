// Imports: a file is checked as a whole, rejected or queued; then its state and its errors can be read.
import { setImmediate as nextTurn } from "node:timers/promises";
import { findTable } from "@postloft/contract/contact-file/find-table.ts";
import type { FileTable, GivenColumn, MappedColumn } from "@postloft/contract/contact-file/mapping.ts";
import { proposeMapping, SAMPLE_ROWS } from "@postloft/contract/contact-file/propose-mapping.ts";
import { unknownWords, unusedStatuses } from "@postloft/contract/contact-file/propose-statuses.ts";
import { resolveMapping } from "@postloft/contract/contact-file/resolve-mapping.ts";
import type { ImportWarning } from "@postloft/contract/contact-file/warnings.ts";
import type { ImportResult } from "@postloft/contract/contact-import.ts";
import type { UploadedFile } from "@postloft/contract/field.ts";
import { LIMITS } from "@postloft/contract/limits/limits.ts";
import { createCsvReader } from "@postloft/contract/read-csv.ts";
import type { Database, Tx } from "../../platform/database/database.ts";
import { findHostileValues } from "../../platform/http/body.ts";
import { isId } from "../../platform/ids.ts";
import { addJob, readJob, type JobView } from "../../platform/background/jobs.ts";
import { invalidField, Refusal } from "../../platform/refusal.ts";
import type { ImportInput, ImportOptions } from "./import-input.ts";
import { readUpload } from "./read-upload.ts";

/** A few milliseconds of reading. */
const ROWS_A_TURN = 20_000;

export interface PreparedImport {
  input: ImportInput;
  /** The rows below the header. */
  bytes: Buffer;
}

/** What the caller said of the file, beside the options of the job. */
export interface FileOptions {
  /** Columns that the caller decides; the others are mapped automatically. */
  mapping: readonly GivenColumn[];
  /** Rows of the original file before this part of it, so that rows are reported by their number there. */
  rowOffset: number;
  /** Keys of `data` that the project has. */
  knownKeys: ReadonlySet<string>;
  /** Whether only the addresses matter, whatever the other columns are. */
  isOnlyAddresses?: boolean;
}

/** For a file of which only the addresses matter. */
export const ADDRESS_FILE: FileOptions = {
  mapping: [],
  rowOffset: 0,
  knownKeys: new Set(),
  isOnlyAddresses: true,
};

/**
 * Finds the table of a file and the meaning of its columns.
 *
 * @throws Refusal VALIDATION_ERROR of `file` or `mapping` for everything that can be said without reading row by row.
 */
export async function prepareImport(
  file: UploadedFile,
  options: ImportOptions,
  { mapping, rowOffset, knownKeys, isOnlyAddresses = false }: FileOptions,
): Promise<PreparedImport> {
  if (file.bytes.length > LIMITS.importFileBytes.value)
    throw invalidField(
      "file",
      "too_big",
      `The file may have at most ${LIMITS.importFileBytes.value} bytes. Send it in parts, each with the first row.`,
    );
  const upload = await readUpload(file);
  if ("problem" in upload && upload.problem !== undefined)
    throw invalidField("file", "custom", upload.problem);
  const { text, warnings } = upload;
  const table = tableOf(text);
  const rows = text.slice(table.start);
  const sample = sampleOf(rows, table.separator);
  const proposed = proposeMapping(table, sample, { keys: "exact", known: knownKeys });
  const wanted = isOnlyAddresses ? proposed.columns.map(ignoredUnlessAddress) : proposed.columns;
  const columns = columnsOf(table, wanted, mapping);
  const unclosed = await findUnclosedRow(rows, table.separator);
  if (unclosed !== null) throw invalidField("file", "custom", unclosedProblem(table.firstRow + unclosed - 1));
  const bytes = Buffer.from(rows);
  const input: ImportInput = {
    ...options,
    separator: table.separator,
    columns,
    firstRow: table.firstRow + rowOffset,
    sizeBytes: bytes.length,
    warnings: [...warnings, ...warningsOf(proposed.warnings, columns, sample)],
  };
  return { input, bytes };
}

/** @throws Refusal VALIDATION_ERROR of `file` where there is no header that can be read, or too wide a one. */
function tableOf(text: string): FileTable {
  const { table, problem } = findTable(text);
  if (problem !== undefined) {
    const { row, fault } = problem;
    const why = fault === null ? "It names no columns." : fault.text;
    throw invalidField(
      "file",
      "custom",
      `The first row cannot be read: ${why}${row === null ? "" : ` (row ${row})`}`,
    );
  }
  const most = LIMITS.importColumns.value;
  if (table.names.length > most)
    throw invalidField(
      "file",
      "custom",
      `There are ${table.names.length} columns; at most ${most} are taken. Delete those that are not needed.`,
    );
  return table;
}

function ignoredUnlessAddress(column: MappedColumn): MappedColumn {
  return column.target === "email" ? column : { ...column, target: "ignore", field: null, values: null };
}

/** The first rows that can be read. */
function sampleOf(text: string, separator: string): string[][] {
  const reader = createCsvReader(text, separator, true);
  const sample: string[][] = [];
  for (let seen = 0; seen < SAMPLE_ROWS; seen++) {
    const row = reader.next();
    if (row === null) break;
    if (row.kind === "row") sample.push(row.cells);
  }
  return sample;
}

/** @throws Refusal VALIDATION_ERROR that names each column at fault. */
function columnsOf(
  table: FileTable,
  proposed: readonly MappedColumn[],
  mapping: readonly GivenColumn[],
): MappedColumn[] {
  const { columns, problems } = resolveMapping(table, proposed, mapping);
  if (problems !== undefined) {
    const fields = problems.map(({ item, message }) => ({
      field: item === null ? "file" : `mapping.${item}`,
      code: "custom" as const,
      message,
    }));
    throw new Refusal("VALIDATION_ERROR", {
      fields: [...new Map(fields.map((one) => [one.field, one])).values()],
    });
  }
  for (const { position, field } of columns) {
    const problem =
      field === null ? undefined : findHostileValues(Object.fromEntries([[field, 0]])).problems[0];
    if (problem !== undefined)
      throw invalidField("file", "custom", `Column ${position} cannot be a key of data: ${problem.message}`);
  }
  return columns;
}

/** Warnings of the proposal count only for columns that are mapped as proposed. */
function warningsOf(
  proposed: readonly ImportWarning[],
  columns: readonly MappedColumn[],
  sample: ReadonlyArray<readonly string[]>,
): ImportWarning[] {
  const isGiven = (position: number) => columns[position - 1]?.why === "given";
  const kept = proposed.filter(
    ({ code, position }) => code !== "status.unused" && (position === undefined || !isGiven(position)),
  );
  return [...kept, ...unusedStatuses(columns, sample), ...unknownWords(columns, sample)];
}

function unclosedProblem(row: number): string {
  return `Row ${row} opens a quoted cell that is never closed. Close it, or double the quote if it belongs to the text.`;
}

/** The number of the row that takes the rest of the file with it, counted from 1; null where there is none. */
async function findUnclosedRow(text: string, separator: string): Promise<number | null> {
  if (!text.includes('"')) return null;
  const reader = createCsvReader(text, separator, true);
  for (let number = 1; ; number++) {
    // Other requests have their turn meanwhile.
    if (number % ROWS_A_TURN === 0) await nextTurn();
    const row = reader.next();
    if (row === null) return null;
    if (row.kind === "fault" && row.isUnclosed) return number;
  }
}

/** Queues an import of a kind; returns the id of its job. */
export async function addImport(
  tx: Tx,
  projectId: string,
  kind: string,
  { input, bytes }: PreparedImport,
): Promise<string> {
  return addJob(tx, { projectId, kind, input, bytes });
}

/** @throws Refusal JOB_NOT_FOUND, the same for a job of another project or another kind. */
export async function getImport(
  database: Database,
  projectId: string,
  kind: string,
  id: string,
): Promise<JobView<ImportResult>> {
  const job = isId(id) ? await readJob<ImportResult>(database, { projectId, id }, [kind]) : undefined;
  if (job === undefined) throw new Refusal("JOB_NOT_FOUND");
  return job;
}
