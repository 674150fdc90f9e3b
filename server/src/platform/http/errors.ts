// Converts errors to the error envelope of spec §7, and Zod issues to our field codes.
import type { z } from "zod";
import {
  ERRORS,
  FIELD_CODES,
  type ErrorCode,
  type FieldCode,
  type FieldError,
} from "@postloft/contract/errors.ts";
import type { ErrorMessage, Translation } from "@postloft/contract/translation.ts";
import { now } from "../clock.ts";
import { constraintError, type ConstraintErrors } from "../database/constraint-errors.ts";
import { asUnavailable } from "../database/database.ts";
import { AppError } from "../app-error.ts";

type Issue = z.core.$ZodIssue;

/** More errors than a legitimate request can have. A hostile one could have a million. */
const MAX_FIELD_ERRORS = 1_000;
/** The maximum length of a path, because it contains names that the caller chose. */
export const MAX_FIELD_LENGTH = 200;

/**
 * Returns each invalid field once, with a dotted path. If there are too many, returns at least the first of each part of the body. `input`
 * is the checked value, which shows whether a field is missing.
 */
export function fieldErrors(issues: readonly Issue[], input: unknown, root: string): FieldError[] {
  const errors = new Map<string, FieldError>();
  const parts = new Set<PropertyKey | undefined>();
  for (const issue of issues) {
    const [part] = issue.path;
    if (errors.size >= MAX_FIELD_ERRORS && (parts.has(part) || parts.size >= MAX_FIELD_ERRORS)) continue;
    const path = issue.path.map(String);
    const field = path.length === 0 ? root : path.join(".").slice(0, MAX_FIELD_LENGTH);
    if (errors.has(field)) continue;
    parts.add(part);
    const code = fieldCode(issue, input);
    const isMissing = code === "required" && issue.code !== "custom";
    errors.set(field, { field, code, ...(isMissing ? { message: "Required." } : messageOf(issue)) });
  }
  return [...errors.values()];
}

/** Returns the message of an issue with its values, which are our own or the limit of a check by Zod. */
function messageOf(issue: Issue): ErrorMessage {
  const { message } = issue;
  if (issue.code === "custom")
    return { message, translation: issue.params?.["translation"] as Translation | undefined };
  const limit = issue.code === "too_big" ? issue.maximum : issue.code === "too_small" ? issue.minimum : null;
  if (limit === null || !message.includes(String(limit))) return { message };
  const values = { limit: Number(limit) };
  return { message, translation: { key: message.replace(String(limit), "{limit}"), values } };
}

function fieldCode(issue: Issue, input: unknown): FieldCode {
  switch (issue.code) {
    case "invalid_type":
      return valueAt(input, issue.path) === undefined ? "required" : "invalid_type";
    case "invalid_value":
      return valueAt(input, issue.path) === undefined ? "required" : "invalid_enum_value";
    case "too_big":
    case "too_small":
    case "invalid_union":
      return issue.code;
    case "invalid_format":
      return issue.format === "datetime" || issue.format === "date" ? "invalid_date" : "invalid_string";
    case "custom": {
      const code: unknown = issue.params?.["code"];
      return typeof code === "string" && code in FIELD_CODES ? (code as FieldCode) : "custom";
    }
    default:
      return "custom";
  }
}

function valueAt(input: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>(
    (value, key) =>
      typeof value === "object" && value !== null ? (value as Record<PropertyKey, unknown>)[key] : undefined,
    input,
  );
}

/** Codes of Fastify for mistakes of the caller. */
const FASTIFY_CODES: Readonly<Record<string, ErrorCode>> = {
  FST_ERR_CTP_BODY_TOO_LARGE: "PAYLOAD_TOO_LARGE",
  FST_ERR_CTP_INVALID_MEDIA_TYPE: "UNSUPPORTED_MEDIA_TYPE",
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: "BAD_REQUEST",
  FST_ERR_BAD_URL: "RESOURCE_NOT_FOUND",
  FST_ERR_MAX_PARAM_LENGTH: "RESOURCE_NOT_FOUND",
};

/** The constraint of every project table. The project existed when the request arrived, and was disabled before it was deleted. */
const PROJECT_CONSTRAINT: ConstraintErrors = new Map([
  ["_project_id_fkey", () => new AppError("PROJECT_DISABLED", { message: "The project has been deleted." })],
]);

/** Returns the error for the caller, or null if it is a bug of ours. */
export function asAppError(error: unknown, constraintErrors: ConstraintErrors = new Map()): AppError | null {
  const failure = asUnavailable(error);
  if (failure instanceof AppError) return failure;
  const violated = constraintError(failure, new Map([...constraintErrors, ...PROJECT_CONSTRAINT]));
  if (violated !== null) return violated;
  const { code, statusCode } = (failure ?? {}) as { code?: unknown; statusCode?: unknown };
  const known = typeof code === "string" ? FASTIFY_CODES[code] : undefined;
  if (known !== undefined) return new AppError(known);
  return typeof statusCode === "number" && statusCode >= 400 && statusCode < 500
    ? new AppError("BAD_REQUEST")
    : null;
}

/** How many fields the message names. */
const FIELDS_IN_MESSAGE = 5;

/**
 * Returns a sentence that names the invalid fields and the problem of each, because most clients only show the message. The sentence has no
 * full stop inside.
 */
export function messageOfFields(fields: readonly FieldError[]): string {
  const named = fields.slice(0, FIELDS_IN_MESSAGE).map(({ field, message }) => {
    const reason = message.replace(/\.\s*$/, "").replace(/\.\s+(?=\S)/g, "; ");
    return `\`${field}\`: ${reason.charAt(0).toLowerCase()}${reason.slice(1)}`;
  });
  const others = fields.length - named.length;
  const end = others === 0 ? "" : `, and ${others} more ${others === 1 ? "field" : "fields"}`;
  return `Not valid: ${named.join(", ")}${end}.`;
}

export interface ErrorEnvelope {
  success: false;
  message: string;
  error: {
    code: ErrorCode;
    message: string;
    translation: Translation | undefined;
    statusCode: number;
    requestId: string;
    errors?: readonly FieldError[];
    suggestion: string;
    docs: string;
  };
  timestamp: string;
}

/**
 * Returns the error envelope. @param origin the address of this service for the link to its documentation; if null, the link is relative
 */
export function errorEnvelope(appError: AppError, requestId: string, origin: string | null): ErrorEnvelope {
  const { status, suggestion } = ERRORS[appError.code];
  return {
    success: false,
    message: appError.message,
    error: {
      code: appError.code,
      message: appError.message,
      translation: appError.translation,
      statusCode: status,
      requestId,
      ...(appError.fields === null ? {} : { errors: appError.fields }),
      suggestion,
      docs: `${origin ?? ""}/docs/errors#${appError.code}`,
    },
    timestamp: now().toISOString(),
  };
}
