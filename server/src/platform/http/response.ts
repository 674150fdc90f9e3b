// Handles an admitted request: checks its shape, rights and idempotency key, calls the route and wraps the response.
import { Readable } from "node:stream";
import { countRequest, nextTurn } from "../background/turns.ts";
import type { FastifyReply, FastifyRequest } from "fastify";
import type { Endpoint } from "@postloft/contract/endpoint.ts";
import { TEST_SCOPE } from "@postloft/contract/scopes.ts";
import { AppError } from "../app-error.ts";
import type { Sealer } from "../crypto.ts";
import { transaction, type Database, type Tx } from "../database/database.ts";
import { checkRights, type Caller } from "./caller.ts";
import { joinParts } from "./form.ts";
import type { HttpResponse, Call, Route } from "./route.ts";
import type { Pace } from "./pace.ts";
import { readParts, type Parts } from "./read-parts.ts";
import {
  checkIdempotencyKey,
  findResponse,
  keyedRequest,
  storedKey,
  storeResponses,
  type KeyedRequest,
  type KeyTurns,
  type StoredResponse,
} from "./idempotency.ts";
import type { Log } from "../log.ts";
import { networkOf } from "./visitor-network.ts";

export interface ResponseOptions {
  database: Database;
  pace: Pace;
  keyTurns: KeyTurns;
  /** Encrypts responses with a secret before they are stored for an Idempotency-Key. */
  sealer: Sealer;
  log: Log;
  identify: (endpoint: Endpoint, request: FastifyRequest) => Promise<Caller>;
  /** Counts more requests of a caller against the rate limit. @throws AppError RATE_LIMIT_EXCEEDED */
  countMore: (caller: Caller, more: number, reply: FastifyReply) => Promise<void>;
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
  const onWait = () => {
    hasWaited = true;
    request.endCount();
    return () => countServed(request, reply);
  };
  return options.pace.follow(
    { owner: ownerOf(caller, request), bodyBytes, isList: route.endpoint.method === "GET", onWait },
    async () => responseNow(options, route, { caller, isKnown: !hasWaited }, request, reply),
  );
}

/** Counts a request as being served until its response was sent or its connection closed. Long work rests meanwhile. */
export function countServed(request: FastifyRequest, reply: FastifyReply): void {
  if (reply.raw.destroyed) return;
  request.endCount = countRequest();
  reply.raw.once("close", request.endCount);
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
  const asked = { caller, request, reply, parts };
  if (!mayRepeat || caller.projectId === null)
    return send(await handle(makeCall(options, endpoint, { ...asked, keyed: null })));
  const body =
    endpoint.bodyKind === "upload"
      ? joinParts(request.body)
      : Buffer.isBuffer(request.body)
        ? request.body
        : Buffer.alloc(0);
  const keyed = keyedRequest(
    caller.projectId,
    storedKey(key, { isTest: isTest(caller), byPublicKey: isPublic(caller) }),
    endpoint.path + request.url,
    body,
  );
  const { response, isReplay } = await options.keyTurns.wait(keyed, () =>
    doOnce(options, keyed, () => handle(makeCall(options, endpoint, { ...asked, keyed }))),
  );
  if (!isReplay) return send(response);
  reply.header("idempotency-replayed", "true");
  return send(opened(options, endpoint, { projectId: keyed.projectId, response }));
}

/** Returns the stored response of a request, or does its work. */
async function doOnce(
  { database, log }: ResponseOptions,
  keyed: KeyedRequest,
  work: () => Promise<HttpResponse>,
): Promise<{ response: HttpResponse; isReplay: boolean }> {
  const stored = await findResponse(database, keyed);
  if (stored !== null) return { response: stored, isReplay: true };
  try {
    return { response: await work(), isReplay: false };
  } catch (error) {
    // Another process may have stored it meanwhile, or this one did and then failed, for example because its connection broke at the commit.
    const storedMeanwhile = await findResponse(database, keyed);
    if (storedMeanwhile === null) throw error;
    if (!(error instanceof AppError))
      log.warn({ err: error }, "a request failed after its response was stored");
    return { response: storedMeanwhile, isReplay: true };
  }
}

const isPublic = ({ key }: Caller) => key === "public";
const isTest = ({ scopes }: Caller) => scopes?.includes(TEST_SCOPE) === true;

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
  { projectId, response }: { projectId: string; response: StoredResponse },
): HttpResponse {
  if (!isSecret) return response;
  const { sealed: text } = response.body as { sealed: string };
  return { ...response, body: JSON.parse(sealer.open(Buffer.from(text, "base64"), contextOf(projectId))) };
}

interface Asked {
  caller: Caller;
  request: FastifyRequest;
  reply: FastifyReply;
  parts: Parts;
  keyed: KeyedRequest | null;
}

function makeCall(
  options: ResponseOptions,
  endpoint: Endpoint,
  { caller, request, reply, parts, keyed }: Asked,
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
    host: request.hostname,
    keyed,
    countAs: (requests: number) => options.countMore(caller, requests - 1, reply),
    commit: async (work: (tx: Tx) => Promise<HttpResponse>) =>
      transaction(options.database, async (tx) => {
        const result = await work(tx);
        if (keyed !== null)
          await storeResponses(tx, [
            { request: keyed, response: sealed(options, endpoint, keyed.projectId, result) },
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
