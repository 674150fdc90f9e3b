// Whom a mail is rendered for: its contact, or for a test mail the one it is to look like.
// Before it: prepare-emails.ts has a claimed row. After it: rendering/ makes variables of the recipient.
import type { Recipient } from "../rendering/template-variables.ts";
import type { ClaimedRow } from "./sender-queries.ts";

/** The contact whose data a mail shows: its own, and of a test mail the one it is to look like. */
export function renderedAs({ contact_id: contactId, is_test: isTest, variables }: ClaimedRow): string | null {
  return isTest ? ((variables as { renderAs?: string } | null)?.renderAs ?? null) : contactId;
}

/** Whom a mail is rendered for; its own variables lie over the contact's data. */
export function recipientOf(
  row: ClaimedRow,
  contact: { email: string; subscribed: boolean; data: Record<string, unknown> } | undefined,
  linksOf: (projectId: string, contactId: string) => Recipient["links"],
): Omit<Recipient, "footer"> {
  const id = renderedAs(row);
  const variables = row.is_test ? null : (row.variables as Record<string, unknown> | null);
  return {
    id,
    email: contact?.email ?? row.to_address,
    subscribed: contact?.subscribed ?? false,
    data: { ...contact?.data, ...variables },
    links: id === null ? null : linksOf(row.project_id, id),
  };
}
