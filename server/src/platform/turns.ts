// Takes turns at something that many want and few can have at once: whoever took least time lately goes first, and nobody
// waits in an endless line. Before it: a route has costly work for an owner (a project, an address). After it: the work.
import type { Budget } from "./costly-work.ts";
import { Refusal } from "./refusal.ts";
import { createTimeSpent } from "./time-spent.ts";

export interface TurnsOptions {
  /** Pieces of work in progress at once. */
  atOnce: number;
  /** Of those, so many of one owner; all when it is left out. */
  atOncePerOwner?: number;
  /** So many of one owner may wait; one more is refused. */
  waitingPerOwner: number;
  /** So many may wait in all; one more is refused. */
  waiting: number;
  /** After each turn its owner rests as long as it took, longer once it took much: most of the time is left to others. Default: no rest. */
  rests?: boolean;
  /** What this work shares with work of other kinds. Default: nothing. */
  budget?: Budget;
}

export interface Turns {
  /** @throws Refusal RATE_LIMIT_EXCEEDED when too many wait; whatever the work throws. */
  take<Result>(owner: string, work: () => Promise<Result>): Promise<Result>;
}

const RETRY_AFTER_SECONDS = 2;
/** Work that waits long for others has cost nobody as much. */
const REST_MS = 200;
/** Whoever took more than this lately rests longer: so many times what each turn took. */
const FREE_MS = 500;
const LONG_REST_FACTOR = 3;
const LONG_REST_MS = 1_000;

export function createTurns(options: TurnsOptions): Turns {
  const { atOnce, atOncePerOwner = atOnce, waitingPerOwner, waiting, rests = false, budget } = options;
  const spent = createTimeSpent();
  const lines = new Map<string, Array<() => void>>();
  let waitingCount = 0;
  let running = 0;
  const runningOf = new Map<string, number>();

  function goOn(): void {
    while (running < atOnce) {
      const next = [...lines.keys()]
        .filter((owner) => (runningOf.get(owner) ?? 0) < atOncePerOwner && budget?.mayBegin(owner) !== false)
        .reduce<string | null>(
          (least, owner) => (least === null || spent.of(owner) < spent.of(least) ? owner : least),
          null,
        );
      if (next === null) {
        if (lines.size > 0) budget?.callNext(goOn);
        return;
      }
      const line = lines.get(next) ?? [];
      const begin = line.shift();
      // Whoever has more to do goes behind those that took as little.
      lines.delete(next);
      if (line.length > 0) lines.set(next, line);
      waitingCount -= 1;
      running += 1;
      budget?.begin(next);
      runningOf.set(next, (runningOf.get(next) ?? 0) + 1);
      begin?.();
    }
  }

  async function ownTurn(owner: string): Promise<void> {
    const line = lines.get(owner) ?? [];
    if (line.length >= waitingPerOwner || waitingCount >= waiting)
      throw new Refusal("RATE_LIMIT_EXCEEDED", {
        message: `${line.length >= waitingPerOwner ? line.length : waitingCount} requests of this kind wait already. Send fewer at once.`,
        retryAfterSeconds: RETRY_AFTER_SECONDS,
      });
    lines.set(owner, line);
    waitingCount += 1;
    const turn = new Promise<void>((resolve) => line.push(resolve));
    goOn();
    return turn;
  }

  /** Its owner may have another turn. */
  function end(owner: string): void {
    const left = (runningOf.get(owner) ?? 1) - 1;
    if (left === 0) runningOf.delete(owner);
    else runningOf.set(owner, left);
    goOn();
  }

  return {
    async take(owner, work) {
      await ownTurn(owner);
      const beganAtMs = performance.now();
      try {
        return await work();
      } finally {
        const tookMs = performance.now() - beganAtMs;
        spent.add(owner, tookMs);
        running -= 1;
        budget?.end(owner, tookMs);
        goOn();
        if (rests) setTimeout(() => end(owner), restOf(tookMs, spent.of(owner)));
        else end(owner);
      }
    },
  };
}

function restOf(tookMs: number, spentMs: number): number {
  return spentMs > FREE_MS ? Math.min(LONG_REST_MS, tookMs * LONG_REST_FACTOR) : Math.min(REST_MS, tookMs);
}
