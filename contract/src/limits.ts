// Every number a caller can run into, with its unit and a sentence. The schemas, the errors and docs/api.md read it from here.
// After it: the noun files, which put these bounds on their fields.

export interface Limit {
  readonly value: number;
  readonly unit: string;
  readonly meaning: string;
}

function limit(value: number, unit: string, meaning: string): Limit {
  return { value, unit, meaning };
}

const MEGABYTE = 1024 * 1024;

export const LIMITS = {
  requestsPerMinute: limit(
    1000,
    "requests per minute and project",
    "Default rate limit; both keys of a project share it. `API_RATE_LIMIT_PER_MINUTE` changes it.",
  ),
  loginFailures: limit(
    10,
    "failed logins per account and address in 10 minutes",
    "After that a login answers 429 until the window ends.",
  ),
  authRequests: limit(
    300,
    "sign-up and log-in calls per address and minute",
    "Slows down guessing from one machine.",
  ),
  bodyBytes: limit(MEGABYTE, "bytes", "A JSON body, everywhere but on the paths below."),
  sendBodyBytes: limit(
    60 * MEGABYTE,
    "bytes",
    "The JSON body of `POST /v1/send`, attachments in base64 included.",
  ),
  jsonDepth: limit(40, "levels", "Nesting of a JSON body."),
  pageSizeDefault: limit(20, "items", "A page of a list when `limit` is not given."),
  pageSizeMaximum: limit(100, "items", "The largest page of a list."),
  searchLength: limit(254, "characters", "A search text."),
  cursorLength: limit(500, "characters", "A cursor as it was handed out."),
  addressLength: limit(254, "octets", "An e-mail address, its domain in A-label form (RFC 5321 §4.5.3.1)."),
  displayNameLength: limit(256, "characters", "The name beside an address."),
  nameLength: limit(100, "characters", "The name of a project."),
  passwordMinimum: limit(8, "characters", "The shortest password."),
  passwordMaximum: limit(256, "characters", "The longest password."),
  dataKeys: limit(1000, "keys", "Keys in one `data` payload."),
  dataKeyLength: limit(255, "characters", "One key of `data`."),
  dataBytes: limit(MEGABYTE, "bytes", "The data of one contact, and one `data` payload."),
  eventNameLength: limit(255, "characters", "The name of an event."),
  lookupEmails: limit(500, "addresses", "`POST /contacts/lookup`, per call."),
  recipients: limit(100, "recipients", "`to` of one `POST /v1/send`; each gets a mail of its own."),
  copies: limit(50, "addresses", "`cc` and `bcc` together."),
  subjectLength: limit(998, "characters", "A subject; no line breaks."),
  htmlBytes: limit(5 * MEGABYTE, "bytes", "The HTML body, and the text body, before and after rendering."),
  renderMs: limit(250, "milliseconds", "The time one mail may take to render."),
  headers: limit(50, "headers", "Custom headers of one mail."),
  headerNameLength: limit(100, "characters", "The name of a custom header."),
  headerValueLength: limit(998, "characters", "The value of a custom header; no line breaks."),
  attachments: limit(10, "attachments", "Attachments of one mail."),
  attachmentBytes: limit(10 * MEGABYTE, "bytes", "All attachments of one mail together, decoded."),
  attachmentNameLength: limit(255, "characters", "The file name of an attachment."),
  messageBytes: limit(40 * MEGABYTE, "bytes", "The whole message as it leaves."),
  idempotencyKeyLength: limit(255, "characters", "`Idempotency-Key`: printable ASCII."),
  idempotencyHours: limit(24, "hours", "How long an `Idempotency-Key` is remembered."),
} as const satisfies Record<string, Limit>;
