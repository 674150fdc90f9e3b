// Statements on `api_keys` about all projects. A cluster has this table on every node.
import { sql } from "kysely";
import type { Database } from "../platform/database/database.ts";

/** Returns the ids of all projects with keys. */
export async function listProjectsWithKeys(database: Database): Promise<string[]> {
  const { rows } = await sql<{ projectId: string }>`select distinct project_id from api_keys`.execute(
    database,
  );
  return rows.map(({ projectId }) => projectId);
}
