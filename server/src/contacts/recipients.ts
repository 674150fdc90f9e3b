// Provides SQL fragments about contacts to the outbox, because this folder comes later in the reading order.
import type { RawBuilder, SqlBool } from "kysely";
import type { RecipientChecks } from "../emails/rows/recipients.ts";
import { idsThere, recipientsWhere, subscribed, subscribedHeld } from "./recipient-queries.ts";

export const CONTACT_CHECKS: Omit<RecipientChecks, "suppressionOf"> = {
  contactsThere: idsThere,
  holdSubscribed: subscribedHeld,
  isSubscribed: subscribed,
};

/** Returns a query for matching contacts `c` as recipients (`contact_id`, `email`). */
export function recipientsOf(projectId: string, matches: RawBuilder<SqlBool>): RawBuilder<unknown> {
  return recipientsWhere(projectId, matches);
}
