// Parses the parts of a request, so that one response reports every invalid field.
import type { FastifyRequest } from "fastify";
import type { Endpoint } from "@postloft/contract/endpoint.ts";
import type { FieldError } from "@postloft/contract/errors.ts";
import { messageOfUnknown, misplacedParameters, unknownFieldsOf } from "@postloft/contract/unknown-fields.ts";
import { AppError } from "../app-error.ts";
import { findHostileValues, parseJson } from "./body.ts";
import { fieldErrors, MAX_FIELD_LENGTH } from "./errors.ts";
import { withGuesses } from "./guesses.ts";

export interface Parts {
  params: unknown;
  query: unknown;
  body: unknown;
  unknownFields: readonly string[];
}

/** Parses all parts of a request and reports every invalid field together. */
export function readParts(endpoint: Endpoint, request: FastifyRequest): Parts {
  const problems: FieldError[] = [];
  const params = endpoint.params.safeParse(request.params);
  if (!params.success) throw new AppError("RESOURCE_NOT_FOUND");
  problems.push(...findHostileValues(request.query).problems);
  const query = endpoint.query.safeParse(request.query);
  if (!query.success) problems.push(...fieldErrors(query.error.issues, request.query, "query"));
  let body: unknown;
  let unknown: FieldError[] = [];
  if (endpoint.envelope === "page") {
    body = endpoint.body.parse(request.body ?? {});
  } else if (endpoint.bodyKind === "upload") {
    const parsed = endpoint.body.safeParse(request.body ?? {});
    if (parsed.success) body = parsed.data;
    else problems.push(...fieldErrors(parsed.error.issues, request.body, "body"));
  } else if (endpoint.takesBody) {
    const sent = parseJson(Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0));
    const input = sent === undefined && endpoint.isBodyOptional ? {} : sent;
    if (input === undefined)
      throw new AppError("INVALID_REQUEST_BODY", { message: "The body is empty. Send a JSON object." });
    const read = readBody(endpoint, input);
    problems.push(...read.problems);
    ({ body, unknown } = read);
  }
  if (endpoint.unknownFields.startsWith("refused"))
    problems.push(...unknown, ...misplacedParameters(endpoint, request.query));
  if (problems.length > 0) throw new AppError("VALIDATION_ERROR", { fields: uniqueByField(problems) });
  return { params: params.data, query: query.data, body, unknownFields: unknown.map(({ field }) => field) };
}

export interface ReadBody {
  /** The parsed body; undefined if there are problems. */
  body: unknown;
  problems: FieldError[];
  /** Fields that the endpoint doesn't know, as errors. */
  unknown: FieldError[];
}

/**
 * Parses a JSON value as the body of an endpoint. The problems include unknown fields that the endpoint rejects although it ignores others.
 */
export function readBody(endpoint: Endpoint, input: unknown): ReadBody {
  const value = endpoint.respell === null ? input : endpoint.respell(input);
  const hostile = findHostileValues(withoutBatch(endpoint, value));
  const problems = [...hostile.problems];
  if (hostile.tooDeep) return { body: undefined, problems, unknown: [] };
  const unknown = unknownErrors(endpoint, value);
  const parsed = endpoint.body.safeParse(value);
  if (!parsed.success) problems.push(...withGuesses(fieldErrors(parsed.error.issues, value, "body"), value));
  if (!endpoint.unknownFields.startsWith("refused")) problems.push(...refusedAmong(endpoint, unknown));
  return { body: parsed.data, problems: uniqueByField(problems), unknown };
}

/** Returns the value without the items that the route checks. */
function withoutBatch({ batchOf }: Endpoint, value: unknown): unknown {
  return batchOf === null || typeof value !== "object" ? value : { ...value, [batchOf]: [] };
}

/** Returns errors for the unknown fields that an endpoint rejects although it ignores others. */
function refusedAmong(endpoint: Endpoint, unknown: readonly FieldError[]): FieldError[] {
  return unknown.flatMap(({ field, code }) => {
    const message = field.includes(".") ? null : (endpoint.refusalOfUnknown?.(field) ?? null);
    return message === null ? [] : [{ field, code, message }];
  });
}

/** Returns an error for each field of a body that its endpoint doesn't know. */
function unknownErrors(endpoint: Endpoint, body: unknown): FieldError[] {
  return unknownFieldsOf(endpoint, body).map((unknown) => ({
    field: unknown.path.join(".").slice(0, MAX_FIELD_LENGTH),
    code: "unknown_field",
    ...messageOfUnknown(unknown),
  }));
}

function uniqueByField(problems: readonly FieldError[]): FieldError[] {
  return [...new Map(problems.toReversed().map((problem) => [problem.field, problem])).values()].toReversed();
}
