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
    "Default rate limit; both keys of a project share it, and all sessions of an account have one of their own. `API_RATE_LIMIT_PER_MINUTE` changes it.",
  ),
  loginFailures: limit(
    10,
    "failed logins per account and address in 10 minutes",
    "After that a login answers 429 until the window ends.",
  ),
  failedKeys: limit(
    300,
    "calls per address and minute with a key or session that is not valid",
    "After that 429 instead of 401. Of IPv6 addresses a /64 counts as one; here as with logins.",
  ),
  signUpConflicts: limit(
    50,
    "sign-ups per address in 10 minutes for addresses that have an account",
    "After that a sign-up answers 429 until the window ends, so that nobody can ask for many who is here.",
  ),
  testMails: limit(100, "test mails per project and hour", "After that 429 until the window ends."),
  invitationDays: limit(7, "days", "How long an invitation to a project can be accepted."),
  pendingInvitations: limit(100, "invitations per project", "Those that wait; one more is a 409."),
  memberAdditions: limit(
    100,
    "members added or invited per project and hour",
    "Each is a mail to somebody; after that 429 until the window ends.",
  ),
  members: limit(1000, "members per project", "One more is a 409."),
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
  formBytes: limit(16 * 1024, "bytes", "A form sent to one of the public pages."),
  webhookBytes: limit(256 * 1024, "bytes", "A notification at `POST /webhooks/sns`."),
  inboundBytes: limit(10 * MEGABYTE, "bytes", "A message that the role `smtp` takes."),
  inboundMessages: limit(
    1000,
    "messages per project in 10 minutes",
    "Mail of people at the address of a project; what is over it is told to come back later.",
  ),
  inboundSenderMessages: limit(
    30,
    "messages per sender and project in 10 minutes",
    "The same, from one envelope sender.",
  ),
  operatorMessages: limit(
    50,
    "messages in 10 minutes",
    "Mail to `postmaster@` and `abuse@` of the domains that the role `smtp` takes mail for.",
  ),
  importBodyBytes: limit(6 * MEGABYTE, "bytes", "The whole request of `POST /contacts/import`."),
  importFileBytes: limit(5 * MEGABYTE, "bytes", "The CSV file of `POST /contacts/import`."),
  importRowBytes: limit(MEGABYTE, "bytes", "One row of an imported file."),
  importErrors: limit(100, "errors", "Errors in the result of an import; the counts are of all."),
  importErrorsKept: limit(
    100_000,
    "errors",
    "`GET /contacts/import/:jobId/errors.csv`: the first of an import.",
  ),
  bodyValues: limit(
    50_000,
    "values",
    "Values in a JSON body: texts, numbers and the like, lists and objects, each counted.",
  ),
  jsonDepth: limit(40, "levels", "Nesting of a JSON body."),
  pageSizeDefault: limit(20, "items", "A page of a list when `limit` is not given."),
  pageBytes: limit(
    MEGABYTE,
    "bytes",
    "A page of a list ends with the item that reaches this; `hasMore` and `cursor` say where it goes on. Where pages have numbers, a smaller `pageSize` is asked for.",
  ),
  pageNumber: limit(1_000_000, "", "The last page of a list with page numbers."),
  segmentEmails: limit(500, "addresses", "Members added to or removed from a static segment in one call."),
  pageSizeMaximum: limit(100, "items", "The largest page of a list."),
  searchLength: limit(254, "characters", "A search text."),
  mailboxSearched: limit(
    10_000,
    "messages",
    "`search` in the local mailbox looks through so many, the newest or those before the cursor.",
  ),
  activityScan: limit(
    10_000,
    "rows of each kind",
    "What a page of `GET /activity` with a filter looks at before it ends, and what `GET /activity/recent-count` counts.",
  ),
  activityTypesLength: limit(500, "characters", "`type` of `GET /activity`."),
  recentMinutes: limit(1440, "minutes", "`minutes` of `GET /activity/recent-count`."),
  upcomingActivities: limit(50, "activities", "What `GET /activity/upcoming` shows."),
  cursorLength: limit(500, "characters", "A cursor as it was handed out."),
  addressLength: limit(254, "octets", "An e-mail address, its domain in A-label form (RFC 5321 §4.5.3.1)."),
  displayNameLength: limit(256, "characters", "The name beside an address."),
  nameLength: limit(100, "characters", "The name of a project, segment or template."),
  descriptionLength: limit(500, "characters", "The description of something."),
  passwordMinimum: limit(8, "characters", "The shortest password."),
  passwordMaximum: limit(256, "characters", "The longest password."),
  dataKeys: limit(1000, "keys", "Keys in one `data` payload."),
  contactKeys: limit(2_000, "keys", "Keys in the data of one contact."),
  fields: limit(
    2_000,
    "fields",
    "Keys of `data` that the contacts of a project have; one more is refused until one is deleted.",
  ),
  importColumns: limit(1000, "columns", "Columns of an imported file."),
  dataKeyLength: limit(255, "characters", "One key of `data`."),
  dataBytes: limit(MEGABYTE, "bytes", "The data of one contact, and one `data` payload."),
  eventNames: limit(1_000, "names", "`GET /events/names` and `GET /events/stats`."),
  eventFields: limit(500, "fields", "`GET /events/:eventName/fields`."),
  eventNameLength: limit(255, "characters", "The name of an event."),
  consentChanges: limit(1000, "changes", "`GET /contacts/:id/consent`: the newest of a contact."),
  lookupEmails: limit(500, "addresses", "`POST /contacts/lookup`, per call."),
  bulkContacts: limit(1000, "ids", '`contactIds` of one bulk call; with `mode: "query"` there is no limit.'),
  bulkExcluded: limit(10_000, "ids", "`excludeIds` of one bulk call."),
  bulkErrors: limit(1000, "errors", "Errors in the result of a bulk change; the counts are of all."),
  fieldValuesDefault: limit(100, "values", "`GET /contacts/fields/:field/values` when `limit` is not given."),
  fieldValuesMaximum: limit(200, "values", "The most of `GET /contacts/fields/:field/values`."),
  fieldValueLength: limit(
    500,
    "characters",
    "A value listed by `GET /contacts/fields/:field/values`, as JSON; longer ones are left out.",
  ),
  filterConditions: limit(200, "conditions", "Conditions of one filter, those of nested groups included."),
  filterDepth: limit(10, "levels", "Groups inside groups of one filter."),
  filterFieldLength: limit(512, "characters", "The `field` of a condition."),
  filterPathKeys: limit(10, "keys", "Keys of a nested path: `data.a.b` has two."),
  filterTextLength: limit(1000, "characters", "A text a condition compares with."),
  filterValues: limit(1000, "values", "The list of `in` and `notIn`."),
  filterEventCount: limit(1000, "times", "How often an event must have happened (`triggered`)."),
  filterYears: limit(100, "years", "The longest time of `within`, `olderThan` and the like."),
  filterExpanded: limit(
    2000,
    "conditions",
    "Conditions of one filter together with those of the segments it stands on.",
  ),
  filterSearch: limit(
    50_000_000,
    "characters",
    "`POST /segments/explain`: the texts and lists that the conditions look through, each counted once per condition.",
  ),
  delayDays: limit(365, "days", "A DELAY of a workflow, or the timeout of a WAIT_FOR_EVENT."),
  workflowSteps: limit(200, "steps", "One workflow."),
  workflows: limit(1_000, "workflows", "One project."),
  graphLength: limit(500_000, "characters", "The steps and transitions of one workflow, as JSON."),
  workflowDocumentBytes: limit(3 * MEGABYTE, "bytes", "The body of `POST /workflows/import`."),
  workflowVersions: limit(
    100,
    "versions",
    "The newest ones of a workflow are kept; an older one only where an execution started on it.",
  ),
  problemsContentBytes: limit(
    1_000_000,
    "bytes",
    "Templates of one workflow whose variables `problems` looks at, together.",
  ),
  eventSample: limit(
    100,
    "events",
    "The newest ones of a name, whose data tells `GET /events/:eventName/fields` and `GET /workflows/fields` its keys.",
  ),
  stepConfigLength: limit(16_000, "characters", "`updates` of an UPDATE_CONTACT, as JSON."),
  webhookUrlLength: limit(2_000, "characters", "The address of a webhook."),
  executionContextLength: limit(32_000, "characters", "The `context` an execution is started with, as JSON."),
  entriesPerDay: limit(
    100,
    "executions",
    "Of one workflow that one contact may start within 24 hours by events and segments: what goes round in circles ends here.",
  ),
  executionSteps: limit(
    500,
    "steps",
    "One execution may go through, each time through a loop counted; the next one fails it.",
  ),
  executionsAtOnce: limit(10_000, "executions", "One call that retries or skips all that failed at a step."),
  simulatedEvents: limit(200, "events", "One simulation of a workflow."),
  simulatedDays: limit(3_650, "days", "A simulation of a workflow goes on for, by its virtual clock."),
  replayedExecutions: limit(1_000, "executions", "One replay of a workflow."),
  conditionSearch: limit(
    2_000_000,
    "characters",
    "A CONDITION of a workflow: the texts and lists of a contact that it looks through, each counted once per condition.",
  ),
  explainMs: limit(1_000, "milliseconds", "The time `POST /segments/explain` may take."),
  seenLength: limit(
    1_000,
    "characters",
    "`seen` in `POST /segments/explain`; of what is longer, as JSON if it is no text, the beginning and `…`.",
  ),
  domains: limit(100, "domains", "Sender domains of one project; one more is 409."),
  resolvedIds: limit(1000, "ids", "`ids` of one `POST /campaigns/:id/resolve`."),
  resolvedAtOnce: limit(
    5000,
    "mails",
    "Mails in doubt that one `POST /campaigns/:id/resolve` without `ids` resolves.",
  ),
  recipients: limit(100, "recipients", "`to` of one `POST /v1/send`; each gets a mail of its own."),
  copies: limit(50, "addresses", "`cc` and `bcc` together."),
  templatesListed: limit(1000, "templates", "`GET /templates` without `limit` and `cursor`."),
  subjectLength: limit(998, "characters", "A subject; no line breaks."),
  htmlBytes: limit(5 * MEGABYTE, "bytes", "The HTML body, and the text body, before and after rendering."),
  trackedLinks: limit(
    1_000,
    "addresses",
    "Links of one mail that are tracked; those after that stay as they are.",
  ),
  trackedLinkLength: limit(4_000, "characters", "An address that is tracked; a longer one stays as it is."),
  renderMs: limit(250, "milliseconds", "The time one mail may take to render."),
  headers: limit(50, "headers", "Custom headers of one mail."),
  headerNameLength: limit(100, "characters", "The name of a custom header."),
  headerValueLength: limit(998, "characters", "The value of a custom header; no line breaks."),
  attachments: limit(10, "attachments", "Attachments of one mail."),
  attachmentBytes: limit(10 * MEGABYTE, "bytes", "All attachments of one mail together, decoded."),
  attachmentNameLength: limit(255, "characters", "The file name of an attachment."),
  contentTypeLength: limit(500, "characters", "The content type of an attachment, with its parameters."),
  messageBytes: limit(40 * MEGABYTE, "bytes", "The whole message as it leaves."),
  ratedMails: limit(
    100,
    "mails",
    "From so many on, the rates of bounces and complaints of a project are judged.",
  ),
  criticalBounces: limit(10, "bounces", "A critical rate disables a project from so many on."),
  criticalComplaints: limit(5, "complaints", "A critical rate disables a project from so many on."),
  returnedMessages: limit(
    5,
    "messages",
    "Messages in words that came back about one mail and are kept; each cut to 16,000 characters.",
  ),
  returnedMessageDays: limit(30, "days", "How long they are kept."),
  webhookHeaders: limit(20, "headers", "Headers of one outgoing webhook."),
  webhookHeaderLength: limit(998, "characters", "The value of a header of an outgoing webhook."),
  webhookMs: limit(
    10_000,
    "milliseconds",
    "One try of an outgoing webhook, from the question to DNS to the end of the answer.",
  ),
  webhookAnswerBytes: limit(
    64 * 1024,
    "bytes",
    "What is read of the answer to an outgoing webhook; the rest is cut off.",
  ),
  webhookRetries: limit(
    5,
    "retries",
    "Tries of an outgoing webhook after the first: after 5 s, 30 s, 2 min, 10 min and 45 min.",
  ),
  webhookLongestWait: limit(
    45 * 60,
    "seconds",
    "The longest wait that `Retry-After` of an endpoint asks for.",
  ),
  webhookCalls: limit(32, "calls", "Outgoing webhooks that one process calls at once."),
  webhookCallsPerProject: limit(4, "calls", "Of these, so many of one project."),
  webhookCallsKept: limit(8, "calls", "Of these, places for projects that have no call under way."),
  webhookDays: limit(7, "days", "How long an outgoing webhook that ended is kept."),
  webhookSecretHours: limit(
    24,
    "hours",
    "How long webhooks are also signed with the secret from before `POST /webhooks/secret/rotate`.",
  ),
  idempotencyKeyLength: limit(255, "characters", "`Idempotency-Key`: printable ASCII."),
  idempotencyHours: limit(24, "hours", "How long an `Idempotency-Key` is remembered."),
} as const satisfies Record<string, Limit>;

/** `60 MB` where it comes out even (1 MB = 1,048,576 bytes), else bytes. */
export function formatBytes(bytes: number): string {
  return bytes > 0 && bytes % MEGABYTE === 0 ? `${bytes / MEGABYTE} MB` : `${bytes} bytes`;
}
