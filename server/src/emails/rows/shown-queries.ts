// SQL fragments for the visible fields of an email `e` and its content `c`. They are empty for a redacted email.
import { sql, type RawBuilder, type SqlBool } from "kysely";

const unlessRedacted = (shown: RawBuilder<unknown>) =>
  sql<string>`case when e.forgotten_at is null then ${shown} else '' end`;

/** The subject as sent. An email stores its own subject only if the content's subject contains variables. */
export const SUBJECT = unlessRedacted(sql`coalesce(e.subject, c.subject)`);

/** The recipient of a redacted email or of a deleted contact keeps only `@` and the domain of a provider, for counting, or is empty. */
export const HAS_RECIPIENT = sql<SqlBool>`(e.to_address <> '' and e.to_address not like '@%')`;

/** Empty for a redacted recipient. */
export const TO_ADDRESS = sql<string>`case when ${HAS_RECIPIENT} then e.to_address else '' end`;
