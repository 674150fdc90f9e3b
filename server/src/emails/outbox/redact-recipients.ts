// Erases deleted contacts from their emails.
import type { Tx } from "../../platform/database/database.ts";
import { purgeMessages } from "../../transports/kept-messages.ts";
import { takeOutRecipients } from "./batch-queries.ts";
import type { ContactsThere } from "../rows/recipients.ts";
import { eraseRecipients, type ErasedPerson } from "./erase-queries.ts";

export { detachContacts } from "./erase-queries.ts";

/** Erases contacts from their emails. Emails not sent yet are skipped, and sent ones still count. */
export async function redactRecipients(
  tx: Tx,
  projectId: string,
  people: readonly ErasedPerson[],
  contactsThere: ContactsThere,
): Promise<void> {
  const ids = people.map(({ id }) => id);
  await takeOutRecipients(tx, projectId, { by: "contactId", ids }, contactsThere);
  await purgeMessages(tx, projectId, await eraseRecipients(tx, projectId, people));
}
