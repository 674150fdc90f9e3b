// Changes existing contacts by id, for callers that change many contacts in one batch and must not recreate deleted ones.
import type { Tx } from "../platform/database/database.ts";
import { pairUp } from "../platform/pair-up.ts";
import { enqueueContactEvents } from "../reactions/reactions.ts";
import type { ChangeSource } from "./consent.ts";
import { findContactsById, lockContacts } from "./queries.ts";
import type { DataPatch } from "./rules.ts";
import { upsertContacts } from "./upsert-contacts.ts";

export interface KnownContactChange {
  contactId: string;
  /** Keeps the state when omitted. */
  subscribed?: boolean;
  patch: DataPatch;
  via: ChangeSource;
}

/** Applies the changes in order. Skips deleted contacts. */
export async function changeContacts(
  tx: Tx,
  projectId: string,
  changes: readonly KnownContactChange[],
): Promise<void> {
  const ids = [...new Set(changes.map(({ contactId }) => contactId))];
  await lockContacts(tx, projectId, ids, "changing");
  const rows = await findContactsById(
    tx,
    ids.map((id) => ({ projectId, id })),
  );
  const emails = new Map(rows.map((row) => [row.id, row.email]));
  const known = changes.flatMap(({ contactId, ...change }) => {
    const email = emails.get(contactId);
    return email === undefined ? [] : [{ ...change, projectId, email, subscribedIfNew: false }];
  });
  const outcomes = await upsertContacts(tx, known);
  await enqueueContactEvents(
    tx,
    pairUp(known, outcomes).flatMap(([{ via }, { contactId, isChanged }]) =>
      isChanged ? [{ projectId, contactId, fromPublicKey: via.fromPublicKey }] : [],
    ),
  );
}
