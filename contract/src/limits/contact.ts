// Limits that callers can reach with contacts.
import { limit, type Limit } from "./limit.ts";

export const CONTACT_LIMITS = {
  consentChanges: limit(1000, "changes", "`GET /contacts/:id/consent`: the newest changes of a contact."),
  lookupEmails: limit(500, "addresses", "`POST /contacts/lookup`, per call."),
  bulkContacts: limit(1000, "ids", '`contactIds` of one bulk call; with `mode: "query"` there is no limit.'),
  filterTextInAddress: limit(
    8000,
    "characters",
    "A filter in a URL, as JSON: `GET /contacts/export.csv`. A filter in a body is limited only by its conditions.",
  ),
  contactViews: limit(50, "views", "Saved contact views per project; then 409."),
  viewFields: limit(5, "fields", "Custom fields shown as columns in a saved view."),
  eventRetentionMinimum: limit(
    30,
    "days",
    "Minimum retention of a project's events, unless they are kept permanently.",
  ),
  eventRetentionMaximum: limit(
    3650,
    "days",
    "Maximum retention of a project's events, unless they are kept permanently.",
  ),
  emailRetentionMinimum: limit(
    30,
    "days",
    "Minimum retention of the content and recipients of a project's emails, unless they are kept permanently.",
  ),
  emailRetentionMaximum: limit(
    3650,
    "days",
    "Maximum retention of the content and recipients of a project's emails, unless they are kept permanently.",
  ),
  quickTotal: limit(
    50,
    "milliseconds",
    "Maximum time to count the contacts of a list if `withTotal` is `quick`. `total` is 0 if that is not enough.",
  ),
} satisfies Record<string, Limit>;
