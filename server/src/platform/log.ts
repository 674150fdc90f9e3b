// The log: one JSON line per happening, with ids; never a key, a password or a token.
import { destination, pino, stdTimeFunctions, type Logger } from "pino";

export type Log = Logger;

export interface LogOptions {
  level: string;
}

/** While nothing can be written, on a disk that is full, so much is kept for later; the rest is dropped. */
const MAX_KEPT_BYTES = 4 * 1024 * 1024;

/** Of PostgreSQL's errors: what went wrong and where, but not `detail`, which repeats values of rows. */
const TOLD_FIELDS = ["code", "constraint", "table", "routine", "syscall", "address", "port"];

const MAX_CAUSES = 5;

export function createLog(options: LogOptions): Log {
  const output = destination({ dest: 1, sync: true, maxLength: MAX_KEPT_BYTES });
  output.on("error", () => undefined);
  return pino(
    {
      level: options.level,
      base: null,
      timestamp: stdTimeFunctions.isoTime,
      serializers: { err: (error: unknown) => describeError(error) },
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

/** What an error says and where: never all it carries, which may be a connection with its password, or a row of the database. */
function describeError(error: unknown, depth = 0): unknown {
  if (!(error instanceof Error) || depth > MAX_CAUSES) return error instanceof Error ? error.message : error;
  const { name: type, message, stack, cause } = error;
  const told = Object.fromEntries(
    TOLD_FIELDS.flatMap((field): Array<[string, unknown]> => {
      const value: unknown = Reflect.get(error, field);
      return typeof value === "string" || typeof value === "number" ? [[field, value]] : [];
    }),
  );
  return {
    type,
    message,
    ...told,
    stack,
    ...(cause === undefined ? {} : { cause: describeError(cause, depth + 1) }),
  };
}
