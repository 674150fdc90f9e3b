// Turns a chosen file into a table with a proposed plan, or into an error that says why it can't be imported and what to do.
import { decodeText, type NoText } from "@postloft/contract/contact-file/decode-text.ts";
import { findTable } from "@postloft/contract/contact-file/find-table.ts";
import { joinFiles, withFileStatus } from "@postloft/contract/contact-file/join-files.ts";
import type { RowFault } from "@postloft/contract/row-faults.ts";
import { CallError } from "../../../api/call.ts";
import { t, translateMessage } from "../../../text/t.ts";
import { formatBytes } from "../../../ui/format.ts";
import { rowFaultText } from "../row-fault-text.ts";
import { NO_OPTIONS, type ChosenFile, type KnownFields, type PlannedTable } from "./import-plan.ts";
import { planColumns } from "./plan-table.ts";
import { surveyTable } from "./survey-table.ts";
import { createYield } from "./take-turns.ts";
import { unzipTables, ZIP_FILES_MAX, type ZipProblem } from "./unzip-tables.ts";

const WORKBOOK = t("This is an Excel workbook. Save the sheet as CSV (UTF-8) and choose that file.");
const WHY_NOT: Readonly<Record<NoText | ZipProblem, string>> = {
  workbook: WORKBOOK,
  archive: t("This archive can't be read. Unpack it and choose the CSV file."),
  damaged: t("This ZIP file can't be read. Unpack it and choose the CSV file."),
  noTable: t("This ZIP file contains no CSV file."),
  manyFiles: t("This ZIP file contains too many files. An import takes up to {most}.", {
    most: ZIP_FILES_MAX,
  }),
  large: t("The unpacked files are too large. Import them separately."),
  pdf: t("This is a PDF. Choose a CSV file."),
  binary: t("This isn't a text file. Save the sheet as CSV (UTF-8) and choose that file."),
};

/** A browser tab reads a file of this size without trouble. */
export const FILE_BYTES_MAX = 50 * 1024 * 1024;
const ZIP_START = "PK\u0003\u0004";

interface SourceFile {
  name: string;
  bytes: Uint8Array;
}

/**
 * Reads a chosen file and proposes how to import it.
 *
 * @throws CallError that says what is wrong with the file
 */
export async function readImportFile(file: File, known: KnownFields): Promise<ChosenFile> {
  if (file.size > FILE_BYTES_MAX) throw tooLarge(file.size);
  const planned = await planText(await textOf({ name: file.name, bytes: await bytesOf(file) }), known);
  return { planned, options: NO_OPTIONS };
}

const tooLarge = (bytes: number) =>
  new CallError(
    t("The file is too large: {size}. You can import up to {most}.", {
      size: formatBytes(bytes),
      most: formatBytes(FILE_BYTES_MAX),
    }),
    { suggestion: t("Split it into several files that each start with the header.") },
  );

async function bytesOf(file: File): Promise<Uint8Array> {
  try {
    return new Uint8Array(await file.arrayBuffer());
  } catch {
    // The file was moved or changed after it was chosen, or a folder was dropped.
    throw new CallError(t("This file can't be read. Choose it again."));
  }
}

interface FileText extends Pick<PlannedTable, "name" | "text" | "isGuessed" | "files"> {}

/** The text of a file, or of all files of a ZIP joined into one. */
async function textOf(source: SourceFile): Promise<FileText> {
  const { name, bytes } = source;
  const isZip = [...ZIP_START].every((sign, at) => bytes[at] === sign.codePointAt(0));
  if (!isZip) {
    const { text, isGuessed } = decoded(bytes);
    return { name, files: null, text: await withFileStatus({ name, text }, createYield()), isGuessed };
  }
  const { files, problem } = await unzipTables(bytes, FILE_BYTES_MAX);
  if (problem !== undefined) throw new CallError(WHY_NOT[problem]);
  const texts = files
    .map((file) => ({ name: file.name, ...decoded(file.bytes) }))
    .filter(({ text }) => text.trim() !== "");
  if (texts.length === 0) throw new CallError(NO_CONTACTS);
  const joined = await joinFiles(texts, createYield());
  if (joined.problem !== undefined) throw new CallError(translateMessage(joined.problem));
  return { name, ...joined, isGuessed: texts.some(({ isGuessed }) => isGuessed) };
}

function decoded(bytes: Uint8Array): { text: string; isGuessed: boolean } {
  const read = decodeText(bytes);
  if (read.problem !== undefined) throw new CallError(WHY_NOT[read.problem]);
  return read;
}

async function planText(source: FileText, known: KnownFields): Promise<PlannedTable> {
  const { text } = source;
  const { table, problem } = findTable(text);
  if (problem !== undefined) {
    const { row, fault, isUnclosed } = problem;
    if (row === null || fault === null) throw new CallError(NO_CONTACTS);
    throw new CallError(isUnclosed ? unclosedText(row) : unreadableText(row, fault));
  }
  const { survey, sampleRows, unclosedRow } = await surveyTable(text, table);
  if (unclosedRow !== undefined) throw new CallError(unclosedText(unclosedRow));
  if (survey.rows === 0) throw new CallError(NO_CONTACTS);
  return { ...source, table, survey, columns: planColumns(table, survey, sampleRows, known) };
}

const NO_CONTACTS = t("This file has no contacts.");
const unreadableText = (row: number, fault: RowFault) =>
  t("Row {row} can't be read: {why}", { row, why: rowFaultText(fault) });

const unclosedText = (row: number) =>
  t(
    "Row {row} opens a quoted cell that is never closed. Close it, or double the quote if it belongs to the text.",
    {
      row,
    },
  );
