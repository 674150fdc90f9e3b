// Reads an email as its endpoint shows it, for outbox tests without a server.
import type { Database } from "../platform/database/database.ts";
import { getEmail } from "../emails/reading/read-emails.ts";
import { listEventsOfEmail } from "../events/events.ts";

export async function readEmail(database: Database, projectId: string, id: string) {
  return getEmail(database, projectId, id, listEventsOfEmail);
}
