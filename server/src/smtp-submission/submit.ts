// Stores the emails of one submitted message, in the batches of POST /v1/send.
import { createHash } from "node:crypto";
import { send, type SendBody } from "@postloft/contract/v1.ts";
import { AppError } from "../platform/app-error.ts";
import { createGroupCommit } from "../platform/background/group-commit.ts";
import type { Database } from "../platform/database/database.ts";
import {
  checkIdempotencyKey,
  findResponses,
  keyedRequest,
  type KeyedRequest,
  type StoredResponse,
} from "../platform/http/idempotency.ts";
import { readBody } from "../platform/http/read-parts.ts";
import type { SendResponse } from "../v1/accept-sends.ts";
import type { RecentSends } from "../v1/recent-sends.ts";
import type { SendEndpoint } from "../v1/send.ts";
import type { Submitter } from "./authenticate.ts";
import type { SubmittedMessage } from "./read-submitted.ts";

export interface SubmitOptions {
  database: Database;
  sendEndpoint: Pick<SendEndpoint, "check" | "checkRaw" | "accept">;
  recentSends: Pick<RecentSends, "note">;
}

/** A message with its recipients, each in canonical form and once. */
export interface Submission extends Submitter {
  message: SubmittedMessage;
  recipients: readonly string[];
  /** Names the transaction in the log. */
  requestId: string;
}

/** Part of the fingerprint, so that no HTTP request has the same one. */
const KEY_PATH = "smtp submission";
const MAX_LOOKUPS = 200;

/**
 * Returns the function that stores an email for each recipient in one transaction, or returns the emails of an earlier submission of the same
 * message to the same recipients (docs/decisions/0137-repeated-messages.md). It throws an AppError about the message.
 */
export function createSubmit(options: SubmitOptions): (submission: Submission) => Promise<SendResponse> {
  const { database, recentSends } = options;
  /** Looks for the responses of messages that arrive at the same time with one statement. */
  const lookups = createGroupCommit<KeyedRequest, StoredResponse | null>({
    shards: 1,
    shardOf: () => 0,
    maxItems: MAX_LOOKUPS,
    run: (requests) => findResponses(database, requests),
  });
  async function findStored(keyed: KeyedRequest | null): Promise<SendResponse | null> {
    const stored = keyed === null ? null : await lookups.submit(keyed);
    return stored === null ? null : (stored.body as SendResponse);
  }

  return async (submission) => {
    const { projectId, requestId, message } = submission;
    const body = readFields(submission);
    const keyed = message.identity === null ? null : requestOf(submission);
    const stored = await findStored(keyed);
    if (stored !== null) return stored;
    try {
      const response = await store(options, submission, body, keyed);
      recentSends.note({ requestId, projectId, response });
      return response;
    } catch (error) {
      // The message may have been stored meanwhile.
      const storedMeanwhile = await findStored(keyed);
      if (storedMeanwhile === null) throw error;
      return storedMeanwhile;
    }
  };
}

async function store(
  { sendEndpoint }: SubmitOptions,
  { projectId, isTest, message }: Submission,
  body: SendBody,
  keyed: KeyedRequest | null,
): Promise<SendResponse> {
  const call = { projectId, isTest, body, keyed };
  const item = await (body.template === undefined
    ? sendEndpoint.checkRaw(call, message.raw)
    : sendEndpoint.check(call));
  const bodyBytes = message.raw.bytes.length;
  const [result] = await sendEndpoint.accept({ items: [item], bodyBytes, store: null });
  if (result === undefined || result instanceof Error) throw result ?? new Error("A message has no result.");
  return result;
}

/**
 * Returns the message as a call of `/v1/send`, which checks the values of the control headers.
 * @throws AppError VALIDATION_ERROR
 */
function readFields({ message, recipients }: Submission): SendBody {
  const { controls, subject, from, replyTo } = message;
  const isTemplate = controls["template"] !== undefined;
  const headers = replyTo === undefined ? {} : { headers: { "Reply-To": replyTo } };
  // Without a template the schema requires texts, which the raw message replaces.
  const parts = isTemplate ? headers : { subject: "-", body: "-" };
  const read = readBody(send, { ...controls, ...parts, to: recipients });
  if (read.problems.length > 0) throw new AppError("VALIDATION_ERROR", { fields: read.problems });
  const body = read.body as SendBody;
  return isTemplate ? { ...body, from } : { ...body, from, subject, body: "" };
}

/** Returns the keyed request. Its key is a hash of the message's name and recipients. @throws AppError VALIDATION_ERROR for a malformed key */
function requestOf({ projectId, isTest, message, recipients }: Submission): KeyedRequest {
  const { key, messageId } = message.identity ?? {};
  if (key !== undefined) checkIdempotencyKey(key);
  const named = JSON.stringify([key ?? null, messageId ?? null, isTest, recipients.toSorted()]);
  const hash = createHash("sha256").update(named).digest("base64url");
  // No header contains a line break, so the prefix cannot collide with the keys of HTTP requests.
  return keyedRequest(projectId, `smtp\n${hash}`, KEY_PATH, Buffer.alloc(0));
}
