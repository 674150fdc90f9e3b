// Implements idempotency keys (decisions §1, promise P11). The same request with the same key has one effect and one response, kept for 24
// hours.
import { sql } from "kysely";
import type { FieldError } from "@postloft/contract/errors.ts";
import { LIMITS } from "@postloft/contract/limits/limits.ts";
import { withValues } from "@postloft/contract/translation.ts";
import type { Database, Tx } from "../database/database.ts";
import { contentId } from "../ids.ts";
import { AppError } from "../app-error.ts";

const KEY = /^[\x20-\x7e]+$/;

/** A request with a key. Another request with the same key is the same one if the fingerprint is equal. */
export interface KeyedRequest {
  projectId: string;
  key: string;
  fingerprint: Buffer;
}

export interface StoredResponse {
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

export interface KeyTurns {
  /** Does the work when earlier requests with this key have ended, so that a repeat finds their response instead of working again. */
  wait<Result>(request: KeyedRequest, work: () => Promise<Result>): Promise<Result>;
}

/** Lets requests with the same key run one after the other in this process. Between processes, the insert of the response decides. */
export function createKeyTurns(): KeyTurns {
  /** The end of the last request with each key. */
  const ends = new Map<string, Promise<unknown>>();
  return {
    async wait(request, work) {
      const name = nameOf(request);
      const before = ends.get(name);
      const result = (async () => {
        await before;
        return work();
      })();
      const end = result.catch(() => undefined);
      ends.set(name, end);
      try {
        return await result;
      } finally {
        if (ends.get(name) === end) ends.delete(name);
      }
    },
  };
}

/** @param body the request's bytes, which are not kept */
export function keyedRequest(projectId: string, key: string, path: string, body: Buffer): KeyedRequest {
  return { projectId, key, fingerprint: Buffer.from(contentId(path, body)) };
}

/** Returns the stored response of each request in order, an error if another request used the key, or null. */
export async function findResponses(
  database: Database,
  requests: readonly KeyedRequest[],
): Promise<Array<StoredResponse | AppError | null>> {
  if (requests.length === 0) return [];
  const { rows } = await sql<KeyedRequest & { status: number; answer: string }>`
    select k.project_id, k.key, k.fingerprint, k.status, k.answer
    from unnest(
      ${requests.map(({ projectId }) => projectId)}::uuid[],
      ${requests.map(({ key }) => key)}::text[]
    ) as i (project_id, key)
    join idempotency_keys k on k.project_id = i.project_id and k.key = i.key
    where k.created_at >= now() - make_interval(hours => ${sql.lit(LIMITS.idempotencyHours.value)})`.execute(
    database,
  );
  const found = new Map(rows.map((row) => [nameOf(row), row]));
  return requests.map((request) => {
    const row = found.get(nameOf(request));
    if (row === undefined) return null;
    if (row.fingerprint.equals(request.fingerprint))
      return { status: row.status, body: JSON.parse(row.answer) };
    return new AppError("IDEMPOTENCY_KEY_REUSED");
  });
}

const nameOf = ({ projectId, key }: Pick<KeyedRequest, "projectId" | "key">) => `${projectId} ${key}`;

/**
 * Returns the response that is stored for this request, or null.
 * @throws AppError IDEMPOTENCY_KEY_REUSED if another request used the key
 */
export async function findResponse(
  database: Database,
  request: KeyedRequest,
): Promise<StoredResponse | null> {
  const [found = null] = await findResponses(database, [request]);
  if (found instanceof AppError) throw found;
  return found;
}

/**
 * Stores responses in the transaction of their effects. Call it last, because it waits for other transactions with the same key
 * (docs/decisions/0005).
 * @param responses with different keys
 * @throws AppError IDEMPOTENCY_KEY_REUSED if a key was used meanwhile, so that the effects roll back
 */
export async function storeResponses(
  tx: Tx,
  responses: ReadonlyArray<{ request: KeyedRequest; response: StoredResponse }>,
): Promise<void> {
  if (responses.length === 0) return;
  const requests = responses.map(({ request }) => request);
  // Sorted, so that two transactions with the same keys wait for each other instead of deadlocking.
  const stored = await sql`
    insert into idempotency_keys (project_id, key, fingerprint, status, answer)
    select project_id, key, fingerprint, status, answer
    from unnest(
      ${requests.map(({ projectId }) => projectId)}::uuid[],
      ${requests.map(({ key }) => key)}::text[],
      ${requests.map(({ fingerprint }) => fingerprint)}::bytea[],
      ${responses.map(({ response }) => response.status)}::smallint[],
      ${responses.map(({ response }) => JSON.stringify(response.body))}::text[]
    ) as r (project_id, key, fingerprint, status, answer)
    order by project_id, key
    on conflict (project_id, key) do update
      set fingerprint = excluded.fingerprint, status = excluded.status, answer = excluded.answer,
          created_at = excluded.created_at
      where excluded.created_at - idempotency_keys.created_at > make_interval(hours => ${sql.lit(LIMITS.idempotencyHours.value)})
    returning 1`.execute(tx);
  if (stored.rows.length !== responses.length) throw usedMeanwhile();
}

/**
 * Runs the items of a group commit, without those that repeat the key of an earlier item. A repeat gets an error, because it would roll back
 * the whole batch. Its caller finds the stored response after the commit.
 */
export async function runWithoutRepeats<Item, Result>(
  items: readonly Item[],
  keysOf: (item: Item) => readonly KeyedRequest[],
  run: (items: readonly Item[]) => Promise<ReadonlyArray<Result | Error>>,
): Promise<Array<Result | Error>> {
  const used = new Set<string>();
  const isNew = items.map((item) => {
    const names = keysOf(item).map(nameOf);
    const isRepeat = names.some((name) => used.has(name));
    if (!isRepeat) for (const name of names) used.add(name);
    return !isRepeat;
  });
  const results = [...(await run(items.filter((_item, at) => isNew[at])))];
  return isNew.map((wasRun) => (wasRun ? results.shift() : null) ?? usedMeanwhile());
}

function usedMeanwhile(): AppError {
  return new AppError("IDEMPOTENCY_KEY_REUSED", {
    message: "A request with this Idempotency-Key was made at the same time. Send this one again.",
    retryAfterSeconds: 1,
  });
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
    -- Except a key that was used again since.
    where k.project_id = old.project_id and k.key = old.key
      and k.created_at < now() - make_interval(hours => ${LIMITS.idempotencyHours.value})`.execute(database);
  return Number(deleted.numAffectedRows ?? 0);
}
