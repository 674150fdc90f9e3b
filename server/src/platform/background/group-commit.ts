// Implements natural group commit (ARCHITECTURE.md, decision 1), where requests that arrive during a batch form the next batch. There is no
// timer, so a single item runs immediately and batches grow with the load. Used by the hot endpoints and the sender.
import { pairUp } from "../pair-up.ts";

export interface GroupCommitOptions<Item, Result> {
  /** How many batches may be in flight. Items of one shard never overlap, which keeps their order. */
  shards: number;
  /** Returns the shard of an item, any whole number. Items that touch the same row must share a shard. */
  shardOf: (item: Item) => number;
  /** The maximum number of items in a batch. */
  maxItems: number;
  /** Returns the weight of an item, such as its bytes. A batch ends before it would exceed `maxWeight`. Default: 0. */
  weightOf?: (item: Item) => number;
  /** A heavier item runs alone. Default: no limit. */
  maxWeight?: number;
  /**
   * Runs a batch and returns one entry per item, in order. An `Error` in an entry fails only that item. If `run` throws, each item is tried
   * once more on its own, so that one bad item cannot fail the others.
   */
  run: (items: readonly Item[]) => Promise<ReadonlyArray<Result | Error>>;
  /**
   * Returns whether a failed batch certainly had no effect. If a repeat would do things twice, items are retried only in that case and
   * otherwise all are rejected. Default: a repeat is harmless.
   */
  hadNoEffect?: (error: unknown) => boolean;
  /** How many items are retried separately at the same time. Default: a few, so that an item that waits for a lock delays few others. */
  aloneAtOnce?: number;
}

const ALONE_AT_ONCE = 4;

export interface GroupCommit<Item, Result> {
  submit(item: Item): Promise<Result>;
  /** Resolves when no item waits or is in flight. */
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
  const shards = Array.from({ length: options.shards }, () => ({
    waiting: [] as Array<Waiting<Item, Result>>,
    busy: null as Promise<void> | null,
  }));

  /** Returns how many waiting items the next batch takes, at least one. */
  function fitting(waiting: ReadonlyArray<Waiting<Item, Result>>): number {
    const { maxItems, maxWeight = Number.POSITIVE_INFINITY, weightOf = () => 0 } = options;
    let weight = 0;
    const beyond = waiting.findIndex(({ item }) => (weight += weightOf(item)) > maxWeight);
    return beyond === -1 ? maxItems : Math.min(maxItems, Math.max(1, beyond));
  }

  async function work(shard: (typeof shards)[number]): Promise<void> {
    // Waits one turn of the event loop, so that all items that arrived together form one batch.
    await new Promise((resolve) => setImmediate(resolve));
    while (shard.waiting.length > 0) await settle(shard.waiting.splice(0, fitting(shard.waiting)), options);
    shard.busy = null;
  }

  return {
    submit(item) {
      const shard = shards[Math.abs(options.shardOf(item)) % shards.length];
      if (shard === undefined) throw new Error("A group commit needs at least one shard.");
      return new Promise<Result>((resolve, reject) => {
        shard.waiting.push({ item, resolve, reject });
        shard.busy ??= work(shard);
      });
    },
    async drained() {
      for (const shard of shards) while (shard.busy !== null) await shard.busy;
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
