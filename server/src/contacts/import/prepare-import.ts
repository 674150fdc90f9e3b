// Validates an import file as a whole and maps its columns. It needs no database, so it runs on a thread for large files.
import { findTable } from "@postloft/contract/contact-file/find-table.ts";
import type { FileTable, GivenColumn, MappedColumn } from "@postloft/contract/contact-file/mapping.ts";
import { proposeMapping, SAMPLE_ROWS } from "@postloft/contract/contact-file/propose-mapping.ts";
import { unknownWords, unusedStatuses } from "@postloft/contract/contact-file/propose-statuses.ts";
import { resolveMapping } from "@postloft/contract/contact-file/resolve-mapping.ts";
import type { ImportWarning } from "@postloft/contract/contact-file/warnings.ts";
import type { UploadedFile } from "@postloft/contract/field.ts";
import { LIMITS } from "@postloft/contract/limits/limits.ts";
import { createCsvReader } from "@postloft/contract/read-csv.ts";
import { withValues, type ErrorMessage } from "@postloft/contract/translation.ts";
import { findHostileValues } from "../../platform/http/body.ts";
import { invalidField, AppError } from "../../platform/app-error.ts";
import type { ImportInput, ImportOptions } from "./import-input.ts";
import { readUpload } from "./read-upload.ts";

export interface PreparedImport {
  input: ImportInput;
  /** The rows below the header. */
  bytes: Buffer;
}

/** File options set by the caller, in addition to the options of the job. */
export interface FileOptions {
  /** Columns set by the caller. All others are mapped automatically. */
  mapping: readonly GivenColumn[];
  /** Number of rows in the original file before this part, so that reports use the original row numbers. */
  rowOffset: number;
  /** Keys of `data` that are fields of the project. */
  knownKeys: ReadonlySet<string>;
  /** Whether the import uses only the addresses and ignores all other columns. */
  isOnlyAddresses?: boolean;
}

/** Options for files of which only the addresses are used. */
export const ADDRESS_FILE: FileOptions = {
  mapping: [],
  rowOffset: 0,
  knownKeys: new Set(),
  isOnlyAddresses: true,
};

/**
 * Finds the table of a file and maps its columns.
 * @throws AppError VALIDATION_ERROR for `file` or `mapping`, with every problem that is visible without reading each row.
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
      withValues("The file may have at most {most} bytes. Send it in parts, each with the header row.", {
        most: LIMITS.importFileBytes.value,
      }),
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
  const unclosed = findUnclosedRow(rows, table.separator);
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

/** @throws AppError VALIDATION_ERROR for `file` if the header is missing, unreadable or too wide. */
function tableOf(text: string): FileTable {
  const { table, problem } = findTable(text);
  if (problem !== undefined) {
    const { row, fault } = problem;
    const why = fault === null ? "It has no column names." : fault.text;
    throw invalidField(
      "file",
      "custom",
      withValues("The first row cannot be read: {why}{place}", {
        why,
        place: row === null ? "" : ` (row ${row})`,
      }),
    );
  }
  const most = LIMITS.importColumns.value;
  if (table.names.length > most)
    throw invalidField(
      "file",
      "custom",
      withValues(
        "There are {count} columns, but at most {most} are allowed. Delete the ones you don't need.",
        { count: table.names.length, most },
      ),
    );
  return table;
}

function ignoredUnlessAddress(column: MappedColumn): MappedColumn {
  return column.target === "email" ? column : { ...column, target: "ignore", field: null, values: null };
}

/** Returns the first readable rows. */
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

/** @throws AppError VALIDATION_ERROR with each invalid column. */
function columnsOf(
  table: FileTable,
  proposed: readonly MappedColumn[],
  mapping: readonly GivenColumn[],
): MappedColumn[] {
  const { columns, problems } = resolveMapping(table, proposed, mapping);
  if (problems !== undefined) {
    const fields = problems.map(({ item, message, translation }) => ({
      field: item === null ? "file" : `mapping.${item}`,
      code: "custom" as const,
      message,
      translation,
    }));
    throw new AppError("VALIDATION_ERROR", {
      fields: [...new Map(fields.map((one) => [one.field, one])).values()],
    });
  }
  for (const { position, field } of columns) {
    const problem =
      field === null ? undefined : findHostileValues(Object.fromEntries([[field, 0]])).problems[0];
    if (problem !== undefined)
      throw invalidField(
        "file",
        "custom",
        withValues("Column {position} cannot be a key of data: {why}", { position, why: problem.message }),
      );
  }
  return columns;
}

/** Keeps warnings of the proposal only for columns that are mapped as proposed. */
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

function unclosedProblem(row: number): ErrorMessage {
  return withValues(
    "Row {row} opens a quoted cell that is never closed. Close it, or double the quote if it belongs to the text.",
    { row },
  );
}

/** Returns the number of the row with an unclosed quote, counted from 1, or null. Such a row swallows the rest of the file. */
function findUnclosedRow(text: string, separator: string): number | null {
  if (!text.includes('"')) return null;
  const reader = createCsvReader(text, separator, true);
  for (let number = 1; ; number++) {
    const row = reader.next();
    if (row === null) return null;
    if (row.kind === "fault" && row.isUnclosed) return number;
  }
}
