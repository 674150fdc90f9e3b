// The catalog of error codes with their status, usual message and suggestion. Source of docs/errors.md.
import { z } from "zod";
import { IN_PARTS } from "./advice.ts";
import { entry, type ErrorEntry } from "./error-entry.ts";
import { templateFault, type TemplateFault } from "./template-faults.ts";
import { translation, type ErrorMessage } from "./translation.ts";

export const ERRORS = {
  BAD_REQUEST: entry(
    400,
    "The request is malformed.",
    "Compare the request with the documentation of this endpoint.",
  ),
  INVALID_REQUEST_BODY: entry(
    400,
    "The body is not valid JSON.",
    "Send a JSON object and `Content-Type: application/json`.",
  ),
  MISSING_AUTH: entry(401, "The API key is missing.", "Send the header `Authorization: Bearer <API key>`."),
  INVALID_API_KEY: entry(
    401,
    "The API key is not valid here.",
    "Use the secret key (sk_…). The public key (pk_…) can only call POST /v1/track. Keys stop working when they are regenerated.",
  ),
  UNAUTHORIZED: entry(
    401,
    "You are not signed in.",
    "Sign in with POST /auth/login. API keys are not accepted here.",
  ),
  INVALID_CREDENTIALS: entry(401, "The email address or the password is wrong.", "Check both and try again."),
  SECOND_FACTOR_REQUIRED: entry(
    401,
    "This account requires a second factor.",
    "Send the same request with `code` (from the authenticator app, or a recovery code) or with `passkey`.",
  ),
  SESSION_TOO_OLD: entry(
    403,
    "You need to have signed in within the last hour.",
    "Sign in again, then repeat the request. Sign-in settings cannot be changed from an older session.",
  ),
  BILLING_LIMIT_EXCEEDED: entry(
    429,
    "The project has reached its monthly email cap.",
    "Raise the cap with PUT /users/@me/projects/:projectId/billing-limits, or wait for next month.",
  ),
  REQUEST_NOT_FOUND: entry(
    404,
    "Request not found in the log.",
    "Requests are kept for a few days. Of many requests in the same second, only some are logged.",
  ),
  TOKEN_INVALID: entry(
    400,
    "This link is no longer valid.",
    "It was used, has expired or was replaced by a newer one. Ask for another email.",
  ),
  FORBIDDEN: entry(403, "You don't have permission to do this.", "Ask an admin of the project."),
  PROJECT_ACCESS_DENIED: entry(
    403,
    "You are not a member of this project.",
    "Check the project id in X-Project-Id, or ask to be invited.",
  ),
  PROJECT_DISABLED: entry(
    403,
    "This project is disabled. You can read it, but you can't change it or send email.",
    "Ask your administrator why it was disabled.",
  ),
  EMAIL_VERIFICATION_REQUIRED: entry(
    403,
    "Your email address is not confirmed yet.",
    "Open the link in the confirmation email.",
  ),
  SIGNUPS_DISABLED: entry(
    403,
    "New accounts cannot be created on this installation.",
    "Ask your administrator for an invitation.",
  ),
  DOMAIN_NOT_VERIFIED: entry(
    403,
    "The sender's domain is not verified in this project.",
    "Add the domain with POST /domains, create its DNS records and verify it. Then send from it.",
  ),
  CONTACT_UNSUBSCRIBED: entry(
    403,
    "The contact is unsubscribed.",
    "Send a transactional email, or ask the contact to subscribe again.",
  ),
  RESOURCE_NOT_FOUND: entry(404, "Not found.", "Check the path and the id."),
  CONTACT_NOT_FOUND: entry(
    404,
    "Contact not found.",
    "Check the id and that your key belongs to the right project.",
  ),
  KEY_NOT_FOUND: entry(
    404,
    "API key not found.",
    "Check the id with `GET /projects/:projectId/keys`, and that it belongs to the right project.",
  ),
  VIEW_NOT_FOUND: entry(
    404,
    "View not found.",
    "Check the id with `GET /contacts/views`, and that your key belongs to the right project.",
  ),
  SUPPRESSION_NOT_FOUND: entry(
    404,
    "The address is not on the suppression list.",
    "Check the status of the address with `GET /suppressions/:address`.",
  ),
  UPLOAD_NOT_FOUND: entry(
    404,
    "Image not found.",
    "Check the key with `GET /uploads`. Images of other projects cannot be changed.",
  ),
  EMAIL_NOT_FOUND: entry(
    404,
    "Email not found.",
    "Check the id and that your key belongs to the right project.",
  ),
  MESSAGE_NOT_FOUND: entry(
    404,
    "Message not found in the local mailbox.",
    "Check the id. The mailbox only has messages with the transport `mailbox`.",
  ),
  TEMPLATE_NOT_FOUND: entry(
    404,
    "Template not found.",
    "Check the id and that your key belongs to the right project.",
  ),
  SEGMENT_NOT_FOUND: entry(
    404,
    "Segment not found.",
    "Check the id and that your key belongs to the right project.",
  ),
  FIELD_NOT_FOUND: entry(
    404,
    "Field not found.",
    "Check the name with `GET /contacts/fields`. Custom fields are listed as `data.<key>`.",
  ),
  JOB_NOT_FOUND: entry(
    404,
    "Job not found.",
    "Check the id and that your key belongs to the right project. Jobs are deleted 30 days after they end.",
  ),
  WORKFLOW_NOT_FOUND: entry(
    404,
    "Workflow not found.",
    "Check the id and that your key belongs to the right project.",
  ),
  STEP_NOT_FOUND: entry(404, "Step not found in this workflow.", "`GET /workflows/:id` lists its steps."),
  TRANSITION_NOT_FOUND: entry(
    404,
    "Transition not found in this workflow.",
    "`GET /workflows/:id` lists its transitions.",
  ),
  VERSION_NOT_FOUND: entry(
    404,
    "Version not found for this workflow.",
    "`GET /workflows/:id/versions` lists the available versions.",
  ),
  EXECUTION_NOT_FOUND: entry(
    404,
    "Execution not found in this workflow.",
    "Check the id. The execution must belong to the workflow in the path.",
  ),
  CAMPAIGN_NOT_FOUND: entry(
    404,
    "Campaign not found.",
    "Check the id and that your key belongs to the right project.",
  ),
  DOMAIN_NOT_FOUND: entry(
    404,
    "Domain not found.",
    "Check the id and that your key belongs to the right project.",
  ),
  PROJECT_NOT_FOUND: entry(404, "Project not found.", "Check the id."),
  MEMBER_NOT_FOUND: entry(
    404,
    "Member not found in this project.",
    "`GET /projects/:projectId/members` lists all members.",
  ),
  SESSION_NOT_FOUND: entry(
    404,
    "Session not found.",
    "The session has ended. `GET /users/@me/sessions` lists your sessions.",
  ),
  INVITATION_NOT_FOUND: entry(
    404,
    "Invitation not found.",
    "It was accepted, revoked, replaced by a newer one, or has expired. Ask to be invited again.",
  ),
  METHOD_NOT_ALLOWED: entry(
    405,
    "This path does not support this method.",
    "See the Allow header for supported methods.",
  ),
  CONFLICT: entry(
    409,
    "The request conflicts with the current state.",
    "Read the message, change the request and try again.",
  ),
  CAMPAIGN_NOT_READY: entry(
    422,
    "The campaign is not ready.",
    "Fix the problems in `errors`, or `confirm` them.",
  ),
  CHANGED_MEANWHILE: entry(
    409,
    "This was changed since you read it.",
    "Read it again, then send the change with the new `updatedAt` as `expectedUpdatedAt`. Without it, the change always overwrites.",
  ),
  IDEMPOTENCY_KEY_REUSED: entry(
    409,
    "Another request used this Idempotency-Key.",
    "Use a new key for a new request. Repeat the same request with its key and an unchanged body until it gets another response.",
  ),
  PAYLOAD_TOO_LARGE: entry(413, "The body is too large for this endpoint.", "Send less data per request."),
  UNSUPPORTED_MEDIA_TYPE: entry(
    415,
    "This endpoint does not support this content type.",
    "Send the `Content-Type` from the documentation of this endpoint, usually `application/json`.",
  ),
  VALIDATION_ERROR: entry(422, "Some fields are invalid.", "Correct the fields listed in `errors`."),
  RATE_LIMIT_EXCEEDED: entry(
    429,
    "Too many requests.",
    "Wait for the number of seconds in Retry-After, then try again.",
  ),
  INTERNAL_SERVER_ERROR: entry(
    500,
    "Something went wrong on our side.",
    "Try again. If it keeps happening, send the request id to your administrator.",
  ),
  SERVICE_UNAVAILABLE: entry(
    503,
    "The service is temporarily unavailable.",
    "Nothing was changed. Try again in a few seconds.",
  ),
} as const satisfies Record<string, ErrorEntry>;

export type ErrorCode = keyof typeof ERRORS;

/** Codes of single fields in `error.errors[].code`, with the case for each. */
export const FIELD_CODES = {
  required: "the field is missing",
  invalid_type: "the value has the wrong type",
  invalid_string: "the text has the wrong format (address, id, URL, line breaks)",
  too_small: "the value is too small, too short or too few",
  too_big: "the value is too big, too long or too many",
  invalid_enum_value: "the value is not in the list of allowed values",
  invalid_date: "the date does not exist or has the wrong format",
  invalid_union: "the value has none of the allowed forms",
  unknown_field: "the field does not exist; the message contains the most similar name",
  custom: "another rule of this field is violated, as described in the message",
  reserved_event: "the event name belongs to the service",
} as const;

export type FieldCode = keyof typeof FIELD_CODES;

/** One invalid field: a dotted path (`attachments.2.filename`), a sentence, a code. */
export interface FieldError extends ErrorMessage {
  field: string;
  /** For a fault in a template, the same message by code. */
  messageParts?: readonly TemplateFault[];
  code: FieldCode;
}

/** The error envelope of spec §7. `message` is also at the top level, for older clients. */
export const errorSchema = z.object({
  success: z.literal(false),
  message: z.string(),
  error: z.object({
    code: z.enum(Object.keys(ERRORS) as [ErrorCode, ...ErrorCode[]]),
    message: z.string(),
    translation: translation.optional(),
    statusCode: z.int(),
    requestId: z.string(),
    errors: z
      .array(
        z.object({
          field: z.string(),
          message: z.string(),
          translation: translation.optional(),
          messageParts: z
            .array(templateFault)
            .optional()
            .describe(`For a fault in the variables of a template. ${IN_PARTS}`),
          code: z.enum(Object.keys(FIELD_CODES) as [FieldCode, ...FieldCode[]]),
        }),
      )
      .optional(),
    suggestion: z.string(),
    docs: z.string().describe("Link to the documentation of the code."),
  }),
  timestamp: z.iso.datetime(),
});
