// Recognizes errors that mean the database is unreachable, restarting, full or too busy, as opposed to a bug in a statement.

/** Connection lost, server shutting down or starting up, out of connections. */
const UNREACHABLE_CODES = /^(08...|57P0[123]|53300|ECONNREFUSED|ECONNRESET|EPIPE|ETIMEDOUT)$/;
/** The same, other lacks of resources such as a full disk, a time limit of a transaction or a lock, a missing socket. */
const UNAVAILABLE_CODES = /^(53...|55P03|25P0[34]|58030|ENOENT)$/;
const UNREACHABLE_TEXTS =
  /Connection terminated|timeout exceeded when trying to connect|^timeout expired$|Client has encountered a connection error|Cannot use a pool after calling end/;

/** Returns whether the same statement may succeed later, because only the database was unavailable. */
export function isUnavailable(error: unknown): boolean {
  return isUnreachable(error) || UNAVAILABLE_CODES.test(codeOf(error));
}

/** Returns whether there was no connection to the other side, so the place in the code explains nothing. */
export function isUnreachable(error: unknown): boolean {
  return (
    UNREACHABLE_CODES.test(codeOf(error)) || (error instanceof Error && UNREACHABLE_TEXTS.test(error.message))
  );
}

function codeOf(error: unknown): string {
  const { code } = Object(error) as { code?: unknown };
  return typeof code === "string" ? code : "";
}
