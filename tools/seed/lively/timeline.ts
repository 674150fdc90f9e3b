// Plays what happens in the order of its times, so that everything sees only what happened before.

export interface Timeline {
  /** The end of the history. What would happen later does not happen. */
  readonly endMs: number;
  /** Runs `happen` at a time. Returns false if that is after the end. */
  at(ms: number, happen: (ms: number) => void): boolean;
  /** Plays everything, including what is added meanwhile. */
  play(): void;
}

interface Moment {
  ms: number;
  happen: (ms: number) => void;
}

export function createTimeline(endMs: number): Timeline {
  /** The latest first, because the next one is then taken from the end. */
  const waiting: Moment[] = [];

  /** Returns the place of a time, before all that are as late, so that equal times keep their order. */
  function placeOf(ms: number): number {
    let [low, high] = [0, waiting.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((waiting[middle]?.ms ?? 0) > ms) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  return {
    endMs,
    at(ms, happen) {
      if (ms > endMs) return false;
      waiting.splice(placeOf(ms), 0, { ms, happen });
      return true;
    },
    play() {
      for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) next.happen(next.ms);
    },
  };
}
