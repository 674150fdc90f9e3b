// Erases people who are deleted from the mails they got.
import type { Tx } from "../../platform/database.ts";
import { forgetMessages } from "../../transports/kept-messages.ts";
import { takeOutRecipients } from "./batch-queries.ts";
import type { ContactIfThere } from "./recipients.ts";
import { eraseRecipients, type ErasedPerson } from "./erase-queries.ts";

/** Erases people from the mails they got; what has not left is skipped, the rest stays in the books. */
export async function forgetRecipients(
  tx: Tx,
  projectId: string,
  people: readonly ErasedPerson[],
  contactIfThere: ContactIfThere,
): Promise<void> {
  const ids = people.map(({ id }) => id);
  await takeOutRecipients(tx, projectId, { by: "contactId", ids }, contactIfThere);
  await forgetMessages(tx, projectId, await eraseRecipients(tx, projectId, people));
}
