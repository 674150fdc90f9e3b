// Handles an admitted request: checks its shape, rights and idempotency key, calls the route and wraps the response.
import { Readable } from "node:stream";
import { nextTurn } from "../background/turns.ts";
import type { FastifyReply, FastifyRequest } from "fastify";
import type { Endpoint } from "@postloft/contract/endpoint.ts";
import type { FieldError } from "@postloft/contract/errors.ts";
import { TEST_SCOPE } from "@postloft/contract/scopes.ts";
import { messageOfUnknown, misplacedParameters, unknownFieldsOf } from "@postloft/contract/unknown-fields.ts";
import type { Sealer } from "../crypto.ts";
import { transaction, type Database, type Tx } from "../database/database.ts";
import { findHostileValues, parseJson } from "./body.ts";
import { checkRights, type Caller } from "./caller.ts";
import { fieldErrors, MAX_FIELD_LENGTH } from "./errors.ts";
import { joinParts } from "./form.ts";
import { withGuesses } from "./guesses.ts";
import type { HttpResponse, Call, Route } from "./route.ts";
import type { Pace } from "./pace.ts";
import {
  checkIdempotencyKey,
  claimKey,
  releaseKey,
  storeStoredResponses,
  type StoredResponse,
} from "./idempotency.ts";
import type { Log } from "../log.ts";
import { AppError } from "../app-error.ts";
import { networkOf } from "./visitor-network.ts";

export interface ResponseOptions {
  database: Database;
  pace: Pace;
  /** Encrypts responses with a secret before they are stored for an Idempotency-Key. */
  sealer: Sealer;
  log: Log;
  identify: (endpoint: Endpoint, request: FastifyRequest) => Promise<Caller>;
}

/** After this time a caller is identified again, because a body can arrive slowly. */
const KNOWN_FOR_MS = 1_000;

/** Returns one header of a request, the first one if it is repeated. */
export function readHeader(request: FastifyRequest, name: string): string | undefined {
  const value = request.headers[name];
  return Array.isArray(value) ? value[0] : value;
}

/** Responds to a request immediately, or when it is the caller's turn if the request is large. */
export async function responseRequest(
  options: ResponseOptions,
  route: Route,
  caller: Caller,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const bodyBytes = Buffer.isBuffer(request.body) ? request.body.length : 0;
  // A request that waited is identified again, because its key may have been revoked since.
  let hasWaited = false;
  const responding = options.pace.follow(
    { owner: ownerOf(caller, request), bodyBytes, isList: route.endpoint.method === "GET" },
    async () => responseNow(options, route, { caller, isKnown: !hasWaited }, request, reply),
  );
  hasWaited = true;
  return responding;
}

/** Returns the owner that a request counts for; large requests of one owner run one at a time. */
function ownerOf({ projectId, userId }: Caller, request: FastifyRequest): string {
  return projectId ?? userId ?? networkOf(request.ip);
}

/** Checks shape and rights, then calls the route. POSTs with a key also honor Idempotency-Key. */
async function responseNow(
  options: ResponseOptions,
  { endpoint, handle }: Route,
  admitted: { caller: Caller; isKnown: boolean },
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const isKnown = admitted.isKnown && performance.now() - request.startedAtMs < KNOWN_FOR_MS;
  const caller = isKnown ? admitted.caller : await options.identify(endpoint, request);
  const send = (response: HttpResponse) =>
    sendResponse(endpoint, response, request, reply, (length) =>
      options.pace.note(ownerOf(caller, request), length),
    );
  const parts = readParts(endpoint, request);
  const key = readHeader(request, "idempotency-key");
  const mayRepeat = endpoint.method === "POST" && caller.byKey && key !== undefined;
  if (mayRepeat) checkIdempotencyKey(key);
  checkRights(endpoint, caller);
  if (!mayRepeat || caller.projectId === null)
    return send(await handle(makeCall(options, endpoint, { caller, request, parts, storedResponse: null })));
  const body =
    endpoint.bodyKind === "upload"
      ? joinParts(request.body)
      : Buffer.isBuffer(request.body)
        ? request.body
        : Buffer.alloc(0);
  const claim = await claimKey(options.database, {
    projectId: caller.projectId,
    key: keyOf(caller, key),
    path: endpoint.path + request.url,
    body,
  });
  if ("stored" in claim) {
    reply.header("idempotency-replayed", "true");
    return send(opened(options, endpoint, { projectId: caller.projectId, answer: claim.stored }));
  }
  try {
    const { storedResponse } = claim;
    return await send(await handle(makeCall(options, endpoint, { caller, request, parts, storedResponse })));
  } catch (error) {
    await releaseKey(options.database, claim.storedResponse).catch((failure: unknown) =>
      options.log.warn(
        { err: failure, requestId: request.id },
        "failed to release an idempotency key, it expires in a minute",
      ),
    );
    throw error;
  }
}

/**
 * Returns the idempotency key with a prefix for test and public keys. No header contains a line break, so the prefixes cannot collide with
 * other keys (docs/decisions/0079).
 */
function keyOf(caller: Caller, key: string): string {
  if (isTest(caller)) return `test\n${key}`;
  return isPublic(caller) ? `public\n${key}` : key;
}

const isPublic = ({ key }: Caller) => key === "public";
const isTest = ({ scopes }: Caller) => scopes?.includes(TEST_SCOPE) === true;

interface Parts {
  params: unknown;
  query: unknown;
  body: unknown;
  unknownFields: readonly string[];
}

/** Parses all parts of a request and reports every invalid field together. */
function readParts(endpoint: Endpoint, request: FastifyRequest): Parts {
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
    const value = endpoint.respell === null ? input : endpoint.respell(input);
    if (value === undefined)
      throw new AppError("INVALID_REQUEST_BODY", { message: "The body is empty. Send a JSON object." });
    const hostile = findHostileValues(value);
    problems.push(...hostile.problems);
    const parsed = hostile.tooDeep ? null : endpoint.body.safeParse(value);
    unknown = hostile.tooDeep ? [] : unknownErrors(endpoint, value);
    if (parsed?.success === true) body = parsed.data;
    else if (parsed !== null)
      problems.push(...withGuesses(fieldErrors(parsed.error.issues, value, "body"), value));
  }
  if (endpoint.unknownFields.startsWith("refused"))
    problems.push(...unknown, ...misplacedParameters(endpoint, request.query));
  else problems.push(...refusedAmong(endpoint, unknown));
  if (problems.length > 0) throw new AppError("VALIDATION_ERROR", { fields: uniqueByField(problems) });
  return { params: params.data, query: query.data, body, unknownFields: unknown.map(({ field }) => field) };
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

const contextOf = (projectId: string) => `stored response ${projectId}`;

/** Returns a response in its stored form, which is encrypted if the endpoint returns a secret. */
function sealed(
  { sealer }: ResponseOptions,
  { isSecret }: Endpoint,
  projectId: string,
  response: HttpResponse,
): HttpResponse {
  if (!isSecret) return response;
  const text = sealer.seal(JSON.stringify(response.body), contextOf(projectId)).toString("base64");
  return { status: response.status, body: { sealed: text } };
}

/** Returns a stored response in its original form. */
function opened(
  { sealer }: ResponseOptions,
  { isSecret }: Endpoint,
  { projectId, answer }: { projectId: string; answer: HttpResponse },
): HttpResponse {
  if (!isSecret) return answer;
  const { sealed: text } = answer.body as { sealed: string };
  return { ...answer, body: JSON.parse(sealer.open(Buffer.from(text, "base64"), contextOf(projectId))) };
}

interface Asked {
  caller: Caller;
  request: FastifyRequest;
  parts: Parts;
  storedResponse: StoredResponse | null;
}

function makeCall(
  options: ResponseOptions,
  endpoint: Endpoint,
  { caller, request, parts, storedResponse }: Asked,
): Call {
  const rawBody = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0);
  return {
    ...parts,
    rawBody,
    bodyBytes: rawBody.length,
    projectId: caller.projectId,
    userId: caller.userId,
    sessionId: caller.sessionId,
    keyHash: caller.keyHash,
    byPublicKey: isPublic(caller),
    isTest: isTest(caller),
    role: caller.role,
    requestId: request.id,
    method: request.method,
    ip: request.ip,
    headers: request.headers,
    storedResponse,
    commit: async (work: (tx: Tx) => Promise<HttpResponse>) =>
      transaction(options.database, async (tx) => {
        const result = await work(tx);
        if (storedResponse !== null)
          await storeStoredResponses(tx, [
            { storedResponse, answer: sealed(options, endpoint, storedResponse.projectId, result) },
          ]);
        return result;
      }),
  } as unknown as Call;
}

async function sendResponse(
  endpoint: Endpoint,
  result: HttpResponse,
  request: FastifyRequest,
  reply: FastifyReply,
  recordLength: (characters: number) => void,
): Promise<FastifyReply> {
  if (result.headers !== undefined) reply.headers(result.headers);
  reply.code(result.status);
  if (result.body === null) return reply.send();
  if (endpoint.envelope === "raw" || endpoint.envelope === "page") return reply.send(result.body);
  reply.header("content-type", "application/json; charset=utf-8");
  // JSON that is too long to build as a whole.
  if (result.body instanceof Readable) return reply.send(result.body);
  const json = JSON.stringify(endpoint.envelope === "bare" ? result.body : wrapped(result.body, request));
  recordLength(json.length);
  if (json.length <= PIECE_LENGTH) return reply.send(json);
  reply.header("content-length", Buffer.byteLength(json));
  return reply.send(Readable.from(piecesOf(json), { objectMode: false }));
}

/** The number of characters written per turn, so that other requests run in between. */
const PIECE_LENGTH = 128 * 1024;

async function* piecesOf(json: string): AsyncGenerator<Buffer> {
  const bytes = Buffer.from(json);
  for (let at = 0; at < bytes.length; at += PIECE_LENGTH) {
    yield bytes.subarray(at, at + PIECE_LENGTH);
    await nextTurn();
  }
}

/** Wraps data in the envelope. On the alias paths the fields of `data` are also at the top level, as older clients expect. */
function wrapped(data: unknown, request: FastifyRequest): object {
  return { success: true, data, ...(request.originalUrl === request.url ? {} : (data as object)) };
}
