// Defines the expected error, which has a code from the catalog in contract/src/errors.ts and is sent to the caller. Any other thrown error
// is a bug.
import { ERRORS, type ErrorCode, type FieldError } from "@postloft/contract/errors.ts";
import {
  asMessage,
  withValues,
  type ErrorMessage,
  type Translation,
  type Wording,
} from "@postloft/contract/translation.ts";

/** A message replaces that of the catalog. */
export interface AppErrorDetails extends Partial<ErrorMessage> {
  /** The invalid fields, for VALIDATION_ERROR. */
  fields?: readonly FieldError[];
  /** Seconds until a retry makes sense, sent as Retry-After. */
  retryAfterSeconds?: number;
}

export class AppError extends Error {
  readonly code: ErrorCode;
  readonly translation: Translation | undefined;
  readonly fields: readonly FieldError[] | null;
  readonly retryAfterSeconds: number | null;

  constructor(code: ErrorCode, details: AppErrorDetails = {}) {
    super(details.message ?? ERRORS[code].message);
    this.name = "AppError";
    this.code = code;
    this.translation = details.translation;
    this.fields = details.fields ?? null;
    this.retryAfterSeconds = details.retryAfterSeconds ?? null;
  }
}

/** Returns an error about one field, with status 422. */
export function invalidField(field: string, code: FieldError["code"], wording: Wording): AppError {
  return new AppError("VALIDATION_ERROR", { fields: [{ field, code, ...asMessage(wording) }] });
}

/**
 * Rejects a change that is based on an outdated read, if the caller sent the `updatedAt` it had read. Must run with the row locked, so that
 * of two callers with the same version the second gets the error. Compares milliseconds, like the API.
 * @throws AppError CHANGED_MEANWHILE
 */
export function requireUnchanged({ updatedAt }: { updatedAt: Date }, expected: string | undefined): void {
  if (expected === undefined || Date.parse(expected) === updatedAt.getTime()) return;
  throw new AppError(
    "CHANGED_MEANWHILE",
    withValues("This was changed at {updatedAt}, after you read it.", { updatedAt: updatedAt.toISOString() }),
  );
}
