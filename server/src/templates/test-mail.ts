// Test emails of a template or campaign: rendered as for a contact and marked in the subject. They are counted nowhere and never affect
// that contact.
import { parseMailbox } from "@postloft/contract/address.ts";
import { LIMITS } from "@postloft/contract/limits/limits.ts";
import type { testDraft } from "@postloft/contract/template-trials.ts";
import type { TemplateType } from "@postloft/contract/templates.ts";
import { withValues } from "@postloft/contract/translation.ts";
import type { z } from "zod";
import { asChecked, type Checked } from "../platform/checked.ts";
import type { Database, Tx } from "../platform/database/database.ts";
import type { RateLimiter } from "../platform/http/rate-limit.ts";
import { invalidField, AppError } from "../platform/app-error.ts";
import { makeContent, type Mailbox } from "../emails/outbox/emails.ts";
import { enqueueTestEmail } from "../emails/outbox/test-emails.ts";
import { readDefaultSenders } from "../projects/default-senders.ts";
import type { Domains } from "../domains/domains.ts";
import { findContactByEmail, getContact } from "../contacts/contacts.ts";
import type { AskedRenderer } from "../rendering/asked-renderer.ts";
import { checkContent } from "./check-content.ts";
import { storedPreviewText, type StoredDesign } from "./designs.ts";
import { requireVerifiedSender } from "./templates.ts";
import { sentParts } from "./sent-parts.ts";

const MARK = "[TEST] ";
const WINDOW_SECONDS = 3_600;

/** The message to test. */
export interface TestMessage {
  subject: string;
  previewText: string | null;
  body: string;
  type: TemplateType;
  from: Mailbox;
  replyTo: string | null;
}

/** Unsaved content to test, and its sender as far as it differs from the stored one. */
export type TestDraft = z.output<typeof testDraft>;

/**
 * Checks the unsaved content of a test.
 * @throws AppError VALIDATION_ERROR naming a field of the draft
 */
export async function checkDraft(
  renderer: AskedRenderer,
  projectId: string,
  draft: TestDraft,
): Promise<Checked<{ draft: TestDraft }>> {
  if (draft !== undefined) {
    const { subject, previewText = null, body: html } = draft;
    await checkContent(renderer, projectId, { subject, previewText, html, text: null }, true, "draft.");
  }
  return asChecked({ draft });
}

/** The stored fields that a draft can replace. */
interface StoredMessage extends StoredDesign {
  subject: string;
  body: string;
  type: TemplateType;
  from: string | null;
  fromName: string | null;
  replyTo: string | null;
}

/** Returns the message to test: the unsaved one, else the stored one. Blocks have their preview text in the body. */
export function testedMessage(stored: StoredMessage, { draft }: Checked<{ draft: TestDraft }>) {
  const { type, from, fromName, replyTo } = stored;
  const sender = { type, from, fromName, replyTo };
  if (draft === undefined) {
    const { subject, previewText, body, design } = stored;
    return {
      ...sender,
      subject,
      body,
      previewText: storedPreviewText({ design, previewText }).previewText ?? null,
    };
  }
  return {
    subject: draft.subject,
    previewText: draft.previewText ?? null,
    body: draft.body,
    type: draft.type ?? type,
    from: draft.from === undefined ? from : draft.from,
    fromName: draft.fromName === undefined ? fromName : draft.fromName,
    replyTo: draft.replyTo === undefined ? replyTo : draft.replyTo,
  };
}

/** Recipient, and the contact to render for. Default: the contact with that address. */
export interface TestAddressee {
  email: string;
  contactId?: string | undefined;
}

/** @throws AppError RATE_LIMIT_EXCEEDED when the project has sent its test emails for this hour */
export async function takeTestMail(rateLimiter: RateLimiter, projectId: string): Promise<void> {
  const taken = await rateLimiter.take({
    bucket: `test-mails:${projectId}`,
    limit: LIMITS.testMails.value,
    windowSeconds: WINDOW_SECONDS,
  });
  if (!taken.allowed)
    throw new AppError("RATE_LIMIT_EXCEEDED", {
      ...withValues("A project can send up to {most} test emails per hour.", {
        most: LIMITS.testMails.value,
      }),
      retryAfterSeconds: taken.resetSeconds,
    });
}

/**
 * Enqueues a test email and returns its id.
 * @throws AppError CONTACT_NOT_FOUND, DOMAIN_NOT_VERIFIED
 */
export async function sendTest(
  tx: Tx,
  domains: Domains,
  projectId: string,
  { subject, previewText, body, type, from, replyTo }: TestMessage,
  { email, contactId }: TestAddressee,
): Promise<string> {
  await requireVerifiedSender(tx, domains, projectId, from.address);
  const contact =
    contactId === undefined
      ? await findContactByEmail(tx, projectId, email)
      : await getContact(tx, projectId, contactId);
  const content = makeContent({
    projectId,
    from,
    replyTo,
    subject: MARK + subject,
    ...sentParts({ type, body, previewText }),
    headers: [],
    attachments: [],
    tracked: false,
    listKind: null,
  });
  const to = { address: email, name: null };
  const listKind = type === "TRANSACTIONAL" ? null : type;
  return enqueueTestEmail(tx, { projectId, to, content, renderAs: contact?.id ?? null, listKind });
}

/**
 * Returns the sender of a test email: the template's, else the given one, else the project's.
 * @throws AppError VALIDATION_ERROR on `from` if there is none
 */
export async function testSenderOf(
  database: Database,
  projectId: string,
  { from, fromName }: { from: string | null; fromName: string | null },
  input: string | undefined,
): Promise<Mailbox> {
  const own = from ?? input;
  if (own !== undefined) return { address: own, name: fromName };
  const text = (await readDefaultSenders(database, [projectId])).get(projectId);
  const parsed = text === undefined ? null : parseMailbox(text);
  if (parsed?.ok !== true)
    throw invalidField(
      "from",
      "required",
      "Required because neither the template nor the project has a sender.",
    );
  return { address: parsed.address, name: fromName ?? parsed.name ?? null };
}
