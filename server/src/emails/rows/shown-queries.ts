// SQL fragments for the visible fields of an email `e` and its content `c`. They are empty for a redacted email.
import { sql, type RawBuilder } from "kysely";

const unlessRedacted = (shown: RawBuilder<unknown>) =>
  sql<string>`case when e.forgotten_at is null then ${shown} else '' end`;

/** The subject as sent. An email stores its own subject only if the content's subject contains variables. */
export const SUBJECT = unlessRedacted(sql`coalesce(e.subject, c.subject)`);

/** Empty for a redacted email, although its row keeps a provider's domain for counting. */
export const TO_ADDRESS = unlessRedacted(sql`e.to_address`);
