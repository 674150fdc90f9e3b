// The quickest endpoints: track and send (spec §4.1, 4.2; decisions §7). All faults in an email are rejected here.
import { z } from "zod";
import { attachments } from "./attachments.ts";
import { bodyText, previewText, subject } from "./content.ts";
import { customHeaders } from "./custom-headers.ts";
import { emailMetadata, emailTags } from "./email-labels.ts";
import { endpoint } from "./endpoint.ts";
import { eventName } from "./events.ts";
import {
  contactData,
  displayName,
  emailAddress,
  id,
  inputInstant,
  instant,
  issue,
  jsonSchemas,
  mailbox,
  mailboxJsonSchema,
  mailboxNames,
  readMailbox,
  rule,
  type MailboxValue,
} from "./field.ts";
import { LIMITS } from "./limits/limits.ts";
import { localeTag } from "./locale-field.ts";
import { plainName } from "./closest-name.ts";
import { respelled } from "./spellings.ts";
import { contentWarning } from "./templates.ts";
import { readAs } from "./unknown-fields.ts";
import { withValues, type Wording } from "./translation.ts";

export const track = endpoint({
  name: "v1.track",
  method: "POST",
  path: "/v1/track",
  summary: "Track an event of a contact",
  description:
    "Creates the contact if it is new (subscribed unless `subscribed` is false), updates its data and records the event. Events are never deduplicated; use an `Idempotency-Key` for safe retries. Emails that workflows send because of events tracked with the public key are limited (`PUBLIC_KEY_EMAILS_PER_HOUR`, `PUBLIC_KEY_EMAILS_PER_DAY`, `PUBLIC_KEY_FIRST_EMAILS_PER_HOUR`); with the secret key they are not.",
  caller: "tracker",
  body: z.object({
    email: emailAddress.describe("The contact's address."),
    event: eventName.describe("The name of the event, such as `order placed`."),
    subscribed: z
      .boolean()
      .optional()
      .describe(
        "If omitted, a new contact is subscribed unless its address opted out, and an existing one keeps its status. `true` ends an opt-out.",
      ),
    data: contactData.optional(),
  }),
  envelope: "wrapped",
  responses: { 200: z.object({ contact: z.uuid(), event: z.uuid(), timestamp: instant }) },
});

/** The same endpoint for callers with a contact id, and in the spelling of older clients. */
export const trackEvent = endpoint({
  name: "events.track",
  method: "POST",
  path: "/events/track",
  summary: "Track an event by a contact's address or id",
  description:
    "Same as `POST /v1/track`. Also accepts `name` instead of `event`, and `contactId` instead of `email` if the contact exists.",
  caller: "project",
  body: z
    .object({
      email: emailAddress.optional().describe("The contact's address, unless there is a `contactId`."),
      contactId: id.optional().describe("The id of an existing contact, unless there is an `email`."),
      event: eventName.optional().describe("The name of the event."),
      name: eventName.optional().describe("Alias of `event`."),
      subscribed: z.boolean().optional(),
      data: contactData.optional(),
    })
    .superRefine(({ email, contactId, event, name }, context) => {
      if (email === undefined && contactId === undefined)
        context.addIssue(issue("Required unless there is a `contactId`.", "required", undefined, ["email"]));
      if (event === undefined && name === undefined)
        context.addIssue(issue("Required.", "required", undefined, ["event"]));
    }),
  envelope: "wrapped",
  responses: { 200: z.object({ contact: z.uuid(), event: z.uuid(), timestamp: instant }) },
  errors: ["CONTACT_NOT_FOUND"],
});

/** One mailbox or a list of at most `maximum` mailboxes. */
export function mailboxes(maximum: number) {
  const list = z
    .unknown()
    .transform((input, context): MailboxValue[] => {
      const push = (problem: ReturnType<typeof issue>) => context.issues.push(problem);
      if (input === undefined) {
        push(issue("Required.", "required", input));
        return [];
      }
      if (!Array.isArray(input)) {
        const one = readMailbox(input, [], push);
        return one === null ? [] : [one];
      }
      if (input.length === 0) push(issue("Must contain at least one address.", "too_small", input));
      if (input.length > maximum) {
        push(
          issue(withValues("Must contain at most {most} addresses.", { most: maximum }), "too_big", input),
        );
        return [];
      }
      return input.map((item: unknown, at) => readMailbox(item, [at], push)).filter((item) => item !== null);
    })
    .register(jsonSchemas, {
      jsonSchema: {
        anyOf: [...mailboxJsonSchema.anyOf, { type: "array", items: mailboxJsonSchema, maxItems: maximum }],
      },
    });
  return readAs(list, { as: () => z.union([mailboxNames, z.array(mailboxNames)]) });
}

/** Parameters of a rule over several fields. It is also checked if another field is invalid, so that all faults are reported together. */
function across(field: string, wording: Wording, code: "required" | "custom" | "too_big") {
  return {
    ...rule(wording, code),
    path: [field],
    when: ({ value }: { value: unknown }) => typeof value === "object" && value !== null,
  };
}

export const sendBody = z
  .object({
    to: mailboxes(LIMITS.recipients.value).describe("Recipients; each gets a separate email."),
    subject: subject.optional().describe("Variables are filled in as in the body."),
    previewText: previewText
      .optional()
      .describe(
        "Text that inboxes show after the subject, in a hidden element of the HTML. Default: the template's. null for none.",
      ),
    body: bodyText.optional().describe("HTML; Handlebars variables are filled in for each recipient."),
    text: bodyText.optional().describe("The plain-text part; generated from the HTML if omitted."),
    template: z
      .string()
      .min(1)
      .max(LIMITS.nameLength.value)
      .optional()
      .describe(
        "The id or the name of a template, instead of subject and body. Other fields of this request override it.",
      ),
    locale: localeTag
      .optional()
      .describe(
        "The language of these emails (BCP 47): chooses the template's variant, and is `{{locale}}` and the language of the footer. Default: `locale` of the contact's data. Not stored on the contact.",
      ),
    from: mailbox
      .optional()
      .describe(
        "The sender's address at a verified domain. Default: the template's sender, or the project's default sender.",
      ),
    name: displayName.optional().meta({
      deprecated: true,
      description: "Deprecated: the sender's display name if `from` is an address without one.",
    }),
    subscribed: z
      .boolean()
      .optional()
      .describe(
        "If omitted, a new contact is not subscribed, and an existing one keeps its status. `true` ends an opt-out.",
      ),
    data: contactData.optional(),
    headers: customHeaders
      .optional()
      .describe(
        "Custom headers by name. Headers set by the service or that control an email provider are rejected.",
      ),
    reply: mailboxes(LIMITS.replyAddresses.value)
      .optional()
      .describe("The addresses for replies; default: the template's."),
    replyTo: mailboxes(LIMITS.replyAddresses.value).optional().describe("Alias of `reply`."),
    cc: mailboxes(LIMITS.copies.value).optional().describe("Copied on each recipient's email."),
    bcc: mailboxes(LIMITS.copies.value).optional().describe("Blind-copied on each recipient's email."),
    attachments: attachments.optional().describe("Files attached to all emails of the call."),
    scheduledFor: inputInstant
      .optional()
      .describe(
        "When to send, within the next year, with its offset or Z (ISO 8601). Default: immediately. Content is stored when the call is accepted; variables of contacts are read when the email is sent.",
      ),
    tags: emailTags.optional(),
    metadata: emailMetadata.optional(),
    tracking: z
      .boolean()
      .optional()
      .describe(
        "`false` turns off open and click tracking for these emails. Default: the project's setting.",
      ),
  })
  .refine(
    (body) => body.template !== undefined || body.subject !== undefined,
    across("subject", "Required without a template.", "required"),
  )
  .refine(
    (body) => body.template !== undefined || body.body !== undefined,
    across("body", "Required without a template.", "required"),
  )
  .refine(
    (body) =>
      (body.reply ?? body.replyTo) === undefined ||
      !Object.keys(body.headers ?? {}).some((name) => name.toLowerCase() === "reply-to"),
    across("headers", "Send the reply address as `reply` or as a header Reply-To, not both.", "custom"),
  )
  .refine(
    (body) =>
      (Array.isArray(body.cc) ? body.cc.length : 0) + (Array.isArray(body.bcc) ? body.bcc.length : 0) <=
      LIMITS.copies.value,
    across(
      "cc",
      withValues("cc and bcc may contain at most {most} addresses in total.", { most: LIMITS.copies.value }),
      "too_big",
    ),
  );

export type SendBody = z.infer<typeof sendBody>;

const SPELLINGS = {
  fields: Object.keys(sendBody.shape),
  aliases: {
    attachment: "attachments",
    variables: "data",
    templatevariables: "data",
    templatedata: "data",
    dynamictemplatedata: "data",
    templateid: "template",
  },
};

/** Returns the body in our spelling. A single `attachment` becomes a list. */
function inOurSpelling(body: unknown): unknown {
  const read = respelled(body, SPELLINGS) as { attachments?: unknown } | null;
  const files = typeof read === "object" ? read?.attachments : undefined;
  const isOne = typeof files === "object" && files !== null && !Array.isArray(files);
  return isOne ? { ...read, attachments: [files] } : read;
}

/** Fields that would change the sending time, in plain form. */
const TIMES =
  /^(?:o:)?(?:schedul(?:e|ed|ing)?(?:for|at|on|date|time|in)?|(?:send|deliver|delivery|dispatch|release)(?:at|on|in|after|date|time|later|datetime)|(?:send|deliver)(?:delay|notbefore)|delay(?:ed|for|by|until|in)?(?:ms|seconds|minutes|hours)?|notbefore|deferuntil|deferred)$/;

/** Returns why an unknown field of the endpoint must not be ignored, or null. */
function errorOfTime(name: string): string | null {
  if (!TIMES.test(plainName(name))) return null;
  return "Emails are sent immediately unless `scheduledFor` has a time. Use it, or remove this field.";
}

/** The emails of one call. */
export const sentEmails = z.object({
  emails: z.array(z.object({ contact: z.object({ id: z.uuid(), email: z.string() }), email: z.uuid() })),
  warnings: z
    .array(contentWarning.extend({ where: contentWarning.shape.where.extend({ field: z.string() }) }))
    .optional()
    .describe(
      "Merge tags of other services, variables without a value in `data` or any contact, and ignored body fields (`unknown_field`, without parts). Omitted if there are none.",
    ),
  timestamp: instant,
});

export const send = endpoint({
  name: "v1.send",
  method: "POST",
  path: "/v1/send",
  summary: "Send a transactional email",
  description:
    "Sends immediately, or at the time of `scheduledFor`; other fields that would change the time (`send_at`, `delay`) return 422. Other spellings of fields (`reply_to`, `Cc`, `attachment`, `variables`) are accepted. Everything is checked before anything is written, so a call with several recipients succeeds or fails as a whole. The emails are stored durably before the response, and delivery starts immediately or at the time of `scheduledFor`. A MARKETING or HEADLESS template only reaches subscribed contacts; the call fails if a recipient is not subscribed, which includes a new contact without `subscribed: true`. With a test key (scope `test:send`), the emails stay in the local mailbox, and missing contacts are created as unsubscribed.",
  caller: "project",
  sends: true,
  body: sendBody,
  unknownFields: "warned",
  respell: inOurSpelling,
  refusalOfUnknown: errorOfTime,
  bodyLimitBytes: LIMITS.sendBodyBytes.value,
  envelope: "wrapped",
  responses: { 200: sentEmails },
  errors: [
    "DOMAIN_NOT_VERIFIED",
    "TEMPLATE_NOT_FOUND",
    "CONFLICT",
    "CONTACT_UNSUBSCRIBED",
    "BILLING_LIMIT_EXCEEDED",
    "EMAIL_VERIFICATION_REQUIRED",
  ],
});
