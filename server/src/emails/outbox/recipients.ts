// What the outbox asks about the people behind its mails, as pieces of its own statements: contacts and suppressions are tables of later
// folders, which hand these in (suppressions/recipients.ts).
// Before it: worker.ts, and whoever calls a verb that needs it. After it: claims, the handover check, what becomes of batches.
import type { RawBuilder, SqlBool } from "kysely";

/** A query of the ids of all contacts of a project: who was deleted since is not among them. */
export type ContactIdsOf = (projectId: string) => RawBuilder<unknown>;

export interface RecipientChecks {
  contactIdsOf: ContactIdsOf;
  /**
   * A query of the ids of those among `ids` (an array of uuid) who are subscribed. Each is held until the transaction ends; one who is
   * just being changed is left out.
   */
  holdSubscribed: (projectId: string, ids: RawBuilder<unknown>) => RawBuilder<unknown>;
  /** Whether a contact is subscribed, by whom it is held or not. */
  isSubscribed: (projectId: string, contactId: RawBuilder<unknown>) => RawBuilder<SqlBool>;
  /** A query of the `reason` for which an address of a project is on its suppression list; without a row where it is not. */
  suppressionOf: (projectId: RawBuilder<unknown>, email: RawBuilder<unknown>) => RawBuilder<unknown>;
}
