// Reads a message from an SMTP connection into memory, of which all connections together use a limited amount.
import { createHash } from "node:crypto";

/** Limits the memory of messages in progress beyond the beginning that each may have. */
export interface IncomingMemory {
  /** Returns whether the bytes fit. */
  take(bytes: number): boolean;
  giveBack(bytes: number): void;
}

export interface IncomingBytes {
  /** The message up to `mostKept`. */
  raw: Buffer;
  /** The size of the whole message. */
  size: number;
  /** The Message-ID, or a hash of the whole message. */
  fingerprint: string;
  /** Whether memory was free. Otherwise `raw` is empty. */
  hadRoom: boolean;
  /** Frees the memory. */
  release(): void;
}

/** The rest of most messages is read and discarded, because reports and text from people are at the beginning. */
export const BEGINNING_BYTES = 512 * 1024;
const MAX_ID_HEADER_BYTES = 64 * 1024;

export function createIncomingMemory(mostBytes: number): IncomingMemory {
  let used = 0;
  return {
    take(bytes) {
      if (used + bytes > mostBytes) return false;
      used += bytes;
      return true;
    },
    giveBack(bytes) {
      used -= bytes;
    },
  };
}

/** Reads a message to its end. The caller releases the memory once the message is stored. */
export async function readIncoming(
  stream: AsyncIterable<Buffer>,
  mostKept: number,
  memory: IncomingMemory,
): Promise<IncomingBytes> {
  const hash = createHash("sha256");
  const chunks: Buffer[] = [];
  let size = 0;
  let taken = 0;
  let hadRoom = true;
  const release = () => {
    memory.giveBack(taken);
    taken = 0;
  };
  try {
    for await (const chunk of stream) {
      const kept = chunk.subarray(0, Math.max(0, mostKept - size));
      const beyond = Math.min(kept.length, Math.max(0, size + kept.length - BEGINNING_BYTES));
      if (hadRoom && beyond > 0) {
        hadRoom = memory.take(beyond);
        if (hadRoom) taken += beyond;
        else {
          release();
          chunks.length = 0;
        }
      }
      if (hadRoom && kept.length > 0) chunks.push(kept);
      size += chunk.length;
      hash.update(chunk);
    }
  } catch (error) {
    release();
    throw error;
  }
  const raw = Buffer.concat(chunks);
  return { raw, size, fingerprint: messageIdIn(raw) ?? hash.digest("base64url"), hadRoom, release };
}

/** Returns the length of the header, or null if it does not end within the bytes. */
export function headerLength(raw: Buffer): number | null {
  const ends = [raw.indexOf("\r\n\r\n"), raw.indexOf("\n\n")].filter((at) => at >= 0);
  return ends.length === 0 ? null : Math.min(...ends);
}

/** Returns the Message-ID. A server that missed our reply sends the same report again, changed only in headers added on the way. */
function messageIdIn(raw: Buffer): string | null {
  const head = raw.subarray(0, MAX_ID_HEADER_BYTES).toString("latin1");
  const end = head.search(/\r?\n\r?\n/);
  const [, id] =
    /^message-id:[ \t]*(?:\r?\n[ \t]+)?(<[^<>\r\n]{1,900}>)/im.exec(
      head.slice(0, end === -1 ? undefined : end),
    ) ?? [];
  return id ?? null;
}
