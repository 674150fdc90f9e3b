// Endpoints of emails that people send to a project's inbound address.
import { z } from "zod";
import { attachments } from "./attachments.ts";
import { bodyText, subject } from "./content.ts";
import { emailMetadata, emailTags } from "./email-labels.ts";
import { endpoint } from "./endpoint.ts";
import { cursorList, emailAddress, id, instant, mailbox, pageQuery, pathId } from "./field.ts";
import { LIMITS } from "./limits/limits.ts";
import { mailboxes, sentEmails } from "./v1.ts";

const person = z.object({ address: z.string(), name: z.string().nullable() });

/** A domain name as a stranger wrote it. */
const strangersDomain = z.string();

/** The results of the sender checks (RFC 7208, RFC 6376, RFC 9989). */
export const senderChecks = z.object({
  spf: z
    .object({
      result: z.enum(["none", "neutral", "pass", "fail", "softfail", "temperror", "permerror"]),
      domain: strangersDomain.nullable().describe("The domain of MAIL FROM, or of HELO if that is empty."),
    })
    .describe("Whether the domain of the envelope lets the connecting server send for it."),
  dkim: z
    .array(
      z.object({
        result: z.enum(["pass", "fail", "policy", "neutral", "temperror", "permerror"]),
        domain: strangersDomain.describe("The domain that signed."),
      }),
    )
    .describe(`Up to ${LIMITS.inboundSignatures.value} signatures.`),
  dmarc: z
    .object({
      result: z.enum(["none", "pass", "fail", "temperror", "permerror"]),
      domain: strangersDomain.nullable().describe("The domain of From. null unless it has exactly one."),
      policy: z.enum(["none", "quarantine", "reject"]).nullable().describe("The policy that applies to it."),
    })
    .describe("Whether SPF or DKIM passed for the domain of From."),
});

export const authentication = senderChecks.extend({
  verified: z
    .boolean()
    .describe(
      "Whether the domain of `from` is proven: DMARC passed, or the domain has no DMARC record and passed SPF or DKIM itself.",
    ),
});

export const receivedEmail = z.object({
  id: z.uuid(),
  contactId: z
    .uuid()
    .describe(
      "The contact that wrote, by the address in `from`. `authentication` says whether it is proven.",
    ),
  threadId: z
    .uuid()
    .describe("Equal for the emails of a conversation: the id of its first received or sent email."),
  emailId: z.uuid().nullable().describe("The email of the project that this one replies to."),
  from: person,
  recipient: z
    .string()
    .describe(
      "The address that received it: the project's `inboundAddress`, or any address at a receiving domain.",
    ),
  subject: z.string().nullable(),
  messageId: z.string().nullable().describe("Without angle brackets."),
  sizeBytes: z.int(),
  authentication: authentication
    .nullable()
    .describe("The results of SPF, DKIM and DMARC. null for emails from before they were checked."),
  receivedAt: instant,
});

/** A received email with its parsed content. */
export const fullReceivedEmail = receivedEmail.extend({
  to: z.array(person),
  cc: z.array(person),
  replyTo: z.array(person).describe("Empty if replies go to `from`."),
  inReplyTo: z.string().nullable(),
  references: z.array(z.string()).describe("Message-IDs of the conversation, the newest last."),
  text: z.string().nullable(),
  html: z
    .string()
    .nullable()
    .describe("Untrusted HTML as it arrived. Show it in a sandboxed frame only, without scripts."),
  headers: z.array(z.object({ name: z.string(), value: z.string() })),
  attachments: z.array(
    z.object({
      filename: z.string(),
      contentType: z.string().describe("As the sender named it."),
      sizeBytes: z.int(),
      contentId: z.string().nullable().describe("The id by which the HTML shows it, as in `cid:logo`."),
    }),
  ),
});

const byId = z.object({ id: pathId });

export const listReceived = endpoint({
  name: "received.list",
  method: "GET",
  path: "/received-emails",
  summary: "List and search received emails, newest first",
  description:
    "Messages to the project's `inboundAddress` and its receiving domains, which also become the event `email.received`. Emails must match all filters. Automatic messages are not stored.",
  caller: "project",
  query: pageQuery.extend({
    from: emailAddress.optional().describe("Only emails of the contact with this address."),
    contactId: id.optional(),
    threadId: id.optional().describe("Only emails of this conversation."),
    subject: z
      .string()
      .trim()
      .min(1)
      .max(LIMITS.searchLength.value)
      .optional()
      .describe(
        `A part of the subject, case-insensitive; searches ${LIMITS.receivedSearched.value} emails, starting with the newest or after the cursor.`,
      ),
  }),
  responses: { 200: cursorList(receivedEmail) },
});

export const getReceived = endpoint({
  name: "received.get",
  method: "GET",
  path: "/received-emails/:id",
  summary: "Read a received email",
  description: "The parsed message with its texts, header fields and attachments.",
  caller: "project",
  params: byId,
  responses: { 200: fullReceivedEmail },
  errors: ["EMAIL_NOT_FOUND", "CONFLICT"],
});

export const getRawReceived = endpoint({
  name: "received.getRaw",
  method: "GET",
  path: "/received-emails/:id/raw",
  summary: "Read the raw message as it arrived (message/rfc822)",
  description: "Every byte, so that your program can parse it or verify its signatures.",
  caller: "project",
  params: byId,
  envelope: "raw",
  contentType: "message/rfc822",
  responses: { 200: z.string() },
  errors: ["EMAIL_NOT_FOUND"],
});

export const getReceivedAttachment = endpoint({
  name: "received.getAttachment",
  method: "GET",
  path: "/received-emails/:id/attachments/:index",
  summary: "Read an attachment of a received email",
  description:
    "`index` is the place in `attachments`, starting at 0. The type is always `application/octet-stream`, so that browsers store the file and don't display it.",
  caller: "project",
  params: byId.extend({ index: z.string() }),
  envelope: "raw",
  contentType: "application/octet-stream",
  responses: { 200: z.string() },
  errors: ["EMAIL_NOT_FOUND", "RESOURCE_NOT_FOUND", "CONFLICT"],
});

export const deleteReceived = endpoint({
  name: "received.delete",
  method: "DELETE",
  path: "/received-emails/:id",
  summary: "Delete a received email",
  description: "The contact and the event `email.received` stay.",
  caller: "project",
  params: byId,
  responses: { 204: null },
  errors: ["EMAIL_NOT_FOUND"],
});

export const replyToReceived = endpoint({
  name: "received.reply",
  method: "POST",
  path: "/received-emails/:id/reply",
  summary: "Reply to a received email",
  description:
    "Sends like `POST /v1/send`, with the same checks, to the email's Reply-To address, or to its sender. `In-Reply-To` and `References` keep the conversation together.",
  caller: "project",
  sends: true,
  params: byId,
  body: z.object({
    body: bodyText.describe("HTML; Handlebars variables are filled in."),
    text: bodyText.optional().describe("The plain-text part; generated from the HTML if omitted."),
    subject: subject.optional().describe("Default: `Re:` and the subject of the received email."),
    from: mailbox
      .optional()
      .describe("The sender's address at a verified domain. Default: the project's default sender."),
    replyTo: mailboxes(LIMITS.replyAddresses.value)
      .optional()
      .describe("Default: the inbound address that received the email, while the project has it."),
    attachments: attachments.optional(),
    tags: emailTags.optional(),
    metadata: emailMetadata.optional(),
  }),
  unknownFields: "refused",
  bodyLimitBytes: LIMITS.sendBodyBytes.value,
  envelope: "wrapped",
  responses: { 200: sentEmails },
  errors: ["EMAIL_NOT_FOUND", "DOMAIN_NOT_VERIFIED", "BILLING_LIMIT_EXCEEDED", "EMAIL_VERIFICATION_REQUIRED"],
});

export const RECEIVED_EMAIL_ENDPOINTS = [
  listReceived,
  getReceived,
  getRawReceived,
  getReceivedAttachment,
  deleteReceived,
  replyToReceived,
] as const;
