// Matches entries of the consent log with subscription events. Pure.
import type { Change } from "./consent-words.ts";

/** Returns whether the entry is the beginning of a contact's log. The first entry has the contact's id. */
export const isArrival = ({ id }: Pick<Change, "id">, contactId: string) => id === contactId;

/**
 * Returns the entries of the log that belong to subscription events, by the ids of the events. Both lists are newest first, so the n-th subscription belongs to the n-th entry that subscribed.
 */
export function changesOfEvents(
  events: ReadonlyArray<{ id: string; type: string }>,
  log: readonly Change[],
  contactId: string,
): Map<string, Change> {
  // A repeated opt-out has an entry and no event, because it changes nothing.
  const changed = log.filter((one, at) => one.subscribed !== log[at + 1]?.subscribed);
  const pairs = [true, false].flatMap((subscribed) => {
    const type = subscribed ? "contact.subscribed" : "contact.unsubscribed";
    const changes = changed.filter((one) => one.subscribed === subscribed && !isArrival(one, contactId));
    const own = events.filter((event) => event.type === type);
    return own.flatMap(({ id }, at) => {
      const change = changes[at];
      return change === undefined ? [] : [[id, change] as const];
    });
  });
  return new Map(pairs);
}
