// Previews an email that was sent or will be sent.
import { footerLookOf } from "@postloft/contract/footer-frame.ts";
import type { Database } from "../platform/database/database.ts";
import { NO_ONE } from "../platform/ids.ts";
import { AppError } from "../platform/app-error.ts";
import { headerFields } from "../message/message.ts";
import { findMessageOfEmail } from "../transports/kept-messages.ts";
import { readRawMessage } from "../emails/reading/raw-content.ts";
import { readWrittenMail } from "../emails/reading/written-mail.ts";
import { hashTexts } from "../emails/outbox/emails.ts";
import { headerPartsOf } from "../emails/sending/header-parts.ts";
import { recipientOf, renderedAs } from "../emails/rows/rendered-as.ts";
import { asksForFooter, fallbackWords, templateVariables } from "../rendering/template-variables.ts";
import { readContactsForRendering } from "../contacts/contacts.ts";
import { findKnownKeys } from "../contacts/fields/fields.ts";
import { readFooters } from "./footers.ts";
import type { PreviewDependencies } from "./preview.ts";

export interface MailPreview {
  subject: string;
  html: string;
  text: string;
  /** The header fields as written, except those about the parts and those that prove the origin. */
  headers: Array<{ name: string; value: string }>;
  /** Id of the identical message in the local mailbox, if any. */
  mailboxMessageId: string | null;
}

/**
 * Renders an email again with its own variables and the current data of its contact, because sent emails are stored only in the local
 * mailbox.
 * Nothing is tracked, and its unsubscribe links belong to no contact. Returns empty parts if the content was redacted.
 * @throws AppError EMAIL_NOT_FOUND; CONFLICT with the reason if it cannot be rendered
 */
export async function previewMail(
  { database, renderer, linksOf, publicIdOf }: Omit<PreviewDependencies, "linter">,
  projectId: string,
  id: string,
): Promise<MailPreview> {
  const written = await readWrittenMail(database, projectId, id);
  if (written === null) return { subject: "", html: "", text: "", headers: [], mailboxMessageId: null };
  const { row, content, raw, headerContent } = written;
  const mailboxMessageId = await findMessageOfEmail(database, projectId, id);
  if (raw !== null) {
    const { html, text, headers } = await readRawMessage(projectId, raw);
    return { subject: content.subject, html, text, headers, mailboxMessageId };
  }
  const links = linksOf(projectId, NO_ONE);
  const recipient = recipientOf(row, await findContact(database, projectId, renderedAs(row)), () => links);
  const [footer = null] =
    recipient.links !== null && asksForFooter(content)
      ? await readFooters(database, [
          { projectId, locale: recipient.data["locale"], look: footerLookOf(content.html), ...links },
        ])
      : [];
  const knownFields = await findKnownKeys(database, projectId, fallbackWords(content));
  const rendered = await renderer.render(projectId, {
    contentKey: `preview ${hashTexts(content)}`,
    content,
    variables: templateVariables({ ...recipient, footer, knownFields }),
  });
  if (!rendered.ok) throw new AppError("CONFLICT", { message: rendered.reason });
  const { subject, html, text } = rendered;
  const parts = headerPartsOf(row, headerContent, {
    subject,
    cc: row.copies.cc,
    madeAt: row.sentAt,
    publicProjectId: publicIdOf(projectId),
    unsubscribeUrl: links.unsubscribeUrl,
    // Left out because a signed id proves receipt of the email.
    signedId: null,
    rewrites: [],
  });
  return { subject, html, text, headers: headerFields(parts), mailboxMessageId };
}

async function findContact(database: Database, projectId: string, id: string | null) {
  if (id === null) return undefined;
  return (await readContactsForRendering(database, [{ projectId, id }])).get(id);
}
