// What the public pages know of the contact a link names.
import { sql } from "kysely";
import type { Database } from "../../platform/database.ts";
import { shownData } from "../shown-data-queries.ts";

export interface SubscriptionRow {
  projectName: string;
  projectLanguage: string;
  logoUrl: string | null;
  /** Null with the two below when the contact is gone. */
  email: string | null;
  subscribed: boolean | null;
  locale: unknown;
}

/** The project and, if it is still there, the contact; undefined when the project is gone too. */
export async function findSubscription(
  database: Database,
  projectId: string,
  contactId: string,
): Promise<SubscriptionRow | undefined> {
  const { rows } = await sql<SubscriptionRow>`
    select p.name as project_name, p.language as project_language, p.logo_url, c.email, c.subscribed, ${shownData(sql`p.id`)} -> 'locale' as locale
    from projects p left join contacts c on c.project_id = p.id and c.id = ${contactId}
    where p.id = ${projectId}`.execute(database);
  return rows[0];
}
