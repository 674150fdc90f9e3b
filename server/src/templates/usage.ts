// Finds templates that use a domain; called by domains/ before a domain is deleted.
import type { Database } from "../platform/database/database.ts";
import { findTemplateFrom } from "./queries.ts";

/** Returns the name of a template that sends from a domain, or undefined. */
export async function templateFrom(
  database: Database,
  projectId: string,
  domain: string,
): Promise<string | undefined> {
  return findTemplateFrom(database, projectId, domain);
}
