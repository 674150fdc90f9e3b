// Determines which addresses a call must not reach, because bulk mail goes to subscribed contacts only, also from /v1/send (spec §3.1).
// Pure.

/** A call's change to the subscription of its recipients, and its requirements. */
export interface ListCall {
  projectId: string;
  addresses: readonly string[];
  /** Recipients of copies. Unsubscribed contacts get none, but addresses without a contact may. */
  copies: readonly string[];
  /** Undefined keeps the subscription, and a new contact is not subscribed. */
  subscribed: boolean | undefined;
  /** Whether its template is bulk mail. */
  isToList: boolean;
}

export const contactKey = (projectId: string, address: string) => `${projectId} ${address}`;

/**
 * Returns for each call the first address it must not reach, or null. The calls of a batch apply in order, so each sees the changes of
 * earlier ones. Null is a rejected call, which changes nothing.
 * @param states subscription of contacts before the batch by `contactKey`, without unknown ones
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
