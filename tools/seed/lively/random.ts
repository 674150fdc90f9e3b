// Random numbers that are the same for the same seed, and IDs made of them.

export interface Random {
  /** Returns a number 0 ≤ x < 1. */
  next(): number;
  /** Returns true with this probability. */
  chance(probability: number): boolean;
  /** Returns a number between two others. */
  between(least: number, most: number): number;
  pick<Item>(items: readonly Item[]): Item;
  /** Returns a delay as people have: half of them are shorter than the median, and a few are many times longer. */
  delay(medianMs: number): number;
  /** Returns a UUIDv7 of a time. */
  id(atMs: number): string;
}

/** How far the delays of people spread, as the standard deviation of their logarithm. */
const SPREAD = 1.5;

/** Creates the numbers by the method mulberry32. */
export function createRandom(seed: number): Random {
  let state = seed >>> 0;
  function next(): number {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }
  const hex = (digits: number) =>
    Math.floor(next() * 16 ** digits)
      .toString(16)
      .padStart(digits, "0");
  return {
    next,
    chance: (probability) => next() < probability,
    between: (least, most) => least + next() * (most - least),
    pick(items) {
      const item = items[Math.floor(next() * items.length)];
      if (item === undefined) throw new Error("There is nothing to pick from.");
      return item;
    },
    delay(medianMs) {
      const normal = Math.sqrt(-2 * Math.log(1 - next())) * Math.cos(2 * Math.PI * next());
      return medianMs * Math.exp(SPREAD * normal);
    },
    id(atMs) {
      const time = Math.floor(atMs).toString(16).padStart(12, "0");
      const variant = "89ab"[Math.floor(next() * 4)] ?? "8";
      return `${time.slice(0, 8)}-${time.slice(8)}-7${hex(3)}-${variant}${hex(3)}-${hex(6)}${hex(6)}`;
    },
  };
}
