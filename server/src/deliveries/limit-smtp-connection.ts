// Adds limits that the SMTP server lacks: the total time of a connection, and command lines that must end in CR LF.
import type { SMTPServer } from "smtp-server";

/** Limits in real time, no matter how much the client sends. */
export interface ConnectionLimits {
  /** From the start of a message to its end. */
  messageMs: number;
  sessionMs: number;
}

/** A connection with running limits. */
export interface LimitedConnection {
  /** Returns when the client last sent something, or Infinity while it waits for the reply to a message. */
  heardAtMs(): number;
  /** Closes the connection because others want its slot. */
  sendAway(): void;
  /** Ends the limits, because STARTTLS gives the connection another parser. */
  release(): void;
}

type Connection = SMTPServer["connections"] extends Set<infer Item> ? Item : never;

const TOO_SLOW = "4.4.2 Timeout, try again later";
const TOO_QUIET = "4.4.2 Idle for too long while others want to connect";
const BARE_LINE_FEED = "5.5.2 Lines must end in CR LF, a bare line feed is rejected";
const BARE = /(?:^|[^\r])\n/;

/**
 * Closes the connection when it or a message takes too long, and at a bare line feed among commands. SMTP smuggling relies on servers that
 * disagree about the end of a line. The server itself makes sure that only CR LF . CR LF ends a message.
 */
export function limitConnection(
  connection: Connection,
  { messageMs, sessionMs }: ConnectionLimits,
): LimitedConnection {
  let lastActiveAtMs = performance.now();
  let isReplyOwed = false;
  const { _parser: parser, _socket: socket } = connection;
  if (parser === false) throw new Error("The SMTP connection has no parser.");
  function end(code: number, text: string): void {
    connection.send(code, text, false);
    connection.close();
  }
  const session = setTimeout(() => end(421, TOO_SLOW), sessionMs);
  let message: NodeJS.Timeout | undefined;
  const release = () => {
    clearTimeout(session);
    clearTimeout(message);
  };
  socket.once("close", release);
  const write = parser._write.bind(parser);
  // If the mode changes within a chunk, the parser calls this again with the rest.
  parser._write = (chunk, encoding, next) => {
    lastActiveAtMs = performance.now();
    if (parser._dataMode || parser.isClosed) return write(chunk, encoding, next);
    const before = parser._remainder.endsWith("\r") ? "\r" : "";
    if (!BARE.test(before + chunk.toString("latin1"))) return write(chunk, encoding, next);
    end(500, BARE_LINE_FEED);
    next();
  };
  const startDataMode = parser.startDataMode.bind(parser);
  parser.startDataMode = (maxBytes) => {
    clearTimeout(message);
    message = setTimeout(() => end(421, TOO_SLOW), messageMs);
    const stream = startDataMode(maxBytes);
    stream.once("end", () => {
      clearTimeout(message);
      isReplyOwed = true;
    });
    return stream;
  };
  const send = connection.send.bind(connection);
  connection.send = (...reply) => {
    if (isReplyOwed) lastActiveAtMs = performance.now();
    isReplyOwed = false;
    return send(...reply);
  };
  return {
    heardAtMs: () => (isReplyOwed ? Number.POSITIVE_INFINITY : lastActiveAtMs),
    sendAway: () => end(421, TOO_QUIET),
    release,
  };
}
