// Prepared mails that wait for a connection: the most urgent first, in the order they came, past those whose destination is at its limit.
import type { DestinationLimits, Echo } from "./destination-limits.ts";
import { destinationOf, domainsOf } from "../../transports/destinations.ts";

interface Waiting {
  row: { priority: number; toAddress: string };
}

export interface ReadyQueue<Mail extends Waiting> {
  add(mail: Mail): void;
  /** The next mail that may go now; undefined when there is none. Whoever takes it tells its echo, exactly once. */
  take(): { mail: Mail; end: (echo: Echo) => void } | undefined;
  /** Mails that could be under way at once as things stand: what waits behind a limit does not count. */
  supply(): number;
  /** All that wait. */
  size(): number;
  /** Domains of which enough wait here, so that no more of this priority need be claimed. */
  fullDomains(priority: number): string[];
}

export function createReadyQueue<Mail extends Waiting>(limits: DestinationLimits): ReadyQueue<Mail> {
  const waiting: Array<{ mail: Mail; destination: string }> = [];

  /** Destinations with how many wait, of a priority or a more urgent one. */
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
