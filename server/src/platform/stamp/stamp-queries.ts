// Contains the SQL for `installation` and for PostgreSQL's own identity.
import { sql } from "kysely";
import type { ClientBase } from "pg";
import { databaseErrorCode, subtransaction, type Database, type Tx } from "../database/database.ts";
import type { Place, Stamp } from "./rules.ts";

/** Normal users may query all of these, but some services revoke the right. */
const PLACE = {
  systemIdentifier: "select system_identifier::text from pg_control_system()",
  databaseOid: "select oid::text from pg_database where datname = current_database()",
  timeline: "select left(pg_walfile_name(pg_current_wal_lsn()), 8)",
} as const;
const NAMES = Object.keys(PLACE) as Array<keyof Place>;
/** A connection without a response must not block callers that wait for a connection. */
const SEEN_TIMEOUT_MS = 3_000;

/** Not allowed, not known, not supported. */
const NOT_NOTIFIED = new Set(["42501", "42883", "0A000"]);

export async function readPlace(tx: Tx): Promise<Place> {
  const place: Place = { systemIdentifier: null, databaseOid: null, timeline: null };
  for (const name of NAMES)
    place[name] = await subtransaction(tx, async () => {
      const { rows } = await sql<{ value: string }>`select (${sql.raw(PLACE[name])}) as value`.execute(tx);
      return rows[0]?.value ?? null;
    }).catch((error: unknown) => {
      if (NOT_NOTIFIED.has(databaseErrorCode(error) ?? "")) return null;
      throw error;
    });
  return place;
}

/** Returns the state at the end of a new connection. Only queries the values that were available before. */
export async function readSeen(
  client: ClientBase,
  reported: Place,
): Promise<{ incarnation: number; beat: number; place: Place }> {
  const columns = NAMES.map(
    (name) => `${reported[name] === null ? "null" : `(${PLACE[name]})`} as "${name}"`,
  );
  const query = {
    text: `select incarnation, beat, ${columns.join(", ")} from installation`,
    query_timeout: SEEN_TIMEOUT_MS,
  };
  const { rows } = await client.query<{ incarnation: number; beat: number } & Place>(query);
  const [row] = rows;
  if (row === undefined) throw new Error("The table installation has lost its row.");
  const { incarnation, beat, ...place } = row;
  return { incarnation, beat, place };
}

/** Reads the row and locks it until the transaction ends. */
export async function lockStamp(tx: Tx): Promise<Stamp> {
  const { rows } = await sql<{
    id: string | null;
    systemIdentifier: string | null;
    databaseOid: string | null;
    timeline: string | null;
    incarnation: number;
    incarnationBeat: number;
    beat: number;
    beatAtMs: number;
    nowMs: number;
    holdAsked: boolean;
    wentBackAtMs: number | null;
  }>`
    select id, system_identifier, database_oid, timeline, incarnation, incarnation_beat, beat, hold_asked,
      extract(epoch from beat_at)::float8 * 1000 as beat_at_ms, extract(epoch from clock_timestamp())::float8 * 1000 as now_ms,
      extract(epoch from went_back_at)::float8 * 1000 as went_back_at_ms
    from installation for update`.execute(tx);
  const [row] = rows;
  if (row === undefined) throw new Error("The table installation has lost its row.");
  return {
    id: row.id,
    place: {
      systemIdentifier: row.systemIdentifier,
      databaseOid: row.databaseOid,
      timeline: row.timeline,
    },
    incarnation: row.incarnation,
    incarnationBeat: row.incarnationBeat,
    beat: row.beat,
    beatAtMs: row.beatAtMs,
    nowMs: row.nowMs,
    isHoldAsked: row.holdAsked,
    wentBackAtMs: row.wentBackAtMs,
  };
}

export interface NewStamp {
  place: Place;
  isAnother: boolean;
  /** The last heartbeat that a process knew. */
  leastBeat: number;
  rolledBack: boolean;
}

/** Stores the current place of the database and clears the request to hold. */
export async function updateStamp(
  tx: Tx,
  { place, isAnother, leastBeat, rolledBack }: NewStamp,
): Promise<void> {
  await sql`
    update installation set id = coalesce(id, gen_random_uuid()), system_identifier = ${place.systemIdentifier},
      database_oid = ${place.databaseOid}, timeline = ${place.timeline}, hold_asked = false,
      incarnation = incarnation + ${isAnother}::boolean::integer,
      incarnation_since = case when ${isAnother}::boolean then clock_timestamp() else incarnation_since end,
      incarnation_beat = case when ${isAnother}::boolean then beat else incarnation_beat end,
      beat = greatest(beat, ${leastBeat}::bigint) + 1, beat_at = clock_timestamp(),
      went_back_at = case when ${rolledBack}::boolean then clock_timestamp() else went_back_at end`.execute(
    tx,
  );
}

/** Increments the heartbeat and returns the row. */
export async function updateBeat(database: Database) {
  const { rows } = await sql<{
    id: string | null;
    incarnation: number;
    beat: number;
    beatAtMs: number;
    holdAsked: boolean;
  }>`
    update installation set beat = beat + 1, beat_at = clock_timestamp()
    returning id, incarnation, beat, hold_asked, extract(epoch from beat_at)::float8 * 1000 as beat_at_ms`.execute(
    database,
  );
  const [row] = rows;
  if (row === undefined) throw new Error("The table installation has lost its row.");
  return row;
}

/** For code with its own connection, such as a restore. */
export const ASK_TO_HOLD = "update installation set hold_asked = true";

export async function updateHoldAsked(tx: Tx): Promise<void> {
  await sql.raw(ASK_TO_HOLD).execute(tx);
}

/** Returns whether a requested hold is still pending. */
export async function isHoldRequested(database: Database): Promise<boolean> {
  const { rows } = await sql<{ isAsked: boolean }>`
    select hold_asked as is_asked from installation`.execute(database);
  return rows[0]?.isAsked === true;
}

export async function updateHeld(tx: Tx, reason: string): Promise<void> {
  await sql`update installation set held_since = now(), held_reason = ${reason}`.execute(tx);
}

export async function updateReleased(tx: Tx): Promise<void> {
  await sql`update installation set held_since = null, held_reason = null where held_since is not null`.execute(
    tx,
  );
}

export async function findHeld(database: Database): Promise<{ since: Date; reason: string } | null> {
  const { rows } = await sql<{ since: Date; reason: string }>`
    select held_since as since, held_reason as reason from installation where held_since is not null`.execute(
    database,
  );
  return rows[0] ?? null;
}
