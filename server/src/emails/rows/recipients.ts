// SQL fragments about recipients that the outbox embeds in its queries. They are passed in because contacts and suppressions belong to
// higher layers (suppressions/recipients.ts).
import type { RawBuilder, SqlBool } from "kysely";

/** The contact's id, or null if the contact was deleted. `projectId` is a column (docs/decisions/0027). */
export type ContactIfThere = (
  projectId: RawBuilder<unknown>,
  contactId: RawBuilder<unknown>,
) => RawBuilder<unknown>;

export interface RecipientChecks {
  contactIfThere: ContactIfThere;
  /**
   * A query of the subscribed contacts among `ids` (an array of uuid). Locks each one until the transaction ends, and leaves out contacts
   * that another transaction is changing.
   */
  holdSubscribed: (projectId: string, ids: RawBuilder<unknown>) => RawBuilder<unknown>;
  /** Whether a contact is subscribed, regardless of locks. `projectId` is a column here too. */
  isSubscribed: (projectId: RawBuilder<unknown>, contactId: RawBuilder<unknown>) => RawBuilder<SqlBool>;
  /** A query of the `reason` why an address is on the project's suppression list. Returns no row if the address is not listed. */
  suppressionOf: (projectId: RawBuilder<unknown>, email: RawBuilder<unknown>) => RawBuilder<unknown>;
}
