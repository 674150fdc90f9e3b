// Queues work that many owners share. The owner that used the least time recently is next, and only owners that ask for too much are
// rejected.
import { availableParallelism } from "node:os";
import { LRUCache } from "lru-cache";
import { withValues } from "@postloft/contract/translation.ts";
import { AppError } from "../app-error.ts";

export interface FairQueueOptions {
  /** How many items run concurrently. */
  atOnce: number;
  /** How many of them may belong to one owner. */
  atOncePerOwner: number;
  /** How many items of one owner may wait before the next one is rejected. */
  waitingPerOwner: number;
  /** How many items may wait in total. Above that, the owner with the most items loses its newest one. */
  waiting: number;
  /**
   * Whether an owner that used much time recently pauses after each item and keeps its place during the pause. That leaves most of the time
   * to others. A function decides for each owner.
   */
  rests: boolean | ((owner: string) => boolean);
}

/** One item of work. */
export interface Piece {
  /** The project, person or network that the work is for. */
  owner: string;
  /** Something that only one item can use at a time, such as a thread. */
  resource?: string;
}

/** An item for a resource, with its own limits. */
export interface ResourcePiece extends Piece {
  resource: string;
  /** How many items of one owner may wait for this resource. */
  waitingPerOwner: number;
  /** How many items may wait for this resource in total. */
  waiting: number;
}

export interface FairQueue {
  /**
   * Runs the work when it is its turn.
   * @throws AppError RATE_LIMIT_EXCEEDED if too much work of the owner waits, and any error of the work
   */
  run<Result>(piece: Piece | ResourcePiece, work: () => Promise<Result>): Promise<Result>;
  /** Adds time that an owner used outside the queue or that is counted as a penalty. */
  charge(owner: string, tookMs: number): void;
  /** Returns the milliseconds that an owner used and that are not forgotten yet. */
  usedMs(owner: string): number;
}

/** Used time is forgotten at a tenth of the speed of the clock, so 1 s is forgotten after 10 s. */
const PURGED_SHARE = 0.1;
const OWNERS_MAX = 10_000;
/** How much an owner may use without a pause. */
const FREE_MS = 500;
/** Above that, an owner pauses for this multiple of the time of each item, so it gets at most a quarter of one core. */
const REST_FACTOR = 3;
const REST_MAX_MS = 3_000;
const RETRY_AFTER_SECONDS = 2;

interface Waiting extends Piece {
  begin: () => void;
  refuse: (error: AppError) => void;
}

/** Creates a queue. @param nowMs a monotonic clock */
// oxlint-disable-next-line max-lines-per-function -- the inner functions share its state
export function createFairQueue(
  options: FairQueueOptions,
  nowMs: () => number = () => performance.now(),
): FairQueue {
  const used = new LRUCache<string, { ms: number; atMs: number }>({ max: OWNERS_MAX });
  /** Waiting items by owner, oldest first. Owners without waiting items have no entry. */
  const lines = new Map<string, Waiting[]>();
  /** How many items of an owner run or pause. */
  const busyOwners = new Map<string, number>();
  const busyResources = new Set<string>();
  let waiting = 0;
  let running = 0;

  function usedMs(owner: string): number {
    const known = used.get(owner);
    return known === undefined ? 0 : Math.max(0, known.ms - (nowMs() - known.atMs) * PURGED_SHARE);
  }

  const charge = (owner: string, tookMs: number) =>
    void used.set(owner, { ms: usedMs(owner) + tookMs, atMs: nowMs() });

  const isFree = ({ resource }: Piece) => resource === undefined || !busyResources.has(resource);

  /** Returns the next item of the owner that used the least time. On a tie, the owner that has waited longest for a turn is next. */
  function next(): Waiting | undefined {
    let best: { piece: Waiting; usedMs: number } | undefined;
    for (const [owner, line] of lines) {
      if ((busyOwners.get(owner) ?? 0) >= options.atOncePerOwner) continue;
      const piece = line.find(isFree);
      if (piece === undefined) continue;
      const ownUsedMs = usedMs(owner);
      if (best === undefined || ownUsedMs < best.usedMs) best = { piece, usedMs: ownUsedMs };
    }
    return best?.piece;
  }

  function remove(piece: Waiting): void {
    const line = lines.get(piece.owner) ?? [];
    line.splice(line.indexOf(piece), 1);
    if (line.length === 0) lines.delete(piece.owner);
    waiting -= 1;
  }

  /** Moves an owner behind all others that used as little. */
  function lowerPriority(owner: string): void {
    const line = lines.get(owner);
    if (line === undefined) return;
    lines.delete(owner);
    lines.set(owner, line);
  }

  function beginNext(): void {
    while (running < options.atOnce) {
      const piece = next();
      if (piece === undefined) return;
      remove(piece);
      lowerPriority(piece.owner);
      running += 1;
      busyOwners.set(piece.owner, (busyOwners.get(piece.owner) ?? 0) + 1);
      if (piece.resource !== undefined) busyResources.add(piece.resource);
      piece.begin();
    }
  }

  function freeOwner(owner: string): void {
    const left = (busyOwners.get(owner) ?? 1) - 1;
    if (left === 0) busyOwners.delete(owner);
    else busyOwners.set(owner, left);
    beginNext();
  }

  function restMs(owner: string, tookMs: number): number {
    const isPaced = typeof options.rests === "function" ? options.rests(owner) : options.rests;
    return isPaced && usedMs(owner) > FREE_MS ? Math.min(REST_MAX_MS, tookMs * REST_FACTOR) : 0;
  }

  function end({ owner, resource }: Piece, tookMs: number): void {
    charge(owner, tookMs);
    running -= 1;
    if (resource !== undefined) busyResources.delete(resource);
    const pauseMs = restMs(owner, tookMs);
    if (pauseMs === 0) return freeOwner(owner);
    setTimeout(() => freeOwner(owner), pauseMs);
    beginNext();
  }

  /** Returns the items that wait for the same resource, or all items if there is none, by owner. */
  function competitorsOf({ resource }: Piece): Waiting[][] {
    const all = [...lines.values()];
    if (resource === undefined) return all;
    return all.map((line) => line.filter((other) => other.resource === resource));
  }

  /** Makes room for one more item by dropping the newest item of the owner with the most. */
  function makeRoom(piece: Piece, most: number): void {
    const rivals = competitorsOf(piece).filter((line) => line.length > 0);
    if (rivals.reduce((sum, line) => sum + line.length, 0) < most) return;
    const longest = rivals.reduce((one, other) => (other.length > one.length ? other : one));
    const newest = longest.at(-1);
    if (newest === undefined) return;
    remove(newest);
    newest.refuse(tooMany(longest.length));
  }

  async function turn(piece: Piece | ResourcePiece): Promise<void> {
    const limits = "waiting" in piece ? piece : options;
    const own = (lines.get(piece.owner) ?? []).filter(({ resource }) => resource === piece.resource);
    if (own.length >= limits.waitingPerOwner) throw tooMany(own.length);
    if (waiting >= limits.waiting) makeRoom(piece, limits.waiting);
    const { owner, resource } = piece;
    const begun = Promise.withResolvers<void>();
    const line = lines.get(owner) ?? [];
    line.push({
      owner,
      ...(resource === undefined ? {} : { resource }),
      begin: begun.resolve,
      refuse: begun.reject,
    });
    lines.set(owner, line);
    waiting += 1;
    beginNext();
    return begun.promise;
  }

  return {
    async run(piece, work) {
      await turn(piece);
      const beganAtMs = nowMs();
      try {
        return await work();
      } finally {
        end(piece, nowMs() - beganAtMs);
      }
    },
    charge,
    usedMs,
  };
}

function tooMany(count: number): AppError {
  return new AppError("RATE_LIMIT_EXCEEDED", {
    ...withValues("{count} requests of this kind are already waiting. Send fewer concurrently.", { count }),
    retryAfterSeconds: RETRY_AFTER_SECONDS,
  });
}

/** Read at each item, so that tests, which all come from one network, can turn the pauses off. */
export const COSTLY_WORK = {
  atOnce: Math.max(1, availableParallelism() - 1),
  atOncePerOwner: 1,
  waitingPerOwner: 1_000,
  waiting: 5_000,
  rests: true,
};

/**
 * The queue for all costly work of this process: explanations, advice, previews, images, keys and passwords. Leaves one core to the serving
 * thread and the database. Each owner has one item in progress.
 */
export const costlyWork = createFairQueue(COSTLY_WORK);
