// Query that pages through the emails of a contact.
import type { Database } from "../../platform/database/database.ts";

/** Lists emails, oldest first. */
export async function listEmailsOfContact(
  database: Database,
  projectId: string,
  contactId: string,
  page: { after: string | null; limit: number },
): Promise<Array<{ id: string; variables: unknown }>> {
  let query = database
    .selectFrom("emails")
    .select(["id", "variables"])
    .where("projectId", "=", projectId)
    .where("contactId", "=", contactId);
  if (page.after !== null) query = query.where("id", ">", page.after);
  return query.orderBy("id").limit(page.limit).execute();
}
