// Imports: a file is looked at as a whole, refused or queued; then its state and its errors can be read.
// Before it: routes.ts. After it: import-step.ts works through the rows.
import { setImmediate as nextTurn } from "node:timers/promises";
import type { ImportResult } from "@postloft/contract/contact-import.ts";
import { LIMITS } from "@postloft/contract/limits.ts";
import { createCsvReader } from "@postloft/contract/read-csv.ts";
import type { Database, Tx } from "../../platform/database.ts";
import { isId } from "../../platform/ids.ts";
import { addJob, listJobErrors, readJob, type JobView } from "../../platform/jobs.ts";
import { invalidField, Refusal } from "../../platform/refusal.ts";
import { writeRow } from "../cell-text.ts";
import { decodeFile } from "./decode-file.ts";
import type { ImportInput } from "./import-step.ts";
import { readHeader } from "./read-header.ts";

/** A few milliseconds of reading. */
const ROWS_A_TURN = 20_000;

export interface PreparedImport {
  input: ImportInput;
  /** The rows below the header. */
  bytes: Buffer;
}

/** @throws Refusal VALIDATION_ERROR of `file` for everything that can be said without reading row by row. */
export async function prepareImport(
  file: Uint8Array,
  { dryRun, actor }: { dryRun: boolean; actor: string },
): Promise<PreparedImport> {
  if (file.length > LIMITS.importFileBytes.value)
    throw invalidField(
      "file",
      "too_big",
      `The file may have at most ${LIMITS.importFileBytes.value} bytes. Send it in parts, each with the first row.`,
    );
  const decoded = decodeFile(file);
  if (!decoded.ok) throw invalidField("file", "custom", decoded.problem);
  const read = readHeader(decoded.text);
  if (!read.ok) throw invalidField("file", "custom", read.problem);
  const { separator, columns, rows, end } = read.header;
  const text = decoded.text.slice(end);
  const unclosed = await findUnclosedRow(text, separator);
  if (unclosed !== null)
    throw invalidField(
      "file",
      "custom",
      `Row ${rows + unclosed} opens a quoted cell that is never closed. Close it, or double the quote if it belongs to the text.`,
    );
  const bytes = Buffer.from(text);
  const input = { dryRun, actor, separator, columns, firstRow: rows + 1, sizeBytes: bytes.length };
  return { input, bytes };
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

const ERRORS_A_CHUNK = 1_000;

/** All errors of an import so far as lines of CSV, a chunk of them at a time. */
export async function* writeImportErrors(
  database: Database,
  projectId: string,
  id: string,
): AsyncGenerator<string> {
  yield writeRow(["row", "email", "error"]);
  for (let afterRow = 0; ;) {
    const page = { afterRow, limit: ERRORS_A_CHUNK };
    const errors = await listJobErrors(database, { projectId, id }, page);
    const last = errors.at(-1);
    if (last === undefined) return;
    yield errors.map(({ row, subject, error }) => writeRow([row, subject, error])).join("");
    if (errors.length < ERRORS_A_CHUNK) return;
    afterRow = last.row;
  }
}
