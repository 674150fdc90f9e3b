// Gives recipients who stand in batches rows of their own, because somebody asks for their mails.
// Before it: emails.ts shows or erases mails, email-history.ts tells them, deliveries/ books an opening. After it: they are mails as all others.
import type { Tx } from "../platform/database.ts";
import { layOutRecipients } from "./batch-queries.ts";

/** Those of these mails that have a row, or are none, are left alone; the others get theirs in the state they are in. */
export async function layOutEmails(
  tx: Tx,
  keys: ReadonlyArray<{ projectId: string; id: string }>,
): Promise<void> {
  const byProject = Map.groupBy(keys, ({ projectId }) => projectId);
  // In one order everywhere, as all that is locked.
  for (const projectId of [...byProject.keys()].toSorted()) {
    const ids = byProject.get(projectId)?.map(({ id }) => id) ?? [];
    await layOutRecipients(tx, projectId, { by: "id", ids });
  }
}

/** The mails of these contacts for which they still wait. */
export async function layOutMailsOf(tx: Tx, projectId: string, contactIds: readonly string[]): Promise<void> {
  await layOutRecipients(tx, projectId, { by: "contact_id", ids: contactIds });
}
