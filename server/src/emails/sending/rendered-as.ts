// Whom a mail is rendered for: its contact, or for a test mail the one it is to look like.
import { NOBODY } from "../../platform/ids.ts";
import type { ListKind } from "../../message/message-headers.ts";
import type { Recipient } from "../../rendering/template-variables.ts";
import type { ClaimedRow } from "./sender-queries.ts";

/** Stored in a test email's row in place of variables. */
export interface TestVariables {
  /** The contact it looks like. */
  renderAs?: string;
  /** The list it would go to. Only its header fields are shown: nobody's subscription matters to a test. */
  listKind?: ListKind;
  /** Lies over the contact's data. */
  data?: Readonly<Record<string, unknown>>;
}

/** Returns the kind of list that the header of an email names. */
export function shownListKind(
  { isTest, variables }: Pick<ClaimedRow, "isTest" | "variables">,
  { listKind }: { listKind: ListKind | null },
): ListKind | null {
  return isTest ? ((variables as TestVariables | null)?.listKind ?? null) : listKind;
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
 * Returns the recipient an email is rendered for; its own variables lie over the contact's data. The links act on the address the email goes
 * to if that is the contact's. Any other test has links that change nothing and say so, because it should look like the real email.
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
  const linksFor = () => {
    if (id !== null && isForItself) return linksOf(row.projectId, id, to);
    return id === null && row.isTest !== true ? null : linksOf(row.projectId, NOBODY);
  };
  return {
    id,
    email: contact?.email ?? row.toAddress,
    subscribed: contact?.subscribed ?? false,
    data: { ...contact?.data, ...(variables as Record<string, unknown> | null | undefined) },
    links: linksFor(),
  };
}
