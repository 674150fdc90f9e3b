// Implements idempotency keys (decisions §1, promise P11). The same request with the same key has one effect and one response, kept for 24
// hours.
import { sql } from "kysely";
import type { FieldError } from "@postloft/contract/errors.ts";
import { LIMITS } from "@postloft/contract/limits/limits.ts";
import { withValues } from "@postloft/contract/translation.ts";
import type { Database, Tx } from "../database/database.ts";
import { newId, contentId } from "../ids.ts";
import { AppError } from "../app-error.ts";

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

/** Returns what is wrong with the form of a key, or null. */
export function faultOfKey(key: unknown): Omit<FieldError, "field"> | null {
  const most = LIMITS.idempotencyKeyLength.value;
  if (typeof key !== "string") return { code: "invalid_type", message: "Must be a string." };
  if (key.length > most)
    return { code: "too_big", ...withValues("Must have at most {most} characters.", { most }) };
  if (KEY.test(key)) return null;
  return { code: "invalid_string", message: "Must be 1 to 255 printable ASCII characters." };
}

/** Checks the form of a key. @throws AppError 422 for a key outside 1–255 printable ASCII characters */
export function checkIdempotencyKey(key: string): void {
  const fault = faultOfKey(key);
  if (fault !== null)
    throw new AppError("VALIDATION_ERROR", { fields: [{ field: "Idempotency-Key", ...fault }] });
}

/**
 * Returns the key as stored, with a prefix for test and public keys. No header contains a line break, so the prefixes cannot collide with
 * other keys (docs/decisions/0079).
 */
export function storedKey(
  key: string,
  { isTest, byPublicKey }: { isTest: boolean; byPublicKey: boolean },
): string {
  if (isTest) return `test\n${key}`;
  return byPublicKey ? `public\n${key}` : key;
}

export interface KeyedRequest {
  projectId: string;
  key: string;
  path: string;
  body: Buffer;
}

/** The claim of a request for its key, or the response that was stored for it. */
export type Claim = { storedResponse: StoredResponse } | { stored: KeptResponse };

/**
 * Claims the key for this request, or returns the stored response.
 * @throws AppError IDEMPOTENCY_KEY_REUSED if another request has the key, or the same request is still running
 */
export async function claimKey(database: Database, request: KeyedRequest): Promise<Claim> {
  const [claim] = await claimKeys(database, [request]);
  if (claim === undefined || claim instanceof Error) throw claim ?? new Error("A key was not claimed.");
  return claim;
}

/** Claims the keys of several requests, which must differ. Returns a claim or the error IDEMPOTENCY_KEY_REUSED for each, in order. */
export async function claimKeys(
  database: Database,
  requests: readonly KeyedRequest[],
): Promise<Array<Claim | AppError>> {
  if (requests.length === 0) return [];
  const claims = requests.map(({ projectId, key, path, body }) => ({
    projectId,
    key,
    claimId: newId(),
    fingerprint: Buffer.from(contentId(path, body)),
  }));
  // Sorted, so that two calls with the same keys wait for each other instead of deadlocking.
  const taken = await sql<{ claimId: string }>`
    insert into idempotency_keys (project_id, key, claim_id, fingerprint, claimed_until, created_at)
    select project_id, key, claim_id, fingerprint, now() + make_interval(secs => ${CLAIM_SECONDS}), now()
    from unnest(
      ${claims.map(({ projectId }) => projectId)}::uuid[],
      ${claims.map(({ key }) => key)}::text[],
      ${claims.map(({ claimId }) => claimId)}::uuid[],
      ${claims.map(({ fingerprint }) => fingerprint)}::bytea[]
    ) as c (project_id, key, claim_id, fingerprint)
    order by project_id, key
    on conflict (project_id, key) do update
      set claim_id = excluded.claim_id, fingerprint = excluded.fingerprint, claimed_until = excluded.claimed_until,
          status = null, answer = null, created_at = excluded.created_at
      where (idempotency_keys.status is null and idempotency_keys.claimed_until < excluded.created_at)
         or excluded.created_at - idempotency_keys.created_at > make_interval(hours => ${sql.lit(LIMITS.idempotencyHours.value)})
    returning claim_id`.execute(database);
  const own = new Set(taken.rows.map(({ claimId }) => claimId));
  const found = await findKeys(
    database,
    claims.filter(({ claimId }) => !own.has(claimId)),
  );
  return claims.map(({ fingerprint, ...storedResponse }) => {
    if (own.has(storedResponse.claimId)) return { storedResponse };
    return storedOrError(found.get(`${storedResponse.projectId} ${storedResponse.key}`), fingerprint);
  });
}

interface FoundKey {
  projectId: string;
  key: string;
  fingerprint: Buffer;
  status: number | null;
  answer: string | null;
}

/** Returns the rows of keys that other requests hold, by project and key. */
async function findKeys(
  database: Database,
  keys: ReadonlyArray<{ projectId: string; key: string }>,
): Promise<Map<string, FoundKey>> {
  if (keys.length === 0) return new Map();
  const { rows } = await sql<FoundKey>`
    select k.project_id, k.key, k.fingerprint, k.status, k.answer
    from unnest(${keys.map(({ projectId }) => projectId)}::uuid[], ${keys.map(({ key }) => key)}::text[]) as i (project_id, key)
    join idempotency_keys k on k.project_id = i.project_id and k.key = i.key`.execute(database);
  return new Map(rows.map((row) => [`${row.projectId} ${row.key}`, row]));
}

function storedOrError(
  found: FoundKey | undefined,
  fingerprint: Buffer,
): { stored: KeptResponse } | AppError {
  if (found === undefined)
    return new AppError("IDEMPOTENCY_KEY_REUSED", {
      message: "The request with this Idempotency-Key just ended with an error. Send it again.",
    });
  if (!found.fingerprint.equals(fingerprint))
    return new AppError("IDEMPOTENCY_KEY_REUSED", {
      message: "This Idempotency-Key was used with a different request.",
    });
  if (found.status === null || found.answer === null) return claimedAgain();
  return { stored: { status: found.status, body: JSON.parse(found.answer) } };
}

/** Returns the error for a request while the first one with its key is running. */
export function claimedAgain(): AppError {
  return new AppError("IDEMPOTENCY_KEY_REUSED", {
    message: "The request with this Idempotency-Key is still running.",
    retryAfterSeconds: 1,
  });
}

/** Returns the response that is stored for this request, or null. */
export async function findStoredResponse(
  database: Database,
  { projectId, key, path, body }: KeyedRequest,
): Promise<KeptResponse | null> {
  const found = (await findKeys(database, [{ projectId, key }])).get(`${projectId} ${key}`);
  const claim = storedOrError(found, Buffer.from(contentId(path, body)));
  return claim instanceof AppError ? null : claim.stored;
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

/** Releases keys after a failure, so that the corrected requests may use them. Stored responses stay. */
export async function releaseKeys(database: Database, claims: readonly StoredResponse[]): Promise<void> {
  if (claims.length === 0) return;
  await sql`
    delete from idempotency_keys k using unnest(
      ${claims.map(({ projectId }) => projectId)}::uuid[],
      ${claims.map(({ key }) => key)}::text[],
      ${claims.map(({ claimId }) => claimId)}::uuid[]
    ) as c (project_id, key, claim_id)
    where k.project_id = c.project_id and k.key = c.key and k.claim_id = c.claim_id and k.status is null`.execute(
    database,
  );
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
