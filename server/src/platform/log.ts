// Logs one line per event with its ids, as JSON or for people. Never logs a key, password or token.
import { destination, pino, stdTimeFunctions, type Logger } from "pino";
import { prettyLine } from "./log-pretty.ts";
import { isUnreachable } from "./unavailable.ts";

export type Log = Logger;

export interface LogOptions {
  level: string;
  /** Default: `pretty` in a terminal, otherwise `json`. */
  format?: "json" | "pretty";
}

/** How much is buffered while nothing can be written, for example on a full disk. Lines beyond that are dropped. */
const MAX_KEPT_BYTES = 4 * 1024 * 1024;
/**
 * Request lines are frequent, so they are written in blocks, at the latest after this time. Warnings and errors are written immediately.
 */
const BLOCK_BYTES = 4096;
const FLUSH_MS = 200;
const WARN = 40;
/** The logged fields of PostgreSQL errors. Leaves out `detail`, which repeats values of rows. */
const NOTIFIED_FIELDS = ["code", "constraint", "table", "routine", "syscall", "address", "port"];
const MAX_CAUSES = 5;

export function createLog(options: LogOptions): Log {
  const output = destination({ dest: 1, sync: true, maxLength: MAX_KEPT_BYTES, minLength: BLOCK_BYTES });
  output.on("error", () => undefined);
  // Avoids `flushSync`, which blocks the whole process forever if the reader is gone or the disk is full.
  const flush = () => output.flush();
  if (options.level !== "silent") {
    setInterval(flush, FLUSH_MS).unref();
    process.on("exit", flush);
  }
  const isPretty = (options.format ?? (process.stdout.isTTY ? "pretty" : "json")) === "pretty";
  return pino(
    {
      level: options.level,
      base: null,
      timestamp: stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      serializers: { err: (error: unknown) => describeError(error) },
      hooks: {
        logMethod(line, method, level) {
          method.apply(this, line);
          if (level >= WARN) flush();
        },
      },
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
    isPretty ? { write: (line) => output.write(prettyLine(line, process.stdout.isTTY)) } : output,
  );
}

/**
 * Returns an error's message and location. Leaves out other properties, which may include a connection with its password or a database row.
 */
function describeError(error: unknown, depth = 0): unknown {
  if (!(error instanceof Error) || depth > MAX_CAUSES) return error instanceof Error ? error.message : error;
  const { name: type, message, stack, cause } = error;
  const reported = Object.fromEntries(
    NOTIFIED_FIELDS.flatMap((field): Array<[string, unknown]> => {
      const value: unknown = Reflect.get(error, field);
      return typeof value === "string" || typeof value === "number" ? [[field, value]] : [];
    }),
  );
  return {
    type,
    message,
    ...reported,
    ...(isUnreachable(error) ? {} : { stack }),
    ...(cause === undefined ? {} : { cause: describeError(cause, depth + 1) }),
  };
}
