// What the outbox asks about the people behind its mails, as pieces of its own statements: contacts and suppressions are tables of later
// folders, which hand these in (suppressions/recipients.ts).
import type { RawBuilder, SqlBool } from "kysely";

/** The id of a contact, as a value; null where it was deleted. `projectId` is a column: see docs/decisions/0027. */
export type ContactIfThere = (
  projectId: RawBuilder<unknown>,
  contactId: RawBuilder<unknown>,
) => RawBuilder<unknown>;

export interface RecipientChecks {
  contactIfThere: ContactIfThere;
  /**
   * A query of the ids of those among `ids` (an array of uuid) who are subscribed. Each is held until the transaction ends; one who is
   * just being changed is left out.
   */
  holdSubscribed: (projectId: string, ids: RawBuilder<unknown>) => RawBuilder<unknown>;
  /** Whether a contact is subscribed, by whom it is held or not; `projectId` is a column here too. */
  isSubscribed: (projectId: RawBuilder<unknown>, contactId: RawBuilder<unknown>) => RawBuilder<SqlBool>;
  /** A query of the `reason` for which an address of a project is on its suppression list; without a row where it is not. */
  suppressionOf: (projectId: RawBuilder<unknown>, email: RawBuilder<unknown>) => RawBuilder<unknown>;
}
