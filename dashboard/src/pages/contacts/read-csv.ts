// A file that somebody chose becomes a table, or a sentence that says why it is none and what to do.
import { decodeText, type NoText } from "@postloft/contract/contact-file/decode-text.ts";
import { LIMITS } from "@postloft/contract/limits.ts";
import { CallError } from "../../api/call.ts";
import { t } from "../../text/t.ts";
import { formatBytes } from "../../ui/format.ts";
import { countRows, type CsvFile } from "./csv.ts";
import { readTable } from "./read-table.ts";
import { rowFaultText } from "./row-fault-text.ts";

const WHY_NOT: Readonly<Record<NoText, string>> = {
  workbook: t("This is an Excel workbook or a ZIP archive. Save the sheet as CSV (UTF-8) and choose that."),
  archive: t("This is an archive. Choose the CSV file itself."),
  pdf: t("This is a PDF. Choose a CSV file."),
  binary: t("This is not a text. Save the sheet as CSV (UTF-8) and choose that."),
};

const MOST_BYTES = LIMITS.importFileBytes.value;
/** UTF-16 takes twice as many bytes for the same letters as the UTF-8 that is sent. */
const MOST_BYTES_READ = 2 * MOST_BYTES;

/** @throws CallError that says how much an import takes, when it is more */
export function refuseLarge(bytes: number, most = MOST_BYTES): void {
  if (bytes <= most) return;
  throw new CallError(
    t("The file is too large: {size}, and an import takes {most} at most.", {
      size: formatBytes(bytes),
      most: formatBytes(MOST_BYTES),
    }),
    {
      suggestion: t("Split it into several files, each with the first row, and import one after the other."),
    },
  );
}

/** @throws CallError with a sentence for a person, when the file is no table or too large a one */
export async function readCsv(file: File): Promise<CsvFile> {
  refuseLarge(file.size, MOST_BYTES_READ);
  const decoded = decodeText(await bytesOf(file));
  if (decoded.problem !== undefined) throw new CallError(WHY_NOT[decoded.problem]);
  refuseLarge(new Blob([decoded.text]).size);
  const { unclosedRow, headerFault, table } = readTable(decoded.text);
  if (unclosedRow !== undefined)
    throw new CallError(
      t(
        "Row {row} opens a quoted cell that is never closed. Close it, or double the quote if it belongs to the text.",
        { row: unclosedRow },
      ),
    );
  if (headerFault !== undefined)
    throw new CallError(t("The first row cannot be read: {why}", { why: rowFaultText(headerFault) }));
  if (countRows(table) === 0) throw new CallError(t("There is nothing below the first row."));
  return { name: file.name, ...table, isGuessed: decoded.isGuessed };
}

async function bytesOf(file: File): Promise<Uint8Array> {
  try {
    return new Uint8Array(await file.arrayBuffer());
  } catch {
    // Moved or changed since it was chosen, or a folder that was dropped.
    throw new CallError(t("The file cannot be read. Choose it again."));
  }
}
