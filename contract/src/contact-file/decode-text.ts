// Decodes the text of an uploaded or chosen file, or returns the reason why it is not a text.

export type NoText = "workbook" | "archive" | "pdf" | "binary";
export type DecodedText =
  | { text: string; isGuessed: boolean; problem?: never }
  | { text?: never; problem: NoText };

/** The first bytes of files that are not CSV, in hexadecimal. */
const OTHER_FORMATS: ReadonlyArray<{ start: string; problem: NoText }> = [
  { start: "504b0304", problem: "workbook" },
  { start: "504b0506", problem: "archive" },
  { start: "d0cf11e0", problem: "workbook" },
  { start: "1f8b", problem: "archive" },
  { start: "25504446", problem: "pdf" },
];
const LONGEST_START = 4;

/**
 * Decodes UTF-16 if the file has its byte order mark, else UTF-8, else Windows-1252, which spreadsheets of Western Europe and America
 * write. `isGuessed` is true for Windows-1252, because any bytes are a text in it. The byte order mark is dropped.
 */
export function decodeText(bytes: Uint8Array): DecodedText {
  const start = [...bytes.subarray(0, LONGEST_START)]
    .map((byte) => byte.toString(16).padStart(2, "0"))
    .join("");
  const other = OTHER_FORMATS.find((format) => start.startsWith(format.start));
  if (other !== undefined) return { problem: other.problem };
  const marked = start.startsWith("fffe") ? "utf-16le" : start.startsWith("feff") ? "utf-16be" : null;
  const sure = read(bytes, marked ?? "utf-8");
  const text = sure ?? (marked === null ? read(bytes, "windows-1252") : null);
  // A text contains no NUL characters, while UTF-16 without a byte order mark contains many.
  if (text === null || text.includes("\u0000")) return { problem: "binary" };
  return { text, isGuessed: sure === null };
}

function read(bytes: Uint8Array, encoding: string): string | null {
  try {
    return new TextDecoder(encoding, { fatal: true }).decode(bytes);
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    return null;
  }
}
