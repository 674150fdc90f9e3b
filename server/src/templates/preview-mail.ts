// What a mail that was sent, or will be, says to its recipient.
import type { Database } from "../platform/database/database.ts";
import { NOBODY } from "../platform/ids.ts";
import { Refusal } from "../platform/refusal.ts";
import { headerFields } from "../message/message.ts";
import { findMessageOfEmail } from "../transports/kept-messages.ts";
import { readWrittenMail } from "../emails/reading/written-mail.ts";
import { hashTexts } from "../emails/outbox/emails.ts";
import { headerPartsOf } from "../emails/sending/header-parts.ts";
import { recipientOf, renderedAs } from "../emails/rows/rendered-as.ts";
import { asksForFooter, fallbackWords, templateVariables } from "../rendering/template-variables.ts";
import { readContactsForRendering } from "../contacts/contacts.ts";
import { findKnownKeys } from "../contacts/fields/fields.ts";
import { readFooters } from "./footers.ts";
import type { PreviewParts } from "./preview.ts";

export interface MailPreview {
  subject: string;
  html: string;
  text: string;
  /** As they are written into the message, but for those of its parts and those that prove it came from us. */
  headers: Array<{ name: string; value: string }>;
  /** Of the message in the local mailbox that has it byte for byte. */
  mailboxMessageId: string | null;
}

/**
 * Rendered anew, with its own variables over what the data of its contact are now: what left is kept nowhere but in the local mailbox.
 * Nothing is tracked, and its links to unsubscribe are nobody's. Empty when the project has forgotten what it said.
 *
 * @throws Refusal EMAIL_NOT_FOUND; CONFLICT when it cannot be rendered, with the reason
 */
export async function previewMail(
  { database, renderer, linksOf, publicIdOf }: Omit<PreviewParts, "linter">,
  projectId: string,
  id: string,
): Promise<MailPreview> {
  const written = await readWrittenMail(database, projectId, id);
  if (written === null) return { subject: "", html: "", text: "", headers: [], mailboxMessageId: null };
  const { row, content, headerContent } = written;
  const links = linksOf(projectId, NOBODY);
  const recipient = recipientOf(row, await findContact(database, projectId, renderedAs(row)), () => links);
  const [footer = null] =
    recipient.links !== null && asksForFooter(content)
      ? await readFooters(database, [{ projectId, locale: recipient.data["locale"], ...links }])
      : [];
  const knownFields = await findKnownKeys(database, projectId, fallbackWords(content));
  const rendered = await renderer.render(projectId, {
    contentKey: `preview ${hashTexts(content)}`,
    content,
    variables: templateVariables({ ...recipient, footer, knownFields }),
  });
  if (!rendered.ok) throw new Refusal("CONFLICT", { message: rendered.reason });
  const { subject, html, text } = rendered;
  const parts = headerPartsOf(row, headerContent, {
    subject,
    cc: row.copies.cc,
    madeAt: row.sentAt,
    publicProjectId: publicIdOf(projectId),
    unsubscribeUrl: links.unsubscribeUrl,
    // Whoever shows it had the mail: it is not made for others.
    signedId: null,
    rewrites: [],
  });
  return {
    subject,
    html,
    text,
    headers: headerFields(parts),
    mailboxMessageId: await findMessageOfEmail(database, projectId, id),
  };
}

async function findContact(database: Database, projectId: string, id: string | null) {
  if (id === null) return undefined;
  return (await readContactsForRendering(database, [{ projectId, id }])).get(id);
}
