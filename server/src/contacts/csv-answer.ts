// A file of CSV as an answer, written while it is read.
import { Readable } from "node:stream";
import { ok, type Answer } from "../platform/http/route.ts";

/** `lines` are whole lines, any number at a time, with the header first. */
export function csv(filename: string, lines: AsyncGenerator<string>): Answer<200, Readable> {
  return {
    ...ok(Readable.from(lines)),
    headers: {
      "content-type": "text/csv; charset=utf-8; header=present",
      "content-disposition": `attachment; filename="${filename}"`,
    },
  };
}
