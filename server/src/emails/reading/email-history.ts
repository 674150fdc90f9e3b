// Reads all emails to a contact with their content and history, for data access requests.
import type { Database } from "../../platform/database/database.ts";
import { listWaiting } from "../outbox/batch-queries.ts";
import type { ListEventsOfEmail } from "./email-timeline.ts";
import { getEmail } from "./read-emails.ts";
import { listEmailsOfContact } from "./history-queries.ts";

export type EmailOfContact = Awaited<ReturnType<typeof getEmail>> & { variables: Record<string, unknown> };

const MAILS_A_PAGE = 50;

/** Yields the emails of a contact one at a time, oldest first, because each may be large. */
export async function* readEmailHistory(
  database: Database,
  projectId: string,
  contactId: string,
  listEventsOfEmail: ListEventsOfEmail,
): AsyncGenerator<EmailOfContact> {
  // Read the waiting emails first. An email claimed after that appears among the rows.
  const waiting = await listWaiting(database, projectId, { by: "contactId", ids: [contactId] });
  const reported = new Set<string>();
  for (let after: string | null = null; ;) {
    const rows = await listEmailsOfContact(database, projectId, contactId, { after, limit: MAILS_A_PAGE });
    for (const row of rows) {
      reported.add(row.id);
      const variables = (row.variables ?? {}) as Record<string, unknown>;
      yield { ...(await getEmail(database, projectId, row.id, listEventsOfEmail)), variables };
    }
    const last = rows.at(-1);
    if (last === undefined || rows.length < MAILS_A_PAGE) break;
    after = last.id;
  }
  for (const { id } of waiting.toReversed())
    if (!reported.has(id))
      yield { ...(await getEmail(database, projectId, id, listEventsOfEmail)), variables: {} };
}
