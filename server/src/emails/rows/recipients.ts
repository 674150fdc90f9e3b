// SQL fragments about recipients that the outbox embeds in its queries. They are passed in because contacts and suppressions belong to
// higher layers (suppressions/recipients.ts).
import type { RawBuilder, SqlBool } from "kysely";

/**
 * Returns a query for the ids of those contacts that still exist, each once.
 * @param contacts a query of project and id
 * @param projectId the project of all of them, if the statement is about one (platform/database/cluster.ts)
 */
export type ContactsThere = (contacts: RawBuilder<unknown>, projectId: string | null) => RawBuilder<unknown>;

export interface RecipientChecks {
  contactsThere: ContactsThere;
  /**
   * A query of the subscribed contacts among `ids` (an array of uuid). Locks each one until the transaction ends, and leaves out contacts
   * that another transaction is changing.
   * @param isOfOne whether the statement is about this project only, and runs on a cluster
   */
  holdSubscribed: (projectId: string, ids: RawBuilder<unknown>, isOfOne: boolean) => RawBuilder<unknown>;
  /** Whether a contact is subscribed, regardless of locks. `projectId` is a column here too. */
  isSubscribed: (projectId: RawBuilder<unknown>, contactId: RawBuilder<unknown>) => RawBuilder<SqlBool>;
  /** A query of the `reason` why an address is on the project's suppression list. Returns no row if the address is not listed. */
  suppressionOf: (projectId: RawBuilder<unknown>, email: RawBuilder<unknown>) => RawBuilder<unknown>;
}
