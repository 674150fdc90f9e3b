// Whom a call may not reach: mail to a list goes to subscribed contacts only, at /v1/send too (spec §3.1). Pure.

/** What a call does to its recipients' subscription, and what it needs of it. */
export interface ListCall {
  projectId: string;
  addresses: readonly string[];
  /** Who gets a copy of each mail: nobody who unsubscribed, and whoever is no contact. */
  copies: readonly string[];
  /** undefined keeps it; a new contact is not subscribed. */
  subscribed: boolean | undefined;
  /** Whether its template is one for lists. */
  isToList: boolean;
}

export const contactKey = (projectId: string, address: string) => `${projectId} ${address}`;

/**
 * For each call the first address that it may not reach, or null. The calls of a batch count one after the other: what
 * one changes, the next one finds; null stands for a call that was refused and changes nothing.
 * @param states whether contacts are subscribed before the batch, by `contactKey`; missing ones do not exist
 */
export function findUnreachable(
  calls: ReadonlyArray<ListCall | null>,
  states: ReadonlyMap<string, boolean>,
): Array<string | null> {
  const subscribed = new Map(states);
  return calls.map((call) => {
    if (call === null) return null;
    const after = call.addresses.map((address) => {
      const key = contactKey(call.projectId, address);
      return { address, key, isSubscribed: call.subscribed ?? subscribed.get(key) ?? false };
    });
    if (call.isToList) {
      const copied = call.copies.find(
        (address) => subscribed.get(contactKey(call.projectId, address)) === false,
      );
      const unreachable = after.find(({ isSubscribed }) => !isSubscribed)?.address ?? copied;
      if (unreachable !== undefined) return unreachable;
    }
    for (const { key, isSubscribed } of after) subscribed.set(key, isSubscribed);
    return null;
  });
}
