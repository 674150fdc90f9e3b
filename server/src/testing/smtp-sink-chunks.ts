// Collects the chunks of a message that arrives with BDAT (RFC 3030).

export interface ChunkReader {
  /** Starts a chunk of `size` octets. */
  begin(size: number, isLast: boolean): void;
  /** Returns whether octets of a chunk are expected, also for an empty chunk until `read` ends it. */
  isOpen(): boolean;
  /** Reads the octets of the chunk and returns those after it. */
  read(input: Buffer): Buffer;
  /** Returns the end of the chunk once its last octet arrived, and closes it. */
  takeEnd(): { isLast: boolean; size: number } | undefined;
  message(): Buffer;
  clear(): void;
}

export function createChunkReader(): ChunkReader {
  let parts: Buffer[] = [];
  let open: { size: number; left: number; isLast: boolean } | undefined;
  return {
    begin(size, isLast) {
      open = { size, left: size, isLast };
    },
    isOpen: () => open !== undefined,
    read(input) {
      if (open === undefined) return input;
      const part = input.subarray(0, open.left);
      parts.push(part);
      open.left -= part.length;
      return input.subarray(part.length);
    },
    takeEnd() {
      if (open === undefined || open.left > 0) return undefined;
      const { isLast, size } = open;
      open = undefined;
      return { isLast, size };
    },
    message: () => Buffer.concat(parts),
    clear() {
      parts = [];
      open = undefined;
    },
  };
}
