// Statements on `api_keys` about all projects. A cluster has this table on every node.
import { sql } from "kysely";
import type { Database } from "../platform/database/database.ts";

export interface FoundKey {
  hash: Buffer;
  projectId: string;
  kind: "public" | "secret";
  disabled: boolean;
}

/**
 * Returns keys with the state of their projects. Names the projects, because a statement that joins the two tables asks every node, also one
 * that is away.
 */
export async function findKeysOfCluster(database: Database, hashes: readonly Buffer[]): Promise<FoundKey[]> {
  const { rows: keys } = await sql<Omit<FoundKey, "disabled">>`
    select hash, project_id, kind from api_keys where hash = any(${hashes}::bytea[])`.execute(database);
  if (keys.length === 0) return [];
  const projectIds = [...new Set(keys.map(({ projectId }) => projectId))];
  const { rows: projects } = await sql<{ id: string; disabled: boolean }>`
    select id, disabled from projects where id = any(${projectIds}::uuid[])`.execute(database);
  const states = new Map(projects.map(({ id, disabled }) => [id, disabled]));
  return keys.flatMap((key) => {
    const disabled = states.get(key.projectId);
    return disabled === undefined ? [] : [{ ...key, disabled }];
  });
}

/** Returns the ids of all projects with keys. */
export async function listProjectsWithKeys(database: Database): Promise<string[]> {
  const { rows } = await sql<{ projectId: string }>`select distinct project_id from api_keys`.execute(
    database,
  );
  return rows.map(({ projectId }) => projectId);
}
