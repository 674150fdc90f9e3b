// A test mail of a template or a campaign: rendered as a contact would get it, marked in its subject, counted nowhere, and nothing that
// comes of it touches that contact.
import { parseMailbox } from "@postloft/contract/address.ts";
import { LIMITS } from "@postloft/contract/limits/limits.ts";
import type { TemplateType } from "@postloft/contract/templates.ts";
import type { Database, Tx } from "../platform/database/database.ts";
import type { RateLimiter } from "../platform/http/rate-limit.ts";
import { invalidField, Refusal } from "../platform/refusal.ts";
import { makeContent, type Mailbox } from "../emails/outbox/emails.ts";
import { enqueueTestEmail } from "../emails/outbox/test-emails.ts";
import { readDefaultSenders } from "../projects/default-senders.ts";
import type { Domains } from "../domains/domains.ts";
import { findContactByEmail, getContact } from "../contacts/contacts.ts";
import { requireVerifiedSender, type TemplateView } from "./templates.ts";
import { withFooter } from "./with-footer.ts";

const MARK = "[TEST] ";
const WINDOW_SECONDS = 3_600;

/** What is tried out. */
export interface TestedText {
  subject: string;
  body: string;
  type: TemplateType;
  from: Mailbox;
  replyTo: string | null;
}

/** To whom, and as whom: by itself as the contact of that address. */
export interface TestAddressee {
  email: string;
  contactId?: string | undefined;
}

/** @throws Refusal RATE_LIMIT_EXCEEDED when the project sent its test mails of this hour. */
export async function takeTestMail(rateLimiter: RateLimiter, projectId: string): Promise<void> {
  const taken = await rateLimiter.take({
    bucket: `test-mails:${projectId}`,
    limit: LIMITS.testMails.value,
    windowSeconds: WINDOW_SECONDS,
  });
  if (!taken.allowed)
    throw new Refusal("RATE_LIMIT_EXCEEDED", {
      message: `A project sends at most ${LIMITS.testMails.value} test mails in an hour.`,
      retryAfterSeconds: taken.resetSeconds,
    });
}

/** Enqueues it and returns the mail's id. @throws Refusal CONTACT_NOT_FOUND, DOMAIN_NOT_VERIFIED. */
export async function sendTest(
  tx: Tx,
  domains: Domains,
  projectId: string,
  { subject, body, type, from, replyTo }: TestedText,
  { email, contactId }: TestAddressee,
): Promise<string> {
  await requireVerifiedSender(tx, domains, projectId, from.address);
  const contact =
    contactId === undefined
      ? await findContactByEmail(tx, projectId, email)
      : await getContact(tx, projectId, contactId);
  const written = { html: body, text: null };
  const content = makeContent({
    projectId,
    from,
    replyTo,
    subject: MARK + subject,
    ...(type === "MARKETING" ? withFooter(written) : written),
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
 * Whom a template is tried out from: its own sender, the one that is given, the project's.
 * @throws Refusal VALIDATION_ERROR on `from` where there is none.
 */
export async function testSenderOf(
  database: Database,
  projectId: string,
  { from, fromName }: TemplateView,
  given: string | undefined,
): Promise<Mailbox> {
  const own = from ?? given;
  if (own !== undefined) return { address: own, name: fromName };
  const text = (await readDefaultSenders(database, [projectId])).get(projectId);
  const parsed = text === undefined ? null : parseMailbox(text);
  if (parsed?.ok !== true)
    throw invalidField("from", "required", "Required: neither the template nor the project has a sender.");
  return { address: parsed.address, name: fromName ?? parsed.name ?? null };
}
