// Statements on `scoped_keys`.
import { sql } from "kysely";
import type { Database, Tx } from "../../platform/database/database.ts";
import type { Row } from "../../platform/database/row.ts";
import { lockProject } from "../queries.ts";

export type ScopedKeyRow = Row<"scoped_keys", (typeof SHOWN)[number]>;

const SHOWN = [
  "id",
  "name",
  "role",
  "scopes",
  "networks",
  "expiresAt",
  "lastUsedAt",
  "createdBy",
  "createdAt",
] as const;

/** Returns the keys of a project, or those of one creator, newest first. */
export async function listKeyRows(
  database: Database,
  projectId: string,
  createdBy: string | null,
): Promise<ScopedKeyRow[]> {
  let query = database.selectFrom("scoped_keys").select(SHOWN).where("projectId", "=", projectId);
  if (createdBy !== null) query = query.where("createdBy", "=", createdBy);
  return query.orderBy("id", "desc").execute();
}

/** Locks the project and counts its keys, so that two concurrent creations can't exceed the limit. */
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
    role: "ADMIN" | "MEMBER";
    scopes: string[];
    networks: string[];
    expiresAt: Date | null;
    createdBy: string;
  },
): Promise<ScopedKeyRow> {
  return tx.insertInto("scoped_keys").values(key).returning(SHOWN).executeTakeFirstOrThrow();
}

/** Deletes a key, optionally only if it has this creator. Returns its name, or undefined if there is none. */
export async function deleteKeyRow(
  tx: Tx,
  { projectId, id, createdBy }: { projectId: string; id: string; createdBy: string | null },
): Promise<string | undefined> {
  let query = tx.deleteFrom("scoped_keys").where("projectId", "=", projectId).where("id", "=", id);
  if (createdBy !== null) query = query.where("createdBy", "=", createdBy);
  return (await query.returning("name").executeTakeFirst())?.name;
}

/** Limits the keys that a person created to the role MEMBER. */
export async function lowerKeyRowsBy(tx: Tx, projectId: string, userId: string): Promise<void> {
  await tx
    .updateTable("scoped_keys")
    .set({ role: "MEMBER" })
    .where("projectId", "=", projectId)
    .where("createdBy", "=", userId)
    .execute();
}

/** Deletes the keys that a person created, and returns them. */
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

export interface FoundKeyRow extends Row<"scoped_keys", "hash" | "projectId" | "id" | "scopes" | "networks"> {
  role: "ADMIN" | "MEMBER";
  isExpired: boolean;
  isUseKnown: boolean;
  disabled: boolean;
}

/** Finds keys by hash. `is_use_known`: a use was recorded less than a minute ago. */
export async function findScopedKeyRows(
  database: Database,
  hashes: readonly Buffer[],
): Promise<FoundKeyRow[]> {
  const { rows } = await sql<FoundKeyRow>`
    select k.hash, k.project_id, k.id, k.role, k.scopes, k.networks, coalesce(k.expires_at <= now(), false) as is_expired,
      coalesce(k.last_used_at > now() - interval '1 minute', false) as is_use_known, p.disabled
    from scoped_keys k join projects p on p.id = k.project_id
    where k.hash = any(${hashes}::bytea[])`.execute(database);
  return rows;
}

/** Records the use of keys. Skips rows locked by another transaction, because their next use is recorded. */
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
