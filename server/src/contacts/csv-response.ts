// Streams a CSV file as a response.
import { Readable } from "node:stream";
import { ok, type HttpResponse } from "../platform/http/route.ts";

/** `lines` yields any number of whole lines per item, starting with the header. */
export function csv(filename: string, lines: AsyncGenerator<string>): HttpResponse<200, Readable> {
  return {
    ...ok(Readable.from(lines)),
    headers: {
      "content-type": "text/csv; charset=utf-8; header=present",
      "content-disposition": `attachment; filename="${filename}"`,
    },
  };
}
