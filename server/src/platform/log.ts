// The log: one JSON line per happening, with ids; never a key, a password or a token.
import { destination, pino, stdTimeFunctions, type Logger } from "pino";

export type Log = Logger;

export interface LogOptions {
  level: string;
}

/** While nothing can be written, on a disk that is full, so much is kept for later; the rest is dropped. */
const MAX_KEPT_BYTES = 4 * 1024 * 1024;

export function createLog(options: LogOptions): Log {
  const output = destination({ dest: 1, sync: true, maxLength: MAX_KEPT_BYTES });
  output.on("error", () => undefined);
  return pino(
    {
      level: options.level,
      base: null,
      timestamp: stdTimeFunctions.isoTime,
      redact: {
        paths: [
          "req.headers.authorization",
          "req.headers.cookie",
          "*.password",
          "*.secret",
          "*.token",
          "*.authorization",
          "*.cookie",
        ],
        censor: "[hidden]",
      },
    },
    output,
  );
}
