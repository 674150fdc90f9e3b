// What the public pages know of the contact that a link acts on.
import { sql } from "kysely";
import type { Database } from "../../platform/database/database.ts";
import type { LinkedRecipient } from "../links.ts";
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

/** The project and, if it is there, the contact that has the address, or of a link without one the contact; undefined when the project is gone too. */
export async function findSubscription(
  database: Database,
  { projectId, contactId, to }: LinkedRecipient,
): Promise<SubscriptionRow | undefined> {
  const isMeant = to === undefined ? sql`c.id = ${contactId}` : sql`c.email = ${to.address}`;
  const { rows } = await sql<SubscriptionRow>`
    select p.name as project_name, p.language as project_language, p.logo_url, c.email, c.subscribed, ${shownData(sql`p.id`)} -> 'locale' as locale
    from projects p left join contacts c on c.project_id = p.id and ${isMeant}
    where p.id = ${projectId}`.execute(database);
  return rows[0];
}
