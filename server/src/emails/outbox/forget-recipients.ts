// People who are deleted, erased from the mails they got.
// Before it: contacts/ deletes them. After it: the mails stay in the books without them.
import type { Tx } from "../../platform/database.ts";
import { forgetMessages } from "../../transports/kept-messages.ts";
import { takeOutRecipients } from "./batch-queries.ts";
import type { ContactIfThere } from "./recipients.ts";
import { eraseRecipients } from "./queries.ts";

/** Erases people from the mails they got; what has not left is skipped, the rest stays in the books. */
export async function forgetRecipients(
  tx: Tx,
  projectId: string,
  contactIds: readonly string[],
  contactIfThere: ContactIfThere,
): Promise<void> {
  await takeOutRecipients(tx, projectId, { by: "contactId", ids: contactIds }, contactIfThere);
  await forgetMessages(tx, projectId, await eraseRecipients(tx, projectId, contactIds));
}
