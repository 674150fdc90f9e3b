// Reads the text of an uploaded file, which is CSV in any common encoding or a ZIP archive of CSV files.
import { decodeText, type NoText } from "@postloft/contract/contact-file/decode-text.ts";
import { joinFiles, withFileStatus, type NamedText } from "@postloft/contract/contact-file/join-files.ts";
import { warnOf, type ImportWarning } from "@postloft/contract/contact-file/warnings.ts";
import type { UploadedFile } from "@postloft/contract/field.ts";
import { withValues, type Wording } from "@postloft/contract/translation.ts";
import { noPause } from "./read-part.ts";
import { unzip } from "./unzip.ts";

export type ReadUpload = { text: string; warnings: ImportWarning[]; problem?: never } | { problem: Wording };

const ZIP = Buffer.from("504b0304", "hex");
const EMPTY_ZIP = Buffer.from("504b0506", "hex");
const PROBLEMS: Readonly<Record<NoText, string>> = {
  workbook: "This is an Excel workbook. Save the sheet as CSV (UTF-8) and send that.",
  archive: "This is a gzip archive. Send the CSV file itself.",
  pdf: "This is a PDF. Send a CSV file.",
  binary:
    "The file is not text. It has NUL or incomplete characters, or is UTF-16 without a byte order mark. Save it as CSV (UTF-8).",
};

/** Reads an upload. Warnings report a guessed encoding and joined files. */
export async function readUpload({ bytes, filename }: UploadedFile): Promise<ReadUpload> {
  const start = Buffer.from(bytes.subarray(0, ZIP.length));
  if (start.equals(EMPTY_ZIP)) return { problem: "This is an empty ZIP archive. Send the CSV file itself." };
  if (start.equals(ZIP)) return readArchive(bytes);
  const decoded = decodeText(bytes);
  if (decoded.problem !== undefined) return { problem: PROBLEMS[decoded.problem] };
  if (decoded.text.trim() === "")
    return { problem: "The file is empty. Its first row must name the columns." };
  const text = await withFileStatus({ name: filename ?? "", text: decoded.text }, noPause);
  return { text, warnings: decoded.isGuessed ? [warnOf("encoding.guessed", {})] : [] };
}

async function readArchive(bytes: Uint8Array): Promise<ReadUpload> {
  const unzipped = await unzip(bytes);
  if (unzipped.problem !== undefined) return unzipped;
  const texts: NamedText[] = [];
  let isGuessed = false;
  for (const file of unzipped.files) {
    const decoded = decodeText(file.bytes);
    if (decoded.problem !== undefined)
      return {
        problem: withValues("{file}: {problem}", { file: file.name, problem: PROBLEMS[decoded.problem] }),
      };
    if (decoded.text.trim() === "") continue;
    isGuessed ||= decoded.isGuessed;
    texts.push({ name: file.name, text: decoded.text });
  }
  if (texts.length === 0) return { problem: "The CSV files of the archive are empty." };
  const joined = await joinFiles(texts, noPause);
  if (joined.problem !== undefined) return joined;
  return {
    text: joined.text,
    warnings: [
      warnOf("archive.joined", { files: joined.files }),
      ...(isGuessed ? [warnOf("encoding.guessed", {})] : []),
    ],
  };
}
