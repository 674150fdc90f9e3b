// Exports SQL expressions that read sent emails as `email.sent` events next to the other events (docs/decisions/0025). The email row must
// be named `e` and its content `c`.
import type { RawBuilder, SqlBool } from "kysely";
import { firstIdAt, isSentEvent, MAIL_FACTS, SENT_EVENT_ID } from "./sent-event-queries.ts";

/** The facts of an email as JSON. They are the data of `email.sent` and the first part of the data of all other events about the email. */
export function mailFacts(): RawBuilder<unknown> {
  return MAIL_FACTS;
}

/**
 * Condition that an email was sent, optionally since an instant, to a contact that still exists. Combine it with a condition on
 * `e.project_id`. There is no other record of the event.
 */
export function isEmailSent(since: RawBuilder<unknown> | null): RawBuilder<SqlBool> {
  return isSentEvent(since);
}

/** The event id of a sent email. */
export function sentEventId(): RawBuilder<unknown> {
  return SENT_EVENT_ID;
}

/** The lowest event id possible at an instant. */
export function firstEventIdAt(instant: RawBuilder<unknown>): RawBuilder<unknown> {
  return firstIdAt(instant);
}
