// Which templates use a domain: asked by domains/, before one is deleted.
import type { Database } from "../platform/database/database.ts";
import { findTemplateFrom } from "./queries.ts";

/** The name of a template that sends from a domain; undefined when there is none. */
export async function templateFrom(
  database: Database,
  projectId: string,
  domain: string,
): Promise<string | undefined> {
  return findTemplateFrom(database, projectId, domain);
}
