// Whom a mail is rendered for: its contact, or for a test mail the one it is to look like.
import { NOBODY } from "../../platform/ids.ts";
import type { Recipient } from "../../rendering/template-variables.ts";
import type { ClaimedRow } from "./sender-queries.ts";

/** What the row of a test mail has in place of variables: the contact it is to look like, and what lies over its data. */
export interface TestVariables {
  renderAs?: string;
  data?: Readonly<Record<string, unknown>>;
}

/** What of a mail says whom it is rendered for. */
export type RenderedRow = Pick<
  ClaimedRow,
  "projectId" | "id" | "contactId" | "toAddress" | "isTest" | "variables"
>;

/** The links of a recipient: of the address that the email goes to, or of nobody. */
export type LinksOf = (
  projectId: string,
  contactId: string,
  to?: { address: string; emailId: string },
) => NonNullable<Recipient["links"]>;

/** The contact whose data a mail shows: its own, and of a test mail the one it is to look like. */
export function renderedAs({ contactId, isTest, variables }: RenderedRow): string | null {
  return isTest ? ((variables as TestVariables | null)?.renderAs ?? null) : contactId;
}

/**
 * Whom a mail is rendered for; its own variables lie over the contact's data. Its links act on the address it goes to, where that is
 * the contact's: whoever tries it out as a contact changes nothing of theirs.
 */
export function recipientOf(
  row: RenderedRow & { staysHere?: boolean | null },
  contact: { email: string; subscribed: boolean; data: Record<string, unknown> } | undefined,
  linksOf: LinksOf,
): Omit<Recipient, "footer"> {
  const id = renderedAs(row);
  const variables = row.isTest ? (row.variables as TestVariables | null)?.data : row.variables;
  const isForItself = row.isTest !== true || (row.staysHere !== true && contact?.email === row.toAddress);
  const to = { address: row.toAddress, emailId: row.id };
  return {
    id,
    email: contact?.email ?? row.toAddress,
    subscribed: contact?.subscribed ?? false,
    data: { ...contact?.data, ...(variables as Record<string, unknown> | null | undefined) },
    links: id === null ? null : isForItself ? linksOf(row.projectId, id, to) : linksOf(row.projectId, NOBODY),
  };
}
