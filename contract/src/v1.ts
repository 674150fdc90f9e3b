// The short way in: track and send (spec §4.1, 4.2; decisions §7). Everything a caller can get wrong in a mail is refused here.
import { z } from "zod";
import { attachments } from "./attachments.ts";
import { bodyText, subject } from "./content.ts";
import { customHeaders } from "./custom-headers.ts";
import { endpoint } from "./endpoint.ts";
import { eventName } from "./events.ts";
import {
  contactData,
  displayName,
  emailAddress,
  id,
  instant,
  issue,
  jsonSchemas,
  mailbox,
  mailboxJsonSchema,
  mailboxNames,
  readMailbox,
  type MailboxValue,
} from "./field.ts";
import { LIMITS } from "./limits/limits.ts";
import { plainName } from "./closest-name.ts";
import { respelled } from "./spellings.ts";
import { contentWarning } from "./templates.ts";
import { readAs } from "./unknown-fields.ts";

export const track = endpoint({
  name: "v1.track",
  method: "POST",
  path: "/v1/track",
  summary: "Track an event of a contact",
  description:
    "Creates the contact when it is new (subscribed unless `subscribed` says otherwise), patches its data and records the event. Never deduplicated; an `Idempotency-Key` makes a retry safe. Emails that workflows send because of events tracked with the public key are limited (`PUBLIC_KEY_EMAILS_PER_HOUR`, `PUBLIC_KEY_EMAILS_PER_DAY`, `PUBLIC_KEY_FIRST_EMAILS_PER_HOUR`); with the secret key they are not.",
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
  return readAs(list, { as: () => z.union([mailboxNames, z.array(mailboxNames)]) });
}

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

/** Returns the body in our spelling; a single `attachment` becomes a list. */
function inOurSpelling(body: unknown): unknown {
  const read = respelled(body, SPELLINGS) as { attachments?: unknown } | null;
  const files = typeof read === "object" ? read?.attachments : undefined;
  const isOne = typeof files === "object" && files !== null && !Array.isArray(files);
  return isOne ? { ...read, attachments: [files] } : read;
}

/** Fields that would change when an email is sent, in their plain form. */
const TIMES =
  /^(?:o:)?(?:schedul(?:e|ed|ing)?(?:for|at|on|date|time|in)?|(?:send|deliver|delivery|dispatch|release)(?:at|on|in|after|date|time|later|datetime)|(?:send|deliver)(?:delay|notbefore)|delay(?:ed|for|by|until|in)?(?:ms|seconds|minutes|hours)?|notbefore|deferuntil|deferred)$/;

/** Returns why a field that the endpoint doesn't know must not be ignored, or null. */
function refusalOfTime(name: string): string | null {
  if (!TIMES.test(plainName(name))) return null;
  return "This endpoint sends immediately and can't schedule: leave the field out.";
}

export const send = endpoint({
  name: "v1.send",
  method: "POST",
  path: "/v1/send",
  summary: "Send a transactional mail",
  description:
    "Sends immediately: fields that would change when (`scheduledFor`, `send_at`, `delay`) are 422. Other spellings of fields (`reply_to`, `Cc`, `attachment`, `variables`) are accepted. Everything is checked before anything is written: a call with several recipients is taken whole or refused whole. The mails are durable when the answer is sent; delivery follows at once. A template of the type MARKETING or HEADLESS reaches subscribed contacts only: if one recipient is not (a new contact is not without `subscribed: true`), the call is refused. Under a test key (the scope `test:send`) the mail stays in the local mailbox, and of its contacts only those that are missing are written, unsubscribed.",
  caller: "project",
  sends: true,
  body: sendBody,
  unknownFields: "warned",
  respell: inOurSpelling,
  refusalOfUnknown: refusalOfTime,
  bodyLimitBytes: LIMITS.sendBodyBytes.value,
  envelope: "wrapped",
  answers: {
    200: z.object({
      emails: z.array(z.object({ contact: z.object({ id: z.uuid(), email: z.string() }), email: z.uuid() })),
      warnings: z
        .array(contentWarning.extend({ where: contentWarning.shape.where.extend({ field: z.string() }) }))
        .optional()
        .describe(
          "Merge tags of other services, variables for which neither `data` nor any contact has a value, and fields of the body that were ignored (`unknown_field`, without parts); left out without any.",
        ),
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
