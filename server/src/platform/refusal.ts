// An expected failure: something in the catalog of contract/src/errors.ts, told to the caller as it is. Everything else thrown is a bug.
import { ERRORS, type ErrorCode, type FieldError } from "@postloft/contract/errors.ts";

export interface RefusalDetails {
  /** A sentence in place of the catalog's usual one. */
  message?: string;
  /** The faulty fields, with VALIDATION_ERROR. */
  fields?: readonly FieldError[];
  /** Seconds until a retry makes sense, sent as Retry-After. */
  retryAfterSeconds?: number;
}

export class Refusal extends Error {
  readonly code: ErrorCode;
  readonly fields: readonly FieldError[] | null;
  readonly retryAfterSeconds: number | null;

  constructor(code: ErrorCode, details: RefusalDetails = {}) {
    super(details.message ?? ERRORS[code].message);
    this.name = "Refusal";
    this.code = code;
    this.fields = details.fields ?? null;
    this.retryAfterSeconds = details.retryAfterSeconds ?? null;
  }
}

/** A refusal of one field, with status 422. */
export function invalidField(field: string, code: FieldError["code"], message: string): Refusal {
  return new Refusal("VALIDATION_ERROR", { fields: [{ field, code, message }] });
}

/**
 * Holds who changes a thing to what they read, where they say it. Asked under the lock of its row: of two who read the same, the second is
 * told. As exact as `updatedAt` is told: to the millisecond.
 *
 * @throws Refusal CHANGED_MEANWHILE
 */
export function requireUnchanged({ updatedAt }: { updatedAt: Date }, expected: string | undefined): void {
  if (expected === undefined || Date.parse(expected) === updatedAt.getTime()) return;
  throw new Refusal("CHANGED_MEANWHILE", {
    message: `It was changed at ${updatedAt.toISOString()}, after you had read it.`,
  });
}
