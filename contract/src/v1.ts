// The short way in: track and send (spec §4.1, 4.2; decisions §7). Everything a caller can get wrong in a mail is refused here.
// Before it: content.ts, field.ts, events.ts, limits.ts. After it: server/src/v1/routes.ts.
import { z } from "zod";
import { bodyText, subject } from "./content.ts";
import { customHeaders } from "./custom-headers.ts";
import { endpoint } from "./endpoint.ts";
import { eventName } from "./events.ts";
import {
  contactData,
  displayName,
  emailAddress,
  hasControlCharacters,
  id,
  instant,
  issue,
  jsonSchemas,
  mailbox,
  mailboxJsonSchema,
  readMailbox,
  type MailboxValue,
} from "./field.ts";
import { LIMITS } from "./limits.ts";
import { contentWarning } from "./templates.ts";

export const track = endpoint({
  name: "v1.track",
  method: "POST",
  path: "/v1/track",
  summary: "Track an event of a contact",
  description:
    "Creates the contact when it is new (subscribed unless `subscribed` says otherwise), patches its data and records the event. Never deduplicated; an `Idempotency-Key` makes a retry safe.",
  caller: "tracker",
  body: z.object({
    email: emailAddress.describe("Whose event it is."),
    event: eventName.describe("The name of the event, such as `order placed`."),
    subscribed: z
      .boolean()
      .optional()
      .describe(
        "Left out: a new contact is subscribed unless its address opted out, an existing one keeps its state. `true` ends an opt-out.",
      ),
    data: contactData.optional(),
  }),
  envelope: "wrapped",
  answers: { 200: z.object({ contact: z.uuid(), event: z.uuid(), timestamp: instant }) },
});

/** The same door for whoever has a contact's id, and in the spelling of older clients. */
export const trackEvent = endpoint({
  name: "events.track",
  method: "POST",
  path: "/events/track",
  summary: "Track an event of a contact, by its address or its id",
  description:
    "As `POST /v1/track`, which it is another name of. `name` may stand for `event`, and `contactId` for `email`: then the contact must be there.",
  caller: "project",
  body: z
    .object({
      email: emailAddress.optional().describe("Whose event it is; or `contactId`."),
      contactId: id.optional().describe("A contact that is there; or `email`."),
      event: eventName.optional().describe("The name of the event."),
      name: eventName.optional().describe("The same as event."),
      subscribed: z.boolean().optional(),
      data: contactData.optional(),
    })
    .superRefine(({ email, contactId, event, name }, context) => {
      if (email === undefined && contactId === undefined)
        context.addIssue(issue("Required, or `contactId`.", "required", undefined, ["email"]));
      if (event === undefined && name === undefined)
        context.addIssue(issue("Required.", "required", undefined, ["event"]));
    }),
  envelope: "wrapped",
  answers: { 200: z.object({ contact: z.uuid(), event: z.uuid(), timestamp: instant }) },
  errors: ["CONTACT_NOT_FOUND"],
});

/** One mailbox or a list of them, at most `maximum`. */
function mailboxes(maximum: number) {
  return z
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
      if (input.length === 0) push(issue("Must name at least one address.", "too_small", input));
      if (input.length > maximum) {
        push(issue(`Must name at most ${maximum} addresses.`, "too_big", input));
        return [];
      }
      return input.map((item: unknown, at) => readMailbox(item, [at], push)).filter((item) => item !== null);
    })
    .register(jsonSchemas, {
      jsonSchema: {
        anyOf: [...mailboxJsonSchema.anyOf, { type: "array", items: mailboxJsonSchema, maxItems: maximum }],
      },
    });
}

const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/;
/** RFC 2045 section 5.1, without the quoted pairs that nobody writes: `text/calendar; method=REQUEST; name="a b"`. */
const CONTENT_TYPE =
  /^[A-Za-z0-9!#$&^_.+-]{1,100}\/[A-Za-z0-9!#$&^_.+-]{1,100}(?:[ \t]*;[ \t]*[A-Za-z0-9!#$&^_.+*-]{1,60}=(?:[A-Za-z0-9!#$%&'*+.^_`{|}~-]{1,200}|"[ !#-[\]-~]{0,200}"))*;?$/;
const CONTENT_ID = /^[!#-;=?-[\]-~]{1,255}$/;

/** Line ends and spaces that some encoders put into base64 mean nothing. */
const base64 = z
  .string()
  .transform((text, context) => {
    const plain = /\s/.test(text) ? text.replace(/\s+/g, "") : text;
    const padding = plain.endsWith("==") ? 2 : plain.endsWith("=") ? 1 : 0;
    const letters = plain.length - padding;
    const isWhole = padding === 0 ? letters % 4 !== 1 : plain.length % 4 === 0;
    // Nothing at all is an empty file.
    if (!BASE64.test(plain) || (letters === 0 && padding > 0) || !isWhole)
      context.issues.push(issue("Must be the file's bytes in base64.", "invalid_string", "base64"));
    return plain;
  })
  .register(jsonSchemas, { jsonSchema: { type: "string", contentEncoding: "base64" } });

const contentType = z
  .string()
  .max(LIMITS.contentTypeLength.value)
  .regex(CONTENT_TYPE, "Must be a content type such as application/pdf or text/calendar; method=REQUEST.");

const attachment = z
  .object({
    filename: z
      .string()
      .min(1)
      .max(LIMITS.attachmentNameLength.value)
      .refine((name) => !hasControlCharacters(name) && !/[/\\]/.test(name), {
        message: "Must be a file name: no path, no line breaks.",
        params: { code: "invalid_string" },
      }),
    content: base64,
    contentType: contentType
      .optional()
      .describe(
        "Such as application/pdf or `text/calendar; method=REQUEST`; else application/octet-stream. The file name is not taken from here.",
      ),
    type: contentType.optional().describe("The same as contentType."),
    contentId: z
      .string()
      .regex(CONTENT_ID, "Must be ASCII without spaces, quotes or angle brackets.")
      .optional(),
    disposition: z.enum(["attachment", "inline"]).optional(),
  })
  .refine((item) => item.disposition !== "inline" || item.contentId !== undefined, {
    message: 'An inline attachment needs a contentId, to be shown by <img src="cid:…">.',
    path: ["contentId"],
    params: { code: "required" },
  });

function decodedBytes(content: string): number {
  const padding = content.endsWith("==") ? 2 : content.endsWith("=") ? 1 : 0;
  return Math.floor(((content.length - padding) * 3) / 4);
}

const attachments = z
  .array(attachment)
  .max(LIMITS.attachments.value)
  .superRefine((items, context) => {
    const total = items.reduce((sum, item) => sum + decodedBytes(item.content), 0);
    if (total > LIMITS.attachmentBytes.value)
      context.addIssue(
        issue(
          `All attachments together may have at most ${LIMITS.attachmentBytes.value} bytes.`,
          "too_big",
          total,
        ),
      );
  });

/** A rule over several fields that is checked also when another field is faulty, so that all faults are told at once. */
function across(field: string, message: string, code: "required" | "custom" | "too_big") {
  return {
    message,
    path: [field],
    params: { code },
    when: ({ value }: { value: unknown }) => typeof value === "object" && value !== null,
  };
}

export const sendBody = z
  .object({
    to: mailboxes(LIMITS.recipients.value).describe("Recipients; each gets a mail of its own."),
    subject: subject.optional().describe("Variables are filled in as in the body."),
    body: bodyText.optional().describe("HTML; Handlebars variables are filled in for each recipient."),
    text: bodyText.optional().describe("The plain-text part; made from the HTML when it is not given."),
    template: id
      .optional()
      .describe("A template in place of subject and body; what else is given here goes before what it says."),
    from: mailbox
      .optional()
      .describe(
        "The sender, at a verified domain; else the template's, else the default sender of the project.",
      ),
    name: displayName.optional().meta({
      deprecated: true,
      description: "Deprecated: the sender's display name, used when `from` is an address without one.",
    }),
    subscribed: z
      .boolean()
      .optional()
      .describe(
        "Left out: a new contact is not subscribed, an existing one keeps its state. `true` ends an opt-out.",
      ),
    data: contactData.optional(),
    headers: customHeaders
      .optional()
      .describe(
        "Custom headers by name; those that the service sets itself or that steer a mail provider are refused.",
      ),
    reply: emailAddress.optional().describe("Where answers go; else where the template says."),
    replyTo: emailAddress.optional().describe("The same as reply."),
    cc: mailboxes(LIMITS.copies.value).optional().describe("Copies of each recipient's mail."),
    bcc: mailboxes(LIMITS.copies.value).optional().describe("Blind copies of each recipient's mail."),
    attachments: attachments.optional().describe("Files; all mails of the call carry them."),
    tracking: z
      .boolean()
      .optional()
      .describe(
        "`false`: neither opens nor clicks of these mails are tracked. Left out: as the project says.",
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
    across("headers", "Give the reply address either as `reply` or as a header Reply-To.", "custom"),
  )
  .refine(
    (body) =>
      (Array.isArray(body.cc) ? body.cc.length : 0) + (Array.isArray(body.bcc) ? body.bcc.length : 0) <=
      LIMITS.copies.value,
    across("cc", `cc and bcc may name at most ${LIMITS.copies.value} addresses together.`, "too_big"),
  );

export type SendBody = z.infer<typeof sendBody>;

export const send = endpoint({
  name: "v1.send",
  method: "POST",
  path: "/v1/send",
  summary: "Send a transactional mail",
  description:
    "Everything is checked before anything is written: a call with several recipients is taken whole or refused whole. The mails are durable when the answer is sent; delivery follows at once. A template of the type MARKETING or HEADLESS reaches subscribed contacts only: if one recipient is not (a new contact is not without `subscribed: true`), the call is refused. Under a test key (the scope `test:send`) the mail stays in the local mailbox, and of its contacts only those that are missing are written, unsubscribed.",
  caller: "project",
  sends: true,
  body: sendBody,
  bodyLimitBytes: LIMITS.sendBodyBytes.value,
  envelope: "wrapped",
  answers: {
    200: z.object({
      emails: z.array(z.object({ contact: z.object({ id: z.uuid(), email: z.string() }), email: z.uuid() })),
      warnings: z
        .array(contentWarning)
        .optional()
        .describe("Variables for which neither `data` nor any contact has a value; left out without any."),
      timestamp: instant,
    }),
  },
  errors: [
    "DOMAIN_NOT_VERIFIED",
    "TEMPLATE_NOT_FOUND",
    "CONTACT_UNSUBSCRIBED",
    "BILLING_LIMIT_EXCEEDED",
    "EMAIL_VERIFICATION_REQUIRED",
  ],
});
