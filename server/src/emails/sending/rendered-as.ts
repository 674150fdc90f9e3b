// Whom a mail is rendered for: its contact, or for a test mail the one it is to look like.
// Before it: prepare-emails.ts has a claimed row. After it: rendering/ makes variables of the recipient.
import { NOBODY } from "../../platform/ids.ts";
import type { Recipient } from "../../rendering/template-variables.ts";
import type { ClaimedRow } from "./sender-queries.ts";

/** What the row of a test mail has in place of variables: the contact it is to look like, and what lies over its data. */
export interface TestVariables {
  renderAs?: string;
  data?: Readonly<Record<string, unknown>>;
}

/** What of a mail says whom it is rendered for. */
export type RenderedRow = Pick<ClaimedRow, "projectId" | "contactId" | "toAddress" | "isTest" | "variables">;

/** The contact whose data a mail shows: its own, and of a test mail the one it is to look like. */
export function renderedAs({ contactId, isTest, variables }: RenderedRow): string | null {
  return isTest ? ((variables as TestVariables | null)?.renderAs ?? null) : contactId;
}

/**
 * Whom a mail is rendered for; its own variables lie over the contact's data. Its links are the contact's where the contact gets it:
 * whoever tries it out as a contact changes nothing of theirs.
 */
export function recipientOf(
  row: RenderedRow & { staysHere?: boolean | null },
  contact: { email: string; subscribed: boolean; data: Record<string, unknown> } | undefined,
  linksOf: (projectId: string, contactId: string) => Recipient["links"],
): Omit<Recipient, "footer"> {
  const id = renderedAs(row);
  const variables = row.isTest ? (row.variables as TestVariables | null)?.data : row.variables;
  const isForItself = row.isTest !== true || (row.staysHere !== true && contact?.email === row.toAddress);
  return {
    id,
    email: contact?.email ?? row.toAddress,
    subscribed: contact?.subscribed ?? false,
    data: { ...contact?.data, ...(variables as Record<string, unknown> | null | undefined) },
    links: id === null ? null : linksOf(row.projectId, isForItself ? id : NOBODY),
  };
}
