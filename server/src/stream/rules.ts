// Decides which events an endpoint receives and when a delivery is retried. Pure.
import { EMAIL_RECEIVED } from "@postloft/contract/event-names.ts";
import { LIMITS } from "@postloft/contract/limits/limits.ts";

/** Returns whether an event matches one of the types: its name, a beginning such as `email.*`, or `*`. */
export function matchesTypes(types: readonly string[], name: string): boolean {
  return types.some((type) => (type.endsWith("*") ? name.startsWith(type.slice(0, -1)) : type === name));
}

/** Waits between the attempts to deliver an event. The last one repeats. */
const WAITS_SECONDS = [5, 30, 120, 600, 2_700, 7_200, LIMITS.eventRetryWait.value] as const;
/** Waits vary by this share, so that the retries of many events spread out. */
const JITTER = 0.2;

const [SHORTEST_WAIT_SECONDS] = WAITS_SECONDS;

/** The facts about a failed call that decide when the next attempt is made. */
export interface FailedCall {
  ordered: boolean;
  /** The attempts to deliver its event, or the most of its events, including this one. */
  tries: number;
  /** The time since the first failure after the last success of the endpoint. Null if this is the first. */
  failingForSeconds: number | null;
  /** The wait that the endpoint asks for. */
  askedSeconds: number | null;
}

/**
 * Returns the seconds until the next attempt, or more if the endpoint asks for more. An ordered endpoint waits about as long as it has been
 * failing, because its events wait for each other: tries from before its last success would delay all of them. It never waits longer than
 * other endpoints, because it may have been failing while nothing was called.
 *
 * @param chance a random number from 0 to 1
 */
export function retryWait(
  { ordered, tries, failingForSeconds, askedSeconds }: FailedCall,
  chance: number,
): number {
  const ofTries = WAITS_SECONDS[Math.min(tries, WAITS_SECONDS.length) - 1] ?? 0;
  const wait = ordered ? Math.min(Math.max(failingForSeconds ?? 0, SHORTEST_WAIT_SECONDS), ofTries) : ofTries;
  return Math.max(wait * (1 - JITTER * chance), askedSeconds ?? 0);
}

/** Which events an endpoint receives. */
export interface EventFilter {
  eventTypes: readonly string[];
  /** Null for all events. */
  tags: readonly string[] | null;
  /** Patterns of the addresses of received emails. Null for all events. */
  addresses: readonly string[] | null;
}

export interface FilteredEvent {
  number: number;
  type: string;
  isRedacted: boolean;
  /** The tags of its email, if it has some. */
  tags: readonly string[] | null;
  /** The address that a received email arrived at. */
  address: string | null;
}

/** Returns whether a text matches a pattern, in which `*` stands for any characters. Takes linear time. */
export function matchesPattern(pattern: string, text: string): boolean {
  const [first = "", ...others] = pattern.split("*");
  const last = others.pop();
  if (last === undefined) return text === first;
  if (!text.startsWith(first)) return false;
  let at = first.length;
  for (const part of others) {
    const found = text.indexOf(part, at);
    if (found < 0) return false;
    at = found + part.length;
  }
  return text.length - last.length >= at && text.endsWith(last);
}

/** Returns whether an endpoint receives an event. A redacted event of an email matches any tag and address, because they are deleted. */
function matches({ eventTypes, tags, addresses }: EventFilter, event: FilteredEvent): boolean {
  if (!matchesTypes(eventTypes, event.type)) return false;
  // Received emails have an address and no tags, and all others have no address.
  if (addresses !== null && (tags === null || event.type === EMAIL_RECEIVED))
    return arrivedAt(addresses, event);
  if (tags === null) return true;
  if (event.isRedacted) return event.type.startsWith("email.");
  return event.tags?.some((tag) => tags.includes(tag)) ?? false;
}

function arrivedAt(addresses: readonly string[], { type, isRedacted, address }: FilteredEvent): boolean {
  if (type !== EMAIL_RECEIVED) return false;
  return isRedacted || (address !== null && addresses.some((pattern) => matchesPattern(pattern, address)));
}

/** Assigns each matching event the number of the previous one. Returns these and the last number. */
export function chainMatches(
  events: readonly FilteredEvent[],
  filter: EventFilter,
  previous: number,
): { matches: Array<{ number: number; previous: number }>; previous: number } {
  const numbers = events.filter((event) => matches(filter, event)).map(({ number }) => number);
  return {
    matches: numbers.map((number, at) => ({ number, previous: numbers[at - 1] ?? previous })),
    previous: numbers.at(-1) ?? previous,
  };
}
