// Sends the emails of POST /v1/send/batch. Each is read and checked like a call of POST /v1/send, and all are stored in one transaction.
import { LIMITS } from "@postloft/contract/limits/limits.ts";
import { withValues } from "@postloft/contract/translation.ts";
import { send, type SendBody } from "@postloft/contract/v1.ts";
import { nextTurn } from "../platform/background/turns.ts";
import type { Database } from "../platform/database/database.ts";
import { errorEnvelope, messageOfFields, type ErrorEnvelope } from "../platform/http/errors.ts";
import {
  faultOfKey,
  findResponses,
  keyedRequest,
  storedKey,
  type KeyedRequest,
} from "../platform/http/idempotency.ts";
import { readBody } from "../platform/http/read-parts.ts";
import { pairUp } from "../platform/pair-up.ts";
import { AppError, invalidField } from "../platform/app-error.ts";
import type { SendCall, SendItem, SendResponse } from "./accept-sends.ts";
import type { SendEndpoint, SendResult } from "./send.ts";

export interface BatchRequest extends Omit<SendCall, "body" | "unknownFields"> {
  emails: readonly unknown[];
  bodyBytes: number;
  requestId: string;
}

export interface BatchResponse {
  accepted: number;
  failed: number;
  results: Array<{ success: boolean; data?: SendResponse; error?: ErrorEnvelope["error"] }>;
}

interface BatchOptions {
  database: Database;
  sendEndpoint: Pick<SendEndpoint, "check" | "accept">;
  /** Returns the address of this service, for links in errors. */
  origin: () => string;
}

/** A valid email of the request. */
interface BatchEmail {
  /** Its place in the request. */
  at: number;
  body: SendBody;
  unknownFields: readonly string[];
  keyed: KeyedRequest | null;
}

/** The results of emails by their place in the request. */
type Results = Map<number, SendResponse | AppError>;

/** Emails that are read or checked before other requests get a turn. */
const EMAILS_A_TURN = 20;
/** Part of the fingerprint of an email with a key, so that no other request has the same one. */
const KEY_PATH = "email of a batch";

/**
 * Returns the endpoint. It throws only if no email was accepted.
 * @throws AppError about the whole call
 */
export function createBatchEndpoint(
  options: BatchOptions,
): (request: BatchRequest) => Promise<BatchResponse> {
  return async (request) => {
    const { bodyBytes, keyed } = request;
    const results: Results = new Map();
    const emails = await withoutStored(options, await readEmails(request, results), results);
    const checked = await checkEmails(options, request, emails, results);
    const responseTo = (own: readonly SendResult[]) => {
      for (const [{ at }, result] of pairUp(checked, own)) results.set(at, appErrorOrThrow(result));
      return present(request, results, options.origin());
    };
    const responseOf = (own: readonly SendResult[]) => ({ status: 200, body: responseTo(own) });
    const store = keyed === null ? null : { request: keyed, responseOf };
    const items = checked.map(({ item }) => item);
    const isAccepted = items.length > 0 || store !== null;
    return responseTo(isAccepted ? await options.sendEndpoint.accept({ items, bodyBytes, store }) : []);
  };
}

/**
 * Reads the emails like bodies of POST /v1/send. Returns the valid ones and sets the errors of the others.
 * @throws AppError VALIDATION_ERROR if they have too many recipients in total
 */
async function readEmails(request: BatchRequest, results: Results): Promise<BatchEmail[]> {
  const valid: BatchEmail[] = [];
  const keys = new Set(request.keyed === null ? [] : [request.keyed.key]);
  for (const [at, input] of request.emails.entries()) {
    if (at % EMAILS_A_TURN === EMAILS_A_TURN - 1) await nextTurn({ isInRequest: true });
    const email = readEmail(request, at, input, keys);
    if (email instanceof AppError) results.set(at, email);
    else valid.push(email);
  }
  const most = LIMITS.batchEmails.value;
  if (valid.reduce((sum, { body }) => sum + body.to.length, 0) > most)
    throw invalidField(
      "emails",
      "too_big",
      withValues("Must have at most {most} recipients in total.", { most }),
    );
  return valid;
}

/** @param keys those of the call and of the emails before, to which this one adds its own */
function readEmail(
  request: BatchRequest,
  at: number,
  input: unknown,
  keys: Set<string>,
): BatchEmail | AppError {
  if (typeof input !== "object" || input === null || Array.isArray(input))
    return invalidField("", "invalid_type", "Must be an object like the body of POST /v1/send.");
  const { idempotencyKey: key = null, ...sent } = input as Record<string, unknown>;
  const { body, problems, unknown } = readBody(send, sent);
  const keyed =
    typeof key === "string"
      ? keyedRequest(
          request.projectId,
          storedKey(key, { isTest: request.isTest, byPublicKey: false }),
          KEY_PATH,
          Buffer.from(JSON.stringify(input)),
        )
      : null;
  if (key !== null) {
    const isUsed = keyed !== null && keys.has(keyed.key);
    const fault = isUsed
      ? { code: "custom" as const, message: "The batch or another of its emails has the same key." }
      : faultOfKey(key);
    if (fault !== null) problems.push({ field: "idempotencyKey", ...fault });
  }
  if (problems.length > 0) return new AppError("VALIDATION_ERROR", { fields: problems });
  if (keyed !== null) keys.add(keyed.key);
  return { at, body: body as SendBody, unknownFields: unknown.map(({ field }) => field), keyed };
}

/** Returns the emails to send, and sets the results of those that were sent before. */
async function withoutStored(
  { database }: BatchOptions,
  emails: readonly BatchEmail[],
  results: Results,
): Promise<BatchEmail[]> {
  const keyed = emails.flatMap(({ at, keyed: request }) => (request === null ? [] : [{ at, request }]));
  const responses = await findResponses(
    database,
    keyed.map(({ request }) => request),
  );
  for (const [{ at }, response] of pairUp(keyed, responses))
    if (response instanceof AppError) results.set(at, response);
    else if (response !== null) results.set(at, response.body as SendResponse);
  return emails.filter(({ at }) => !results.has(at));
}

/** Checks the emails like calls of POST /v1/send. Returns the checked ones, and sets the errors of the others. */
async function checkEmails(
  { sendEndpoint }: BatchOptions,
  { emails: _all, ...call }: BatchRequest,
  emails: readonly BatchEmail[],
  results: Results,
): Promise<Array<{ at: number; item: SendItem }>> {
  const checked: Array<{ at: number; item: SendItem }> = [];
  for (let first = 0; first < emails.length; first += EMAILS_A_TURN) {
    const group = emails.slice(first, first + EMAILS_A_TURN);
    const items = await Promise.all(
      group.map(async ({ body, unknownFields, keyed }) =>
        sendEndpoint
          .check({ ...call, body, unknownFields, keyed })
          .catch((error: unknown) => appErrorOrThrow(error as Error)),
      ),
    );
    for (const [{ at }, item] of pairUp(group, items))
      if (item instanceof AppError) results.set(at, item);
      else checked.push({ at, item });
    await nextTurn({ isInRequest: true });
  }
  return checked;
}

/** Returns a result or an expected error. @throws any other error */
function appErrorOrThrow<Result>(result: Result | Error): Exclude<Result, Error> | AppError {
  if (result instanceof Error && !(result instanceof AppError)) throw result;
  return result as Exclude<Result, Error> | AppError;
}

function present({ emails, requestId }: BatchRequest, results: Results, origin: string): BatchResponse {
  const presented = emails.map((_email, at): BatchResponse["results"][number] => {
    const result = results.get(at) ?? new AppError("INTERNAL_SERVER_ERROR");
    if (!(result instanceof AppError)) return { success: true, data: result };
    return { success: false, error: errorEnvelope(withPlace(result, at), requestId, origin).error };
  });
  const accepted = presented.filter(({ success }) => success).length;
  return { accepted, failed: presented.length - accepted, results: presented };
}

/** Returns the error with the place of the email before the names of its fields. */
function withPlace(error: AppError, at: number): AppError {
  if (error.fields === null) return error;
  const fields = error.fields.map((fault) => ({
    ...fault,
    field: fault.field === "" ? `emails.${at}` : `emails.${at}.${fault.field}`,
  }));
  return new AppError(error.code, { message: messageOfFields(fields), fields });
}
