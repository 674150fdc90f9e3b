// All mails to one contact with what each says and what happened to it: for whoever asks what we hold on them.
// Before it: contacts/export-contact.ts. After it: the rows of the outbox.
import { transaction, type Database } from "../platform/database.ts";
import { getEmail } from "./emails.ts";
import { listEmailsOfContact } from "./history-queries.ts";
import { layOutMailsOf } from "./lay-out-emails.ts";

export type EmailOfContact = Awaited<ReturnType<typeof getEmail>> & { variables: Record<string, unknown> };

const MAILS_A_PAGE = 50;

/** The mails of a contact, oldest first, one at a time: a mail may be large. */
export async function* readEmailHistory(
  database: Database,
  projectId: string,
  contactId: string,
): AsyncGenerator<EmailOfContact> {
  await transaction(database, (tx) => layOutMailsOf(tx, projectId, [contactId]));
  for (let after: string | null = null; ;) {
    const rows = await listEmailsOfContact(database, projectId, contactId, { after, limit: MAILS_A_PAGE });
    for (const row of rows) {
      const variables = (row.variables ?? {}) as Record<string, unknown>;
      yield { ...(await getEmail(database, projectId, row.id)), variables };
    }
    const last = rows.at(-1);
    if (last === undefined || rows.length < MAILS_A_PAGE) return;
    after = last.id;
  }
}
