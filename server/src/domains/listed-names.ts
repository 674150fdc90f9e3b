// Lists the names of a project's domains for other folders.
import type { Database } from "../platform/database/database.ts";
import { listDomainRows } from "./queries.ts";

/** Returns the domains of a project, verified or not. */
export async function listDomainNames(database: Database, projectId: string): Promise<string[]> {
  return (await listDomainRows(database, projectId)).map(({ domain }) => domain);
}
