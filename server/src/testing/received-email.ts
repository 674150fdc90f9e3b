// Stores a received email for tests, as the interpreter of notices does.
import { transaction, type Database } from "../platform/database/database.ts";
import { newId } from "../platform/ids.ts";
import { keepReceivedEmails, type MessageToKeep, type WrittenHeader } from "../received/keep-received.ts";
import { personalMail } from "./incoming-mail.ts";
import { addContacts } from "./sent-mails.ts";

export interface ToReceive {
  id?: string;
  from?: string;
  header?: Partial<WrittenHeader>;
  raw?: Buffer;
  authentication?: MessageToKeep["authentication"];
}

const HEADER: WrittenHeader = {
  fromName: "Ada",
  replyTo: null,
  subject: "A question",
  messageId: "<question@example.com>",
  inReplyTo: null,
  references: null,
};

/** Stores emails in one transaction and returns their ids and contacts. */
export async function addReceivedEmails(
  database: Database,
  projectId: string,
  emails: readonly ToReceive[],
): Promise<Array<{ id: string; contactId: string }>> {
  return transaction(database, async (tx) => {
    const whole = emails.map(
      ({ id = newId(), from = "ada@example.com", header, raw, authentication = null }) => ({
        projectId,
        id,
        from,
        recipient: `${"0".repeat(20)}@in.example`,
        header: { ...HEADER, ...header },
        authentication,
        raw: raw ?? personalMail({ from, messageId: "question@example.com" }),
      }),
    );
    const addresses = whole.map(({ from }) => from);
    const contacts = await addContacts(tx, projectId, addresses, false);
    const messages = whole.map((one, at) => ({ ...one, contactId: contacts[at]?.contactId ?? "" }));
    await keepReceivedEmails(tx, messages);
    return messages.map(({ id, contactId }) => ({ id, contactId }));
  });
}
