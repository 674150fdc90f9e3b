// What callers can run into with contacts.
import { limit, type Limit } from "./limit.ts";

export const CONTACT_LIMITS = {
  consentChanges: limit(1000, "changes", "`GET /contacts/:id/consent`: the newest of a contact."),
  lookupEmails: limit(500, "addresses", "`POST /contacts/lookup`, per call."),
  bulkContacts: limit(1000, "ids", '`contactIds` of one bulk call; with `mode: "query"` there is no limit.'),
  filterTextInAddress: limit(
    8000,
    "characters",
    "A filter in an address, as JSON: `GET /contacts/export.csv`. In a body it may be as long as its conditions.",
  ),
  contactViews: limit(50, "views", "Saved views of the contacts of a project; one more is a 409."),
  viewFields: limit(5, "fields", "Custom fields that have a column in a saved view."),
  eventRetentionMinimum: limit(
    30,
    "days",
    "How long a project keeps its events: at least so long, or for ever.",
  ),
  eventRetentionMaximum: limit(
    3650,
    "days",
    "How long a project keeps its events: at most so long, or for ever.",
  ),
  emailRetentionMinimum: limit(
    30,
    "days",
    "How long a project keeps what its mails said and to whom: at least so long, or for ever.",
  ),
  emailRetentionMaximum: limit(
    3650,
    "days",
    "How long a project keeps what its mails said and to whom: at most so long, or for ever.",
  ),
  quickTotal: limit(
    50,
    "milliseconds",
    "How long the contacts of a list are counted with `withTotal` of `quick`, where there are many; `total` is 0 where that is not enough.",
  ),
} satisfies Record<string, Limit>;
