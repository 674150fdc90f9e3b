// A process that accepts email as fast as possible and counts it. It speaks minimal SMTP and inspects only the end of each message, so that
// the sender is the bottleneck. Offers CHUNKING with the argument `chunking`.
import { createServer, type Socket } from "node:net";

const END_OF_MESSAGE = Buffer.from("\r\n.\r\n");
const LINE_END = Buffer.from("\r\n");

const counted = { taken: 0 };

/** Replies by command. BDAT is answered after its chunk. */
const REPLIES: Readonly<Record<string, string>> = {
  EHLO: `250-sink\r\n250-PIPELINING\r\n${process.argv.includes("chunking") ? "250-CHUNKING\r\n" : ""}250 8BITMIME\r\n`,
  HELO: "250 sink\r\n",
  DATA: "354 go ahead\r\n",
  QUIT: "221 bye\r\n",
  BDAT: "",
};

function serve(socket: Socket): void {
  let isBody = false;
  let bdat: { left: number; isLast: boolean } | undefined;
  /** The unfinished line of a command, or the last octets of a message, because the end marker may be split. */
  let rest: Buffer = Buffer.alloc(0);
  socket.setNoDelay(true);
  socket.write("220 sink\r\n");
  socket.on("error", () => socket.destroy());
  socket.on("data", (chunk) => {
    let input = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    let replies = "";
    let isOver = false;
    for (;;) {
      if (bdat !== undefined) {
        const length = Math.min(bdat.left, input.length);
        input = input.subarray(length);
        bdat.left -= length;
        if (bdat.left > 0) break;
        if (bdat.isLast) counted.taken++;
        bdat = undefined;
        replies += "250 ok\r\n";
      }
      const mark = isBody ? END_OF_MESSAGE : LINE_END;
      const at = input.indexOf(mark);
      if (at === -1) break;
      if (isBody) counted.taken++;
      const verb = isBody ? "" : input.toString("latin1", 0, 4).toUpperCase();
      replies += REPLIES[verb] ?? "250 ok\r\n";
      isBody = verb === "DATA";
      if (verb === "BDAT") {
        const [, size, last] = input.toString("latin1", 0, at).split(" ");
        bdat = { left: Number(size), isLast: last !== undefined };
      }
      isOver ||= verb === "QUIT";
      input = input.subarray(at + mark.length);
    }
    rest = isBody ? input.subarray(-END_OF_MESSAGE.length + 1) : input;
    if (isOver) socket.end(replies);
    else if (replies !== "") socket.write(replies);
  });
}

const server = createServer(serve);
server.listen(0, "127.0.0.1", () => {
  const address = server.address();
  process.send?.({ port: typeof address === "object" ? address?.port : 0 });
});
process.on("message", () => process.send?.(counted));
process.on("disconnect", () => process.exit(0));
