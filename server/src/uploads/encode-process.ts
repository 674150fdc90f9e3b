// The process that re-encodes images for encode-apart.ts, at a lower priority than the server.
import { setPriority } from "node:os";
import type { EncodeReply } from "./encode-apart.ts";
import { encodeImage } from "./encode-image.ts";

const BEHIND = 10;

setPriority(BEHIND);
process.on("disconnect", () => process.exit());
process.on("message", (input: Uint8Array) => {
  void encodeImage(Buffer.from(input.buffer, input.byteOffset, input.byteLength))
    .then(
      (encoding): EncodeReply => ({ encoding }),
      (error: unknown): EncodeReply => ({ failure: String(error) }),
    )
    .then((reply) => process.send?.(reply));
});
