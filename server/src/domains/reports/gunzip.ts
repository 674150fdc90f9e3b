// Unpacks gzip files with trailing data, as some reporters send them, because Node's own gunzip rejects such files.
import { promisify } from "node:util";
import { crc32, inflateRaw, type InflateRaw, type ZlibOptions } from "node:zlib";

type Inflated = (
  bytes: Buffer,
  options: ZlibOptions & { info: true },
) => Promise<{ buffer: Buffer; engine: InflateRaw }>;

const inflate = promisify(inflateRaw) as unknown as Inflated;

const MAGIC = [0x1f, 0x8b, 8];
const HEADER_BYTES = 10;
const TRAILER_BYTES = 8;
/** Bits of the flags (RFC 1952 §2.3.1). */
const HAS_CHECKSUM = 2;
const HAS_EXTRA = 4;
const HAS_NAME = 8;
const HAS_COMMENT = 16;
/** Usually a file has one member. */
const MAX_MEMBERS = 100;

export function isGzip(bytes: Buffer): boolean {
  return MAGIC.every((byte, at) => bytes[at] === byte);
}

/**
 * Unpacks all members of a gzip file and ignores trailing data.
 * @param most the maximum content bytes
 * @throws if a member is damaged or truncated, or the content is longer than `most` (`ERR_BUFFER_TOO_LARGE`)
 */
export async function gunzipMembers(bytes: Buffer, most: number): Promise<Buffer> {
  const contents: Buffer[] = [];
  let rest = bytes;
  let left = most;
  for (let members = 0; members < MAX_MEMBERS && isGzip(rest); members++) {
    const start = headerLength(rest);
    // Node accepts no limit of 0, and an empty member also fits into one byte.
    const options = { maxOutputLength: Math.max(left, 1), info: true } as const;
    const { buffer, engine } = await inflate(rest.subarray(start), options);
    const end = start + engine.bytesWritten;
    if (rest.length < end + TRAILER_BYTES) throw new Error("unexpected end of file");
    const isWhole =
      rest.readUInt32LE(end) === crc32(buffer) && rest.readUInt32LE(end + 4) === buffer.length >>> 0;
    if (!isWhole) throw new Error("incorrect checksum");
    contents.push(buffer);
    left -= buffer.length;
    rest = rest.subarray(end + TRAILER_BYTES);
  }
  return Buffer.concat(contents);
}

function headerLength(bytes: Buffer): number {
  const flags = bytes[3] ?? 0;
  let at = HEADER_BYTES;
  if ((flags & HAS_EXTRA) !== 0) at += 2 + (bytes.length >= at + 2 ? bytes.readUInt16LE(at) : 0);
  for (const flag of [HAS_NAME, HAS_COMMENT]) {
    if ((flags & flag) === 0) continue;
    const end = bytes.indexOf(0, at);
    if (end === -1) throw new Error("unexpected end of file");
    at = end + 1;
  }
  return (flags & HAS_CHECKSUM) !== 0 ? at + 2 : at;
}
