// Every error code a caller can meet: its status, its usual message and what to do about it. docs/errors.md is made from it.
import { z } from "zod";
import { IN_PARTS } from "./advice.ts";
import { entry, type ErrorEntry } from "./error-entry.ts";
import { templateFault, type TemplateFault } from "./template-faults.ts";

export const ERRORS = {
  BAD_REQUEST: entry(
    400,
    "The request cannot be understood.",
    "Compare the request with the documentation of this endpoint.",
  ),
  INVALID_REQUEST_BODY: entry(
    400,
    "The body is not valid JSON.",
    "Send a JSON object and `Content-Type: application/json`.",
  ),
  MISSING_AUTH: entry(401, "No API key was sent.", "Send the header `Authorization: Bearer <API key>`."),
  INVALID_API_KEY: entry(
    401,
    "The API key is not valid here.",
    "Use the secret key (sk_…); the public key (pk_…) may only call POST /v1/track. Keys stop working when they are regenerated.",
  ),
  UNAUTHORIZED: entry(
    401,
    "You are not logged in.",
    "Log in with POST /auth/login; API keys are not accepted here.",
  ),
  INVALID_CREDENTIALS: entry(
    401,
    "The e-mail address or the password is wrong.",
    "Check both and try again.",
  ),
  SECOND_FACTOR_REQUIRED: entry(
    401,
    "This account has a second factor.",
    "Send the same request with `code` (of the authenticator app, or a recovery code) or with `passkey`.",
  ),
  SESSION_TOO_OLD: entry(
    403,
    "This asks for a session that began within the last hour.",
    "Log in again, then repeat the request: what opens an account is not changed by a session that was left open.",
  ),
  BILLING_LIMIT_EXCEEDED: entry(
    429,
    "A cap of the project on mails of this month is reached.",
    "Raise the cap in PUT /users/@me/projects/:projectId/billing-limits, or wait for the next month.",
  ),
  REQUEST_NOT_FOUND: entry(
    404,
    "There is no such request in the log.",
    "Requests are kept for a few days, and of many in one second only some.",
  ),
  TOKEN_INVALID: entry(
    400,
    "This link is no longer valid.",
    "It was used, has expired or was replaced by a newer one. Ask for another email.",
  ),
  FORBIDDEN: entry(403, "You may not do this.", "Ask an admin of the project."),
  PROJECT_ACCESS_DENIED: entry(
    403,
    "You are not a member of this project.",
    "Check the project id in X-Project-Id, or ask to be invited.",
  ),
  PROJECT_DISABLED: entry(
    403,
    "This project is disabled: it can be read, but not changed, and it sends nothing.",
    "Ask whoever runs this installation why it was disabled.",
  ),
  EMAIL_VERIFICATION_REQUIRED: entry(
    403,
    "Your email address is not confirmed yet.",
    "Open the link in the confirmation email.",
  ),
  SIGNUPS_DISABLED: entry(
    403,
    "New accounts cannot be created on this installation.",
    "Ask whoever runs this installation for an invitation.",
  ),
  DOMAIN_NOT_VERIFIED: entry(
    403,
    "The sender's domain is not verified in this project.",
    "Add the domain with POST /domains, create its DNS records and verify it; then send from it.",
  ),
  CONTACT_UNSUBSCRIBED: entry(
    403,
    "The contact is unsubscribed.",
    "Send a transactional mail, or ask the contact to subscribe again.",
  ),
  RESOURCE_NOT_FOUND: entry(404, "There is nothing here.", "Check the path and the id."),
  CONTACT_NOT_FOUND: entry(
    404,
    "There is no such contact.",
    "Check the id; contacts of other projects cannot be seen.",
  ),
  KEY_NOT_FOUND: entry(
    404,
    "There is no such key.",
    "Check the id with `GET /projects/:projectId/keys`; keys of other projects cannot be seen.",
  ),
  VIEW_NOT_FOUND: entry(
    404,
    "There is no such view.",
    "Check the id with `GET /contacts/views`; views of other projects cannot be seen.",
  ),
  SUPPRESSION_NOT_FOUND: entry(
    404,
    "The address is not on the suppression list.",
    "Ask `GET /suppressions/:address` what the address gets, and why.",
  ),
  UPLOAD_NOT_FOUND: entry(
    404,
    "There is no such image.",
    "Check the key: `GET /uploads` lists the images; those of other projects cannot be changed.",
  ),
  EMAIL_NOT_FOUND: entry(
    404,
    "There is no such email.",
    "Check the id; emails of other projects cannot be seen.",
  ),
  MESSAGE_NOT_FOUND: entry(
    404,
    "There is no such message in the local mailbox.",
    "Check the id; the mailbox holds mail only with the transport `mailbox`.",
  ),
  TEMPLATE_NOT_FOUND: entry(
    404,
    "There is no such template.",
    "Check the id; templates of other projects cannot be used.",
  ),
  SEGMENT_NOT_FOUND: entry(
    404,
    "There is no such segment.",
    "Check the id; segments of other projects cannot be seen.",
  ),
  FIELD_NOT_FOUND: entry(
    404,
    "There is no such field.",
    "Check the name: `GET /contacts/fields` lists the fields, custom ones as `data.<key>`.",
  ),
  JOB_NOT_FOUND: entry(
    404,
    "There is no such job.",
    "Check the id; jobs of other projects cannot be seen, and jobs are forgotten 30 days after their end.",
  ),
  WORKFLOW_NOT_FOUND: entry(
    404,
    "There is no such workflow.",
    "Check the id; workflows of other projects cannot be seen.",
  ),
  STEP_NOT_FOUND: entry(
    404,
    "There is no such step in this workflow.",
    "`GET /workflows/:id` lists its steps.",
  ),
  TRANSITION_NOT_FOUND: entry(
    404,
    "There is no such transition in this workflow.",
    "`GET /workflows/:id` lists its transitions.",
  ),
  VERSION_NOT_FOUND: entry(
    404,
    "There is no such version of this workflow.",
    "`GET /workflows/:id/versions` lists those that are kept.",
  ),
  EXECUTION_NOT_FOUND: entry(
    404,
    "There is no such execution of this workflow.",
    "Check the id; it has to belong to the workflow in the path.",
  ),
  CAMPAIGN_NOT_FOUND: entry(
    404,
    "There is no such campaign.",
    "Check the id; campaigns of other projects cannot be seen.",
  ),
  DOMAIN_NOT_FOUND: entry(
    404,
    "There is no such domain.",
    "Check the id; domains of other projects cannot be seen.",
  ),
  PROJECT_NOT_FOUND: entry(404, "There is no such project.", "Check the id."),
  MEMBER_NOT_FOUND: entry(
    404,
    "The project has no such member.",
    "`GET /projects/:projectId/members` lists them.",
  ),
  SESSION_NOT_FOUND: entry(
    404,
    "There is no such session of yours.",
    "It is over already, or was ended; `GET /users/@me/sessions` lists them.",
  ),
  INVITATION_NOT_FOUND: entry(
    404,
    "There is no such invitation.",
    "It was accepted, revoked, replaced by a newer one, or is over; ask to be invited again.",
  ),
  METHOD_NOT_ALLOWED: entry(
    405,
    "This path does not take this method.",
    "See the Allow header for the methods it takes.",
  ),
  CONFLICT: entry(
    409,
    "The request contradicts what is there already.",
    "Read the message, change the request and try again.",
  ),
  CAMPAIGN_NOT_READY: entry(422, "The campaign is not ready.", "Fix what `errors` lists, or `confirm` it."),
  CHANGED_MEANWHILE: entry(
    409,
    "It was changed since you read it.",
    "Read it again, then send the change with the new `updatedAt` as `expectedUpdatedAt`; without it the change is made in any case.",
  ),
  IDEMPOTENCY_KEY_REUSED: entry(
    409,
    "This Idempotency-Key was used with another request, or that request is still running.",
    "Use a new key for a new request; repeat the same request with the same key.",
  ),
  PAYLOAD_TOO_LARGE: entry(413, "The body is larger than this endpoint takes.", "Send less at once."),
  UNSUPPORTED_MEDIA_TYPE: entry(
    415,
    "The body is of a kind this endpoint does not take.",
    "Send the `Content-Type` that the documentation of this endpoint names, nearly always `application/json`.",
  ),
  VALIDATION_ERROR: entry(422, "Some fields are not valid.", "Correct the fields listed in `errors`."),
  RATE_LIMIT_EXCEEDED: entry(429, "Too many requests.", "Wait for the seconds in Retry-After and try again."),
  INTERNAL_SERVER_ERROR: entry(
    500,
    "Something went wrong on our side.",
    "Try again; if it stays, tell whoever runs this installation the request id.",
  ),
  SERVICE_UNAVAILABLE: entry(
    503,
    "The service cannot answer right now.",
    "Nothing was changed. Try again in a few seconds.",
  ),
} as const satisfies Record<string, ErrorEntry>;

export type ErrorCode = keyof typeof ERRORS;

/** Codes of single fields in `error.errors[].code`, with when each is used. */
export const FIELD_CODES = {
  required: "the field is missing",
  invalid_type: "the value is of another type",
  invalid_string: "the text has another form (address, id, URL, line breaks)",
  too_small: "the value is too small, too short or too few",
  too_big: "the value is too big, too long or too many",
  invalid_enum_value: "the value is none of those allowed",
  invalid_date: "the date does not exist or has another form",
  invalid_union: "the value has none of the forms allowed",
  unknown_field: "the field does not exist here; the message names the nearest one",
  custom: "another rule of this field is broken; the message says which",
  reserved_event: "the event name belongs to the service",
} as const;

export type FieldCode = keyof typeof FIELD_CODES;

/** One faulty field: a dotted path (`attachments.2.filename`), a sentence, a code. */
export interface FieldError {
  field: string;
  message: string;
  /** Of a fault in a template: what the message says, by code. */
  messageParts?: readonly TemplateFault[];
  code: FieldCode;
}

/** The error envelope of spec §7; `message` stands at the top as well for older clients. */
export const errorAnswer = z.object({
  success: z.literal(false),
  message: z.string(),
  error: z.object({
    code: z.enum(Object.keys(ERRORS) as [ErrorCode, ...ErrorCode[]]),
    message: z.string(),
    statusCode: z.int(),
    requestId: z.string(),
    errors: z
      .array(
        z.object({
          field: z.string(),
          message: z.string(),
          messageParts: z
            .array(templateFault)
            .optional()
            .describe(`Of a fault in the variables of a template. ${IN_PARTS}`),
          code: z.enum(Object.keys(FIELD_CODES) as [FieldCode, ...FieldCode[]]),
        }),
      )
      .optional(),
    suggestion: z.string(),
    docs: z.string().describe("Where the documentation says more about the code."),
  }),
  timestamp: z.iso.datetime(),
});
