// Lists all projects of the installation, even if a node of a cluster with some of them is away.
import type { Database } from "../platform/database/database.ts";
import { SYSTEM_PROJECT_ID } from "../emails/rows/system-project.ts";
import { listProjectsWithKeys } from "./key-queries.ts";

/** Returns the ids of all projects. Only the one of platform email has no keys. */
export async function listAllProjects(database: Database): Promise<string[]> {
  return [SYSTEM_PROJECT_ID, ...(await listProjectsWithKeys(database))];
}
