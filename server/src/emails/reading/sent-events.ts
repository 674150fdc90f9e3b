// A mail that was sent is the event `email.sent`: what reads events reads mails beside them, by these expressions (docs/decisions/0025). In
// all of them the row of the mail is `e` and that of its content `c`.
import type { RawBuilder, SqlBool } from "kysely";
import { firstIdAt, isSentEvent, MAIL_FACTS, SENT_EVENT_ID } from "./sent-event-queries.ts";

/** What events tell of a mail, as JSON: the data of `email.sent`, and the first part of the data of every other event about it. */
export function mailFacts(): RawBuilder<unknown> {
  return MAIL_FACTS;
}

/**
 * As a condition, beside one on `e.project_id`: that the mail was sent, since an instant or ever, to a contact that is still there.
 * Nothing else stands for that event.
 */
export function isEmailSent(since: RawBuilder<unknown> | null): RawBuilder<SqlBool> {
  return isSentEvent(since);
}

/** The id of a mail as an event. */
export function sentEventId(): RawBuilder<unknown> {
  return SENT_EVENT_ID;
}

/** The first id that an event of this instant can have. */
export function firstEventIdAt(instant: RawBuilder<unknown>): RawBuilder<unknown> {
  return firstIdAt(instant);
}
