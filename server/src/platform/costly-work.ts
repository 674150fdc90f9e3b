// What all costly work of this process may take together, of whatever kind it is: one core stays free for whoever serves and for the
// database, one owner has one piece of it in progress, and whoever took much lately rests after each.
// Before it: turns.ts has lines of owners that wait. After it: one of them begins.
import { availableParallelism } from "node:os";
import { createTimeSpent } from "./time-spent.ts";

export interface Budget {
  mayBegin(owner: string): boolean;
  begin(owner: string): void;
  end(owner: string, tookMs: number): void;
  /** Calls `goOn` once, when something ended: whoever could not begin may do so now. */
  callNext(goOn: () => void): void;
}

/** So much an owner takes without a rest; it is forgotten at a tenth of the time that passes. */
const FREE_MS = 500;
/** Beyond it an owner rests for so many times what each piece took: a quarter of one core is all that it gets. */
const REST_FACTOR = 3;
const REST_MAX_MS = 3_000;

export function createBudget(atOnce: number): Budget {
  const spent = createTimeSpent();
  const busy = new Set<string>();
  const waiting = new Set<() => void>();
  let running = 0;

  function goOn(): void {
    const lines = [...waiting];
    waiting.clear();
    for (const line of lines) line();
  }

  return {
    mayBegin: (owner) => running < atOnce && !busy.has(owner),
    begin(owner) {
      running += 1;
      busy.add(owner);
    },
    end(owner, tookMs) {
      running -= 1;
      spent.add(owner, tookMs);
      const restMs = spent.of(owner) > FREE_MS ? Math.min(REST_MAX_MS, tookMs * REST_FACTOR) : 0;
      const rested = () => {
        busy.delete(owner);
        goOn();
      };
      if (restMs === 0) return rested();
      setTimeout(rested, restMs);
      goOn();
    },
    callNext: (line) => void waiting.add(line),
  };
}

/** That of this process: explanations, advice, slow templates, keys and passwords share it. */
export const costlyWork = createBudget(Math.max(1, availableParallelism() - 1));
