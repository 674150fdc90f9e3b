// Combines the content of a call with that of its template.
import { LIMITS } from "@postloft/contract/limits/limits.ts";
import { formatMailboxList, parseMailboxList } from "@postloft/contract/mailbox-list.ts";
import { messageOf } from "@postloft/contract/refused-address.ts";
import { withValues } from "@postloft/contract/translation.ts";
import type { SendBody } from "@postloft/contract/v1.ts";
import { invalidField, AppError } from "../platform/app-error.ts";
import { hashTexts, type EmailContent, type Mailbox, type RawMessage } from "../emails/outbox/emails.ts";
import { withPreviewText } from "../rendering/with-preview-text.ts";
import type { SendableTemplate } from "../templates/templates.ts";
import { sentParts } from "../templates/sent-parts.ts";

/** The content of a call. Null means that the template provides it. */
export interface Parts {
  subject: string | null;
  /** undefined if the template provides it. */
  previewText?: string | null | undefined;
  html: string | null;
  text: string | null;
  /** As formatted by `formatMailboxList`. */
  replyTo: string | null;
  headers: EmailContent["headers"];
  attachments: EmailContent["attachments"];
  /** Sent instead of the other parts, if set. */
  raw?: RawMessage;
}

interface Texts {
  subject: string;
  html: string;
  text: string | null;
  hash: string;
}

/** Content without a sender, which may still come from the project's settings. */
export interface Draft extends Omit<EmailContent, "id" | "usedUntil" | "from"> {
  textsHash: string;
  template: SendableTemplate | null;
}

/** @throws AppError VALIDATION_ERROR for an invalid Reply-To header */
export function partsOf(body: SendBody): Parts {
  const headers = Object.entries(body.headers ?? {}).map(([name, value]) => ({ name, value }));
  const replyHeader = headers.find(({ name }) => name.toLowerCase() === "reply-to");
  const reply = body.reply ?? body.replyTo ?? (replyHeader && readReplyHeader(replyHeader.value));
  return {
    subject: body.subject ?? null,
    previewText: body.previewText,
    html: body.body ?? null,
    text: body.text ?? null,
    replyTo: reply === undefined ? null : formatMailboxList(reply),
    headers: headers.filter((header) => header !== replyHeader),
    attachments: (body.attachments ?? []).map((attachment) => ({
      filename: attachment.filename,
      contentType: attachment.contentType,
      contentId: attachment.contentId ?? null,
      disposition: attachment.disposition ?? "attachment",
      bytes: Buffer.from(attachment.content, "base64"),
    })),
  };
}

/** @throws AppError VALIDATION_ERROR for an invalid address */
function readReplyHeader(value: string): Mailbox[] {
  const field = "headers.Reply-To";
  const most = LIMITS.replyAddresses.value;
  const parsed = parseMailboxList(value);
  if (parsed.length > most)
    throw invalidField(field, "too_big", withValues("Must contain at most {most} addresses.", { most }));
  return parsed.map((mailbox) => {
    if (!mailbox.ok) throw invalidField(field, "invalid_string", messageOf(mailbox));
    return { address: mailbox.address, name: mailbox.name ?? null };
  });
}

/** Returns the texts of a call without a template, or null with a template. */
export function ownTexts(body: SendBody, parts: Parts): Texts | null {
  if (body.template !== undefined) return null;
  const html = withPreviewText(parts.html ?? "", parts.previewText ?? null);
  const texts = { subject: parts.subject ?? "", html, text: parts.text };
  return { ...texts, hash: hashTexts(texts) };
}

/** Returns what names a call's template, or null. */
export function templateOf({ projectId, body }: { projectId: string; body: SendBody }) {
  return body.template === undefined ? null : { projectId, reference: body.template };
}

export interface DraftedCall {
  projectId: string;
  body: SendBody;
  parts: Parts;
  texts: Texts | null;
}

type TextsFrom = (template: SendableTemplate, parts: Parts) => Texts;

/**
 * Returns the function that combines a template with the parts of a call. Texts that many calls take from one template are assembled and
 * hashed once.
 */
export function createTextsFrom(): TextsFrom {
  const known = new Map<SendableTemplate, Texts>();
  return (template, parts) => {
    const { subject, previewText, html, text } = parts;
    const isAsItIs = subject === null && previewText === undefined && html === null && text === null;
    const made = isAsItIs ? known.get(template) : undefined;
    if (made !== undefined) return made;
    const shown = sentParts({
      type: template.type,
      body: html ?? template.body,
      previewText: previewText === undefined ? template.previewText : previewText,
      text,
    });
    const texts = { subject: subject ?? template.subject, ...shown };
    const hashed = { ...texts, hash: hashTexts(texts) };
    if (isAsItIs) known.set(template, hashed);
    return hashed;
  };
}

/** Returns the function that drafts the calls of one batch. An unknown template is an error. */
export function createDrafter(
  templates: ReadonlyMap<string, SendableTemplate | AppError>,
): (call: DraftedCall) => Draft | AppError {
  const textsFrom = createTextsFrom();
  return (call) => {
    const key = templateOf(call);
    const template = key === null ? null : templates.get(`${key.projectId} ${key.reference}`);
    if (template === undefined) return new AppError("TEMPLATE_NOT_FOUND");
    if (template instanceof AppError) return template;
    const texts = call.texts ?? (template === null ? null : textsFrom(template, call.parts));
    if (texts === null) throw new Error("A call has neither texts of its own nor a template.");
    const { hash, ...shown } = texts;
    return {
      projectId: call.projectId,
      ...shown,
      replyTo: call.parts.replyTo ?? template?.replyTo ?? null,
      headers: call.parts.headers,
      attachments: call.parts.attachments,
      listKind: template === null || template.type === "TRANSACTIONAL" ? null : template.type,
      tracked: call.body.tracking ?? true,
      raw: call.parts.raw ?? null,
      textsHash: hash,
      template,
    };
  };
}
