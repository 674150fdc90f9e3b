// From the bytes of an upload to its text, or to a sentence that says why it is none and what to do. Pure.
// Before it: routes.ts has the file. After it: read-header.ts reads the first row.

export type DecodedFile = { ok: true; text: string } | { ok: false; problem: string };

/** How files that are no CSV begin, in hexadecimal. */
const OTHER_FORMATS: ReadonlyArray<{ start: string; problem: string }> = [
  {
    start: "504b0304",
    problem: "This is an Excel workbook or a ZIP archive. Save the sheet as CSV (UTF-8) and send that.",
  },
  { start: "504b0506", problem: "This is an empty ZIP archive. Send the CSV file itself." },
  {
    start: "d0cf11e0",
    problem: "This is an old Excel workbook. Save the sheet as CSV (UTF-8) and send that.",
  },
  { start: "1f8b", problem: "This is a gzip archive. Send the CSV file itself." },
  { start: "25504446", problem: "This is a PDF. Send a CSV file." },
];
const LONGEST_START = 4;

/** UTF-8, or UTF-16 where a byte order mark says so; the mark is dropped. */
export function decodeFile(bytes: Uint8Array): DecodedFile {
  const start = Buffer.from(bytes.subarray(0, LONGEST_START)).toString("hex");
  const other = OTHER_FORMATS.find((format) => start.startsWith(format.start));
  if (other !== undefined) return { ok: false, problem: other.problem };
  const encoding = start.startsWith("fffe") ? "utf-16le" : start.startsWith("feff") ? "utf-16be" : "utf-8";
  let text: string;
  try {
    text = new TextDecoder(encoding, { fatal: true }).decode(bytes);
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    return { ok: false, problem: `The file is not valid ${encoding.toUpperCase()}. Save it as CSV (UTF-8).` };
  }
  if (text.includes("\u0000"))
    return {
      ok: false,
      problem:
        "The file holds NUL characters: it is no text, or UTF-16 without a byte order mark. Save it as CSV (UTF-8).",
    };
  if (text.trim() === "")
    return { ok: false, problem: "The file is empty. Its first row must name the columns." };
  return { ok: true, text };
}
