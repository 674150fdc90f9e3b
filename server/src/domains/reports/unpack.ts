// Finds the report in an email and unpacks it, with limits for every kind of packing.
import PostalMime, { type Attachment } from "postal-mime";
import { fromBuffer, type Entry, type ZipFile } from "yauzl";
import { LIMITS } from "@postloft/contract/limits/limits.ts";
import { gunzipMembers, isGzip } from "./gunzip.ts";
import { readDmarc } from "./read-dmarc.ts";
import { readTls } from "./read-tls.ts";
import type { DomainReport } from "./report.ts";

const PARSE_LIMITS = { maxNestingDepth: 10, maxHeadersSize: 128 * 1024 };
const MAX_PARTS = 5;
const MAX_ENTRIES = 5;
const IS_TEXT = /\b(xml|json)\b/i;
const IS_NAMED = /\.(xml|json|gz|gzip|zip)$/i;
const IS_PACKED = /\b(g?zip|octet-stream)\b/i;

/** A report, or why the email has none. */
export type Unpacked = { report: DomainReport } | { fault: string };

/** Unpacks an email's report. Never throws. */
export async function unpackReport(raw: Uint8Array): Promise<Unpacked> {
  try {
    const email = await PostalMime.parse(raw, PARSE_LIMITS);
    const parts = email.attachments.filter(
      ({ mimeType, filename }) =>
        IS_TEXT.test(mimeType) || IS_PACKED.test(mimeType) || IS_NAMED.test(filename ?? ""),
    );
    for (const part of parts.slice(0, MAX_PARTS)) {
      const text = await openPart(bytesOf(part));
      const report = text.trimStart().startsWith("{") ? readTls(text) : readDmarc(text);
      if (report !== null) return { report };
    }
    return { fault: parts.length === 0 ? "no report in it" : "no report that can be read" };
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    return { fault: code === "ERR_BUFFER_TOO_LARGE" ? "too large when unpacked" : message };
  }
}

function bytesOf({ content }: Attachment): Buffer {
  if (typeof content === "string") return Buffer.from(content, "utf8");
  return ArrayBuffer.isView(content)
    ? Buffer.from(content.buffer, content.byteOffset, content.byteLength)
    : Buffer.from(content);
}

/** Detects the format by the first bytes, because declared types are often wrong. */
async function openPart(bytes: Buffer): Promise<string> {
  const most = LIMITS.domainReportBytes.value;
  if (isGzip(bytes)) return (await gunzipMembers(bytes, most)).toString("utf8");
  if (bytes.subarray(0, 2).toString("latin1") === "PK") return openZip(bytes, most);
  if (bytes.length > most) throw new Error("too large");
  return bytes.toString("utf8");
}

/** Returns the first file of the archive. */
async function openZip(bytes: Buffer, most: number): Promise<string> {
  const zip = await new Promise<ZipFile>((resolve, reject) => {
    fromBuffer(bytes, { lazyEntries: true }, (error, file) =>
      error === null ? resolve(file) : reject(error),
    );
  });
  const entry = await firstFile(zip);
  if (entry.uncompressedSize > most) throw new Error("too large when unpacked");
  const stream = await new Promise<NodeJS.ReadableStream>((resolve, reject) => {
    zip.openReadStream(entry, (error, opened) => (error === null ? resolve(opened) : reject(error)));
  });
  // The reader counts and rejects content larger than declared.
  const chunks: Buffer[] = [];
  for await (const chunk of stream as AsyncIterable<Buffer>) chunks.push(chunk);
  return Buffer.concat(chunks).toString("utf8");
}

function firstFile(zip: ZipFile): Promise<Entry> {
  return new Promise((resolve, reject) => {
    let seen = 0;
    zip.on("entry", (entry: Entry) => {
      if (!entry.fileName.endsWith("/")) return resolve(entry);
      if (++seen >= MAX_ENTRIES) return reject(new Error("too many folders in it"));
      zip.readEntry();
    });
    zip.on("end", () => reject(new Error("nothing in it")));
    zip.on("error", reject);
    zip.readEntry();
  });
}
