// Which workflows use something that stands further down in the reading order, for those who want to delete it.
// Before it: api.ts hands this to events/. After it: reference-queries.ts.
import type { Database } from "../platform/database.ts";
import { listWorkflowsNamingEvent } from "./reference-queries.ts";

/** Workflows that an event starts, that wait for it, or that ask whether it happened. */
export async function listWorkflowsWithEvent(database: Database, projectId: string, eventName: string) {
  return listWorkflowsNamingEvent(database, projectId, eventName);
}
