// Changes existing contacts by id, for callers that change many contacts in one batch and must not recreate deleted ones.
import type { Tx } from "../platform/database/database.ts";
import { pairUp } from "../platform/pair-up.ts";
import { enqueueContactEvents } from "../reactions/reactions.ts";
import type { ChangeSource } from "./consent.ts";
import { lockContacts } from "./queries.ts";
import type { DataPatch } from "./rules.ts";
import { upsertContacts } from "./upsert-contacts.ts";

export interface KnownContactChange {
  contactId: string;
  /** Keeps the state when omitted. */
  subscribed?: boolean;
  patch: DataPatch;
  via: ChangeSource;
}

/** Applies the changes in order. Skips deleted contacts. Returns the ids of the contacts whose data changed. */
export async function changeContacts(
  tx: Tx,
  projectId: string,
  changes: readonly KnownContactChange[],
): Promise<ReadonlySet<string>> {
  const ids = [...new Set(changes.map(({ contactId }) => contactId))];
  const locked = await lockContacts(tx, projectId, ids, "changing");
  const emails = new Map(locked.map((row) => [row.id, row.email]));
  const known = changes.flatMap(({ contactId, ...change }) => {
    const email = emails.get(contactId);
    return email === undefined ? [] : [{ ...change, projectId, email, subscribedIfNew: false }];
  });
  const outcomes = await upsertContacts(tx, known);
  const changed = pairUp(known, outcomes).filter(([, { isChanged }]) => isChanged);
  await enqueueContactEvents(
    tx,
    changed.map(([{ via }, { contactId }]) => ({
      projectId,
      contactId,
      fromPublicKey: via.fromPublicKey,
    })),
  );
  return new Set(changed.map(([, { contactId }]) => contactId));
}
