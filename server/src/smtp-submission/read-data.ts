// Reads the bytes of messages within the memory that all messages may use together.
import { createLineCheck } from "./line-check.ts";
import { SmtpReply } from "./replies.ts";

export interface DataLimits {
  messageBytes: number;
  /** Bytes of all messages that are in memory. One project may use half of them. */
  totalBytes: number;
}

export interface DataReader {
  /**
   * Reads a message to its end, and hands its bytes to `use` while they count.
   * @throws SmtpReply if the message is too large, has forbidden bytes, or finds no memory
   */
  read<Result>(
    stream: AsyncIterable<Buffer>,
    projectId: string,
    use: (bytes: Buffer) => Promise<Result>,
  ): Promise<Result>;
}

const NO_MEMORY = new SmtpReply(452, "4.3.1 Too many messages arrive at once, try again in a moment");

export function createDataReader({ messageBytes, totalBytes }: DataLimits): DataReader {
  const used = new Map<string, number>();
  const tooLarge = new SmtpReply(552, `5.3.4 The message is larger than ${messageBytes} bytes`);

  /** Counts bytes of a project, unless they exceed its share or the total. */
  function reserve(projectId: string, bytes: number): boolean {
    const own = (used.get(projectId) ?? 0) + bytes;
    const total = [...used.values()].reduce((sum, one) => sum + one, bytes);
    if (own > totalBytes / 2 || total > totalBytes) return false;
    used.set(projectId, own);
    return true;
  }

  function release(projectId: string, bytes: number): void {
    const left = (used.get(projectId) ?? 0) - bytes;
    if (left > 0) used.set(projectId, left);
    else used.delete(projectId);
  }

  return {
    async read(stream, projectId, use) {
      const lines = createLineCheck();
      const chunks: Buffer[] = [];
      let size = 0;
      let kept = 0;
      let fault: SmtpReply | null = null;
      try {
        // Reads to the end also after a fault, because the reply comes after it.
        for await (const chunk of stream) {
          size += chunk.length;
          lines.add(chunk);
          if (size > messageBytes) fault ??= tooLarge;
          if (fault !== null) continue;
          if (reserve(projectId, chunk.length)) {
            kept += chunk.length;
            chunks.push(chunk);
          } else fault = NO_MEMORY;
        }
        fault ??= lines.fault();
        if (fault !== null) throw fault;
        return await use(Buffer.concat(chunks));
      } finally {
        release(projectId, kept);
      }
    },
  };
}
