// Reads `consent_changes`. The statements that create and flip contacts write it.
import { sql } from "kysely";
import type { Database } from "../platform/database/database.ts";
import type { ConsentSource } from "./rules.ts";

/** Returns the consent log of a contact, newest first. */
export async function listConsentRows(
  database: Database,
  projectId: string,
  contactId: string,
  limit: number,
) {
  const { rows } = await sql<{
    id: string;
    subscribed: boolean;
    source: ConsentSource;
    actor: string | null;
    ip: string | null;
    emailId: string | null;
    createdAt: Date;
  }>`
    select id, subscribed, source, actor, host(ip) as ip, email_id, created_at from consent_changes
    where project_id = ${projectId} and contact_id = ${contactId}
    order by created_at desc, id desc limit ${limit}`.execute(database);
  return rows;
}
