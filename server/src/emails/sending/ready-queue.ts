// Queues prepared emails for a connection by priority and arrival, and skips destinations at their limit.
import type { DestinationLimits, Echo } from "./destination-limits.ts";
import { destinationOf, domainsOf } from "../../transports/destinations.ts";

interface Waiting {
  row: { priority: number; toAddress: string };
}

export interface ReadyQueue<Mail extends Waiting> {
  add(mail: Mail): void;
  /** Returns the next email that may be sent, or undefined. The caller must call `end` exactly once. */
  take(): { mail: Mail; end: (echo: Echo) => void } | undefined;
  /** Number of emails that could be sent concurrently. Emails behind a destination limit do not count. */
  supply(): number;
  size(): number;
  /** Domains with enough waiting emails, which claims of this priority can leave out. */
  fullDomains(priority: number): string[];
}

export function createReadyQueue<Mail extends Waiting>(limits: DestinationLimits): ReadyQueue<Mail> {
  const waiting: Array<{ mail: Mail; destination: string }> = [];

  /** Counts the waiting emails of this or a higher priority by destination. */
  function countByDestination(priority: number): Map<string, number> {
    const counts = new Map<string, number>();
    for (const { mail, destination } of waiting)
      if (mail.row.priority <= priority) counts.set(destination, (counts.get(destination) ?? 0) + 1);
    return counts;
  }

  return {
    add(mail) {
      const entry = { mail, destination: destinationOf(mail.row.toAddress) };
      const place = waiting.findLastIndex((other) => other.mail.row.priority <= mail.row.priority);
      waiting.splice(place + 1, 0, entry);
    },
    take() {
      const at = waiting.findIndex(({ destination }) => limits.mayStart(destination));
      const [entry] = at === -1 ? [] : waiting.splice(at, 1);
      return entry === undefined ? undefined : { mail: entry.mail, end: limits.start(entry.destination) };
    },
    supply() {
      let supply = 0;
      for (const [destination, count] of countByDestination(Infinity))
        supply += limits.isConstrained(destination) ? Math.min(count, limits.limitOf(destination)) : count;
      return supply;
    },
    size: () => waiting.length,
    fullDomains(priority) {
      return [...countByDestination(priority)].flatMap(([destination, count]) =>
        limits.isConstrained(destination) && count >= limits.limitOf(destination)
          ? domainsOf(destination)
          : [],
      );
    },
  };
}
