// Reads the contact and project behind a link for the public pages.
import { sql } from "kysely";
import type { Database } from "../../platform/database/database.ts";
import type { LinkedRecipient } from "../links.ts";
import { shownData } from "../shown-data-queries.ts";

export interface SubscriptionRow {
  projectName: string;
  projectLanguage: string;
  logoUrl: string | null;
  background: string;
  surface: string;
  ink: string;
  accent: string;
  font: string;
  /** Null, together with the next two, if the contact is gone. */
  email: string | null;
  subscribed: boolean | null;
  locale: unknown;
}

/**
 * Returns the project and the contact of the linked address, or of the contact id in links without an address. Returns undefined if the
 * project is gone.
 */
export async function findSubscription(
  database: Database,
  { projectId, contactId, to }: LinkedRecipient,
): Promise<SubscriptionRow | undefined> {
  const isMeant = to === undefined ? sql`c.id = ${contactId}` : sql`c.email = ${to.address}`;
  const { rows } = await sql<SubscriptionRow>`
    select p.name as project_name, p.language as project_language, p.logo_url,
      p.brand_background as background, p.brand_surface as surface, p.brand_ink as ink, p.brand_accent as accent, p.brand_font as font,
      c.email, c.subscribed, ${shownData(sql`p.id`)} -> 'locale' as locale
    from projects p left join contacts c on c.project_id = p.id and ${isMeant}
    where p.id = ${projectId}`.execute(database);
  return rows[0];
}
