// The log: one JSON line per happening, with ids; never a key, a password or a token.
import { pino, type Logger } from "pino";

export type Log = Logger;

export interface LogOptions {
  level: string;
}

export function createLog(options: LogOptions): Log {
  return pino({
    level: options.level,
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
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
  });
}
