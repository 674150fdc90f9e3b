// Divides the contacts of a RANDOM_SPLIT so that each share has its percent of them, rounded up or down (decision 0139). Pure.
import { weightsOf, type Share } from "@postloft/contract/workflows/branches.ts";
import type { GraphStep } from "@postloft/contract/workflows/graph.ts";

/** Returns the share of the next contact at a RANDOM_SPLIT. */
export type TakeShare = (step: Extract<GraphStep, { type: "RANDOM_SPLIT" }>) => Share;

/**
 * Returns a function that returns the share of a contact, by the number of contacts before it.
 * Each contact takes the share with the fewest contacts for its percent, among those that it does not bring above their percent, rounded
 * up. This is the quota method of M. L. Balinski and H. P. Young (1975). The sequence repeats as soon as all counts are whole.
 */
export function shareSequence(shares: readonly Share[]): (contactsBefore: number) => Share {
  const weights = weightsOf(shares);
  const divisor = weights.reduce(greatestDivisor, 0);
  const parts = shares.map((share, at) => ({ share, weight: (weights[at] ?? 0) / divisor, count: 0 }));
  const period = parts.reduce((sum, { weight }) => sum + weight, 0);
  const sequence: Share[] = [];
  return (contactsBefore) => {
    const place = contactsBefore % period;
    while (sequence.length <= place) {
      const contacts = sequence.length + 1;
      const chosen = parts
        .filter(({ weight, count }) => count * period < weight * contacts)
        .reduce((one, other) =>
          (other.count + 1) * one.weight < (one.count + 1) * other.weight ? other : one,
        );
      chosen.count++;
      sequence.push(chosen.share);
    }
    return sequence[place] as Share;
  };
}

const greatestDivisor = (one: number, other: number): number =>
  other === 0 ? one : greatestDivisor(other, one % other);

/** Returns a function that counts the contacts at each step, beginning with those that passed it before. */
export function createShares(passedBefore: (stepId: string) => number = () => 0): TakeShare {
  const counts = new Map<string, number>();
  const sequences = new Map<object, ReturnType<typeof shareSequence>>();
  return ({ id, config }) => {
    const count = counts.get(id) ?? passedBefore(id);
    counts.set(id, count + 1);
    const shareOf = sequences.get(config) ?? shareSequence(config.shares);
    sequences.set(config, shareOf);
    return shareOf(count);
  };
}

/** Returns executions in an order in which those at a RANDOM_SPLIT are shuffled among their own places. */
export function shuffledAt<Item>(
  items: readonly Item[],
  isAtSplit: (item: Item) => boolean,
  random: () => number = Math.random,
): readonly Item[] {
  const places = items.flatMap((item, at) => (isAtSplit(item) ? [at] : []));
  if (places.length < 2) return items;
  const order = [...items];
  for (let last = places.length - 1; last > 0; last--) {
    const [one, other] = [places[last] ?? 0, places[Math.floor(random() * (last + 1))] ?? 0];
    [order[one], order[other]] = [order[other] as Item, order[one] as Item];
  }
  return order;
}
