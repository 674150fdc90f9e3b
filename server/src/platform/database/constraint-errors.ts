// Maps violated constraints to errors for callers. Each folder maps the constraints of its tables, and api.ts passes all of them to the server.
import type { AppError } from "../app-error.ts";
import { violatedConstraint } from "./database.ts";

/** An error for each constraint, or for each message that a database function raises. */
export type ConstraintErrors = ReadonlyMap<string, () => AppError>;

/** Returns the error for a violated constraint, or null for any other error. */
export function constraintError(error: unknown, errors: ConstraintErrors): AppError | null {
  const name = violatedConstraint(error, [...errors.keys()]);
  return name === null ? null : (errors.get(name)?.() ?? null);
}
