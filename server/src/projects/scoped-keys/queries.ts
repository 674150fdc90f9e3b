// Statements on `scoped_keys`.
// Before it: scoped-keys.ts, find-scoped-keys.ts. After it: nothing.
import { sql } from "kysely";
import type { Database, Tx } from "../../platform/database.ts";
import { lockProject } from "../queries.ts";

export interface ScopedKeyRow {
  id: string;
  name: string;
  scopes: string[];
  networks: string[];
  expiresAt: Date | null;
  lastUsedAt: Date | null;
  createdBy: string;
  createdAt: Date;
}

const SHOWN = [
  "id",
  "name",
  "scopes",
  "networks",
  "expiresAt",
  "lastUsedAt",
  "createdBy",
  "createdAt",
] as const;

/** Newest first. */
export async function listKeyRows(database: Database, projectId: string): Promise<ScopedKeyRow[]> {
  return database
    .selectFrom("scoped_keys")
    .select(SHOWN)
    .where("projectId", "=", projectId)
    .orderBy("id", "desc")
    .execute();
}

/** Holds the project, so that of two that make the last key one finds it made. */
export async function countKeyRows(tx: Tx, projectId: string): Promise<number> {
  await lockProject(tx, projectId);
  const { rows } = await sql<{ count: number }>`
    select count(*)::float8 as count from scoped_keys where project_id = ${projectId}`.execute(tx);
  return rows[0]?.count ?? 0;
}

export async function insertKeyRow(
  tx: Tx,
  key: {
    projectId: string;
    id: string;
    hash: Buffer;
    name: string;
    scopes: string[];
    networks: string[];
    expiresAt: Date | null;
    createdBy: string;
  },
): Promise<ScopedKeyRow> {
  return tx.insertInto("scoped_keys").values(key).returning(SHOWN).executeTakeFirstOrThrow();
}

/** The name of the deleted key. */
export async function deleteKeyRow(tx: Tx, projectId: string, id: string): Promise<string | undefined> {
  const row = await tx
    .deleteFrom("scoped_keys")
    .where("projectId", "=", projectId)
    .where("id", "=", id)
    .returning("name")
    .executeTakeFirst();
  return row?.name;
}

/** Those that a person made; what was deleted. */
export async function deleteKeyRowsBy(
  tx: Tx,
  projectId: string,
  userId: string,
): Promise<Array<{ id: string; name: string }>> {
  return tx
    .deleteFrom("scoped_keys")
    .where("projectId", "=", projectId)
    .where("createdBy", "=", userId)
    .returning(["id", "name"])
    .execute();
}

export interface FoundKeyRow {
  hash: Buffer;
  projectId: string;
  id: string;
  scopes: string[];
  networks: string[];
  isExpired: boolean;
  isUseKnown: boolean;
  disabled: boolean;
}

/** `is_use_known`: it was noted less than a minute ago that the key is used. */
export async function findScopedKeyRows(
  database: Database,
  hashes: readonly Buffer[],
): Promise<FoundKeyRow[]> {
  const { rows } = await sql<FoundKeyRow>`
    select k.hash, k.project_id, k.id, k.scopes, k.networks, coalesce(k.expires_at <= now(), false) as is_expired,
      coalesce(k.last_used_at > now() - interval '1 minute', false) as is_use_known, p.disabled
    from scoped_keys k join projects p on p.id = k.project_id
    where k.hash = any(${hashes}::bytea[])`.execute(database);
  return rows;
}

/** Notes that keys are used; one whose row somebody else holds is noted at its next use. */
export async function updateLastUsed(
  database: Database,
  keys: ReadonlyArray<{ projectId: string; id: string }>,
): Promise<void> {
  await sql`
    with used as materialized (
      select k.project_id, k.id
      from unnest(${keys.map(({ projectId }) => projectId)}::uuid[], ${keys.map(({ id }) => id)}::uuid[]) as i (project_id, id)
      join scoped_keys k on k.project_id = i.project_id and k.id = i.id
      for update of k skip locked
    )
    update scoped_keys k set last_used_at = now() from used
    where k.project_id = used.project_id and k.id = used.id`.execute(database);
}
