// Implements idempotency keys (decisions §1, promise P11). The same request with the same key has one effect and one response, kept for 24
// hours.
import { sql } from "kysely";
import { LIMITS } from "@postloft/contract/limits/limits.ts";
import { withValues } from "@postloft/contract/translation.ts";
import type { Database, Tx } from "../database/database.ts";
import { newId, contentId } from "../ids.ts";
import { AppError, invalidField } from "../app-error.ts";

/** How long a claim without a response counts as running. After that the same request may take it over. */
const CLAIM_SECONDS = 60;
const KEY = /^[\x20-\x7e]+$/;

export interface StoredResponse {
  projectId: string;
  key: string;
  claimId: string;
}

export interface KeptResponse {
  status: number;
  body: unknown;
}

/** Checks the form of a key. @throws AppError 422 for a key outside 1–255 printable ASCII characters */
export function checkIdempotencyKey(key: string): void {
  if (key.length > LIMITS.idempotencyKeyLength.value)
    throw invalidField(
      "Idempotency-Key",
      "too_big",
      withValues("Must have at most {most} characters.", { most: LIMITS.idempotencyKeyLength.value }),
    );
  if (!KEY.test(key))
    throw invalidField("Idempotency-Key", "invalid_string", "Must be 1 to 255 printable ASCII characters.");
}

/**
 * Claims the key for this request, or returns the stored response.
 * @throws AppError IDEMPOTENCY_KEY_REUSED if another request has the key, or the same request is still running
 */
export async function claimKey(
  database: Database,
  request: { projectId: string; key: string; path: string; body: Buffer },
): Promise<{ storedResponse: StoredResponse } | { stored: KeptResponse }> {
  const { projectId, key } = request;
  const claimId = newId();
  const fingerprint = Buffer.from(contentId(request.path, request.body));
  const taken = await sql`
    insert into idempotency_keys (project_id, key, claim_id, fingerprint, claimed_until, created_at)
    values (${projectId}, ${key}, ${claimId}, ${fingerprint}, now() + make_interval(secs => ${CLAIM_SECONDS}), now())
    on conflict (project_id, key) do update
      set claim_id = excluded.claim_id, fingerprint = excluded.fingerprint, claimed_until = excluded.claimed_until,
          status = null, answer = null, created_at = excluded.created_at
      where (idempotency_keys.status is null and idempotency_keys.claimed_until < excluded.created_at)
         or excluded.created_at - idempotency_keys.created_at > make_interval(hours => ${LIMITS.idempotencyHours.value})
    returning 1`.execute(database);
  if (taken.rows.length === 1) return { storedResponse: { projectId, key, claimId } };
  const found = await database
    .selectFrom("idempotency_keys")
    .select(["fingerprint", "status", "answer"])
    .where("projectId", "=", projectId)
    .where("key", "=", key)
    .executeTakeFirst();
  if (found === undefined)
    throw new AppError("IDEMPOTENCY_KEY_REUSED", {
      message: "The request with this Idempotency-Key just ended with an error. Send it again.",
    });
  if (!found.fingerprint.equals(fingerprint))
    throw new AppError("IDEMPOTENCY_KEY_REUSED", {
      message: "This Idempotency-Key was used with a different request.",
    });
  if (found.status === null || found.answer === null)
    throw new AppError("IDEMPOTENCY_KEY_REUSED", {
      message: "The request with this Idempotency-Key is still running.",
      retryAfterSeconds: 1,
    });
  return { stored: { status: found.status, body: JSON.parse(found.answer) } };
}

/** Stores responses in the transaction of their effects. @throws AppError if a claim was taken over, which rolls the effect back */
export async function storeStoredResponses(
  tx: Tx,
  responses: ReadonlyArray<{ storedResponse: StoredResponse; answer: KeptResponse }>,
): Promise<void> {
  if (responses.length === 0) return;
  const stored = await sql`
    update idempotency_keys k set status = a.status, answer = a.answer
    from unnest(
      ${responses.map(({ storedResponse }) => storedResponse.projectId)}::uuid[],
      ${responses.map(({ storedResponse }) => storedResponse.key)}::text[],
      ${responses.map(({ storedResponse }) => storedResponse.claimId)}::uuid[],
      ${responses.map(({ answer }) => answer.status)}::smallint[],
      ${responses.map(({ answer }) => JSON.stringify(answer.body))}::text[]
    ) as a (project_id, key, claim_id, status, answer)
    where k.project_id = a.project_id and k.key = a.key and k.claim_id = a.claim_id and k.status is null
    returning 1`.execute(tx);
  if (stored.rows.length !== responses.length)
    throw new AppError("IDEMPOTENCY_KEY_REUSED", {
      message: "Another request took over this Idempotency-Key.",
    });
}

/** Releases a key after a failure, so that the corrected request may use it. Stored responses stay. */
export async function releaseKey(database: Database, storedResponse: StoredResponse): Promise<void> {
  await database
    .deleteFrom("idempotency_keys")
    .where("projectId", "=", storedResponse.projectId)
    .where("key", "=", storedResponse.key)
    .where("claimId", "=", storedResponse.claimId)
    .where("status", "is", null)
    .execute();
}

const SWEEP_ROWS = 5_000;
/** Further keys are swept the next time. */
const SWEEPS = 100;

/** Deletes keys older than 24 hours in batches of 5,000 and returns how many. */
export async function sweepKeys(database: Database): Promise<number> {
  let swept = 0;
  for (let times = 0; times < SWEEPS; times++) {
    const deleted = await deleteOldKeys(database);
    swept += deleted;
    if (deleted < SWEEP_ROWS) break;
  }
  return swept;
}

async function deleteOldKeys(database: Database): Promise<number> {
  const deleted = await sql`
    with old as materialized (
      select project_id, key from idempotency_keys
      where created_at < now() - make_interval(hours => ${LIMITS.idempotencyHours.value}) limit ${SWEEP_ROWS}
    )
    delete from idempotency_keys k using old
    -- Except a key that was claimed again since.
    where k.project_id = old.project_id and k.key = old.key
      and k.created_at < now() - make_interval(hours => ${LIMITS.idempotencyHours.value})`.execute(database);
  return Number(deleted.numAffectedRows ?? 0);
}
