// How much time each owner (a project, an address) took lately on a thread that many share. What was taken is forgotten at a
// steady rate. Before it: whoever does the work says what it took. After it: turns.ts and the renderer let others go first.
import { LRUCache } from "lru-cache";

/** So much of the time that passes is everybody's to take: 1 s taken is forgotten in 10 s. */
const SHARE = 0.1;
const OWNERS_MAX = 10_000;

export interface TimeSpent {
  add(owner: string, tookMs: number): void;
  /** Milliseconds that are not forgotten yet. */
  of(owner: string): number;
}

/** Keeps the books in memory, for one process. `nowMs` is a clock that only goes on. */
export function createTimeSpent(nowMs: () => number = () => performance.now()): TimeSpent {
  const owners = new LRUCache<string, { ms: number; atMs: number }>({ max: OWNERS_MAX });

  function of(owner: string): number {
    const known = owners.get(owner);
    return known === undefined ? 0 : Math.max(0, known.ms - (nowMs() - known.atMs) * SHARE);
  }

  return {
    add: (owner, tookMs) => void owners.set(owner, { ms: of(owner) + tookMs, atMs: nowMs() }),
    of,
  };
}
