// Pieces of statements: what is shown of a mail `e`, and of its content `c`; nothing of one that is forgotten.
import { sql, type RawBuilder } from "kysely";

const unlessForgotten = (shown: RawBuilder<unknown>) =>
  sql<string>`case when e.forgotten_at is null then ${shown} else '' end`;

/** As it was sent: a mail has a subject of its own where variables stood in that of its content. */
export const SUBJECT = unlessForgotten(sql`coalesce(e.subject, c.subject)`);

/** A forgotten one keeps the domain of a provider, by which it is counted. */
export const TO_ADDRESS = unlessForgotten(sql`e.to_address`);
