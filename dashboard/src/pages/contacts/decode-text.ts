// From the bytes of a file that somebody chose to its text, or to why it is none. Pure. The server asks the same of what it is sent
// (server/src/contacts/import/decode-file.ts), but a file is made anew before it goes there. Before it: read-csv.ts.

export type NoText = "workbook" | "archive" | "pdf" | "binary";
export type DecodedText =
  | { text: string; isGuessed: boolean; problem?: never }
  | { text?: never; problem: NoText };

/** How files that are no CSV begin, in hexadecimal. */
const OTHER_FORMATS: ReadonlyArray<{ start: string; problem: NoText }> = [
  { start: "504b0304", problem: "workbook" },
  { start: "504b0506", problem: "archive" },
  { start: "d0cf11e0", problem: "workbook" },
  { start: "1f8b", problem: "archive" },
  { start: "25504446", problem: "pdf" },
];
const LONGEST_START = 4;

/**
 * UTF-16 where a byte order mark says so, else UTF-8, else what spreadsheets of Western Europe and America write; the mark is dropped.
 * The last is a guess: any byte is a letter of it.
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
  // No text has a NUL, and UTF-16 without a mark is full of them.
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
