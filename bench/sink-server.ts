// A process that accepts email as fast as possible and counts it. It speaks minimal SMTP and inspects only the end of each message, so that
// the sender is the bottleneck.
import { createServer, type Socket } from "node:net";

const END_OF_MESSAGE = Buffer.from("\r\n.\r\n");
const LINE_END = Buffer.from("\r\n");

const counted = { taken: 0 };

/** Replies by command. DATA is answered after its content. */
const REPLIES: Readonly<Record<string, string>> = {
  EHLO: "250-sink\r\n250-PIPELINING\r\n250 8BITMIME\r\n",
  HELO: "250 sink\r\n",
  DATA: "354 go ahead\r\n",
  QUIT: "221 bye\r\n",
};

function serve(socket: Socket): void {
  let isBody = false;
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
      const mark = isBody ? END_OF_MESSAGE : LINE_END;
      const at = input.indexOf(mark);
      if (at === -1) break;
      if (isBody) counted.taken++;
      const verb = isBody ? "" : input.toString("latin1", 0, 4).toUpperCase();
      replies += REPLIES[verb] ?? "250 ok\r\n";
      isBody = verb === "DATA";
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
