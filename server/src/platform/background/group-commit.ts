// Natural group commit (ARCHITECTURE.md, decision 1): requests that arrive while a batch is in flight form the next batch.
// No timer: alone, an item goes at once; under load, batches grow by themselves. Used by the hot doors and by the sender.
import { pairUp } from "../pair-up.ts";

export interface GroupCommitOptions<Item, Result> {
  /** Batches in flight at once. Items of one lane never overlap, so their order is kept. */
  lanes: number;
  /** Which lane an item belongs to, any whole number; items that touch the same row must share one. */
  laneOf: (item: Item) => number;
  /** The largest batch. */
  maxItems: number;
  /** What an item weighs, such as its bytes: a batch ends before it would weigh more than `maxWeight`. Default: nothing. */
  weightOf?: (item: Item) => number;
  /** An item that weighs more goes alone. Default: no limit. */
  maxWeight?: number;
  /**
   * Does the work of a batch and returns one entry per item, in order; an `Error` there fails that item alone.
   * When it throws, each item is tried once more by itself, so that one bad item cannot fail the others.
   */
  run: (items: readonly Item[]) => Promise<ReadonlyArray<Result | Error>>;
  /**
   * Whether a batch that failed so surely had no effect. Where a repeat would do things twice, items are tried again
   * only then; otherwise all are refused. Default: a repeat does no harm.
   */
  hadNoEffect?: (error: unknown) => boolean;
  /** How many of them are tried by themselves at once. Default: a few, so that one that has to wait for a lock keeps few others. */
  aloneAtOnce?: number;
}

const ALONE_AT_ONCE = 4;

export interface GroupCommit<Item, Result> {
  submit(item: Item): Promise<Result>;
  /** Resolves when nothing waits and nothing is in flight. */
  drained(): Promise<void>;
}

interface Waiting<Item, Result> {
  item: Item;
  resolve: (result: Result) => void;
  reject: (error: Error) => void;
}

export function createGroupCommit<Item, Result>(
  options: GroupCommitOptions<Item, Result>,
): GroupCommit<Item, Result> {
  const lanes = Array.from({ length: options.lanes }, () => ({
    waiting: [] as Array<Waiting<Item, Result>>,
    busy: null as Promise<void> | null,
  }));

  /** How many of those that wait the next batch takes; at least one. */
  function fitting(waiting: ReadonlyArray<Waiting<Item, Result>>): number {
    const { maxItems, maxWeight = Number.POSITIVE_INFINITY, weightOf = () => 0 } = options;
    let weight = 0;
    const beyond = waiting.findIndex(({ item }) => (weight += weightOf(item)) > maxWeight);
    return beyond === -1 ? maxItems : Math.min(maxItems, Math.max(1, beyond));
  }

  async function work(lane: (typeof lanes)[number]): Promise<void> {
    // One turn of the event loop, so that everything that arrived together goes together.
    await new Promise((resolve) => setImmediate(resolve));
    while (lane.waiting.length > 0) await settle(lane.waiting.splice(0, fitting(lane.waiting)), options);
    lane.busy = null;
  }

  return {
    submit(item) {
      const lane = lanes[Math.abs(options.laneOf(item)) % lanes.length];
      if (lane === undefined) throw new Error("A group commit needs at least one lane.");
      return new Promise<Result>((resolve, reject) => {
        lane.waiting.push({ item, resolve, reject });
        lane.busy ??= work(lane);
      });
    },
    async drained() {
      for (const lane of lanes) while (lane.busy !== null) await lane.busy;
    },
  };
}

async function settle<Item, Result>(
  batch: ReadonlyArray<Waiting<Item, Result>>,
  options: GroupCommitOptions<Item, Result>,
): Promise<void> {
  try {
    const results = await options.run(batch.map(({ item }) => item));
    for (const [{ resolve, reject }, result] of pairUp(batch, results))
      if (result instanceof Error) reject(result);
      else resolve(result);
  } catch (error) {
    const failure = error instanceof Error ? error : new Error(String(error));
    if (batch.length > 1 && (options.hadNoEffect?.(error) ?? true)) {
      const { aloneAtOnce = ALONE_AT_ONCE } = options;
      for (let at = 0; at < batch.length; at += aloneAtOnce)
        await Promise.all(batch.slice(at, at + aloneAtOnce).map((one) => settle([one], options)));
    } else for (const { reject } of batch) reject(failure);
  }
}
