// Shards of the ingest endpoints. Heavy requests share no batch with light ones.
import { expect, test } from "vitest";
import { createShards, type ShardRequest } from "./shard.ts";

const LIGHT_SHARDS = 2;
const HEAVY_SHARD = LIGHT_SHARDS;

function request(changes: Partial<ShardRequest> = {}): ShardRequest {
  return { projectId: "a", text: "ada@example.com", bodyBytes: 200, data: {}, ...changes };
}

const heavyOnes = {
  "a large body": request({ bodyBytes: 1_000_000 }),
  "a batch": request({ isBatch: true }),
  "many keys": request({ data: Object.fromEntries(Array.from({ length: 500 }, (_, at) => [`k${at}`, at])) }),
};

test("assigns the same shard to the same text, and never the heavy one to light requests", () => {
  const shards = createShards(LIGHT_SHARDS);
  const taken = Array.from({ length: 100 }, (_, at) =>
    shards.shardOf(request({ text: `${at}@example.com` })),
  );
  expect(new Set(taken)).toEqual(new Set([0, 1]));
  expect(shards.shardOf(request())).toBe(shards.shardOf(request({ bodyBytes: 5_000 })));
});

test.each(Object.entries(heavyOnes))(
  "%s uses the heavy shard, with its whole project until it is done",
  async (_, one) => {
    const shards = createShards(LIGHT_SHARDS);
    const before = shards.shardOf(request());
    const { promise, resolve } = Promise.withResolvers<void>();
    const flight = shards.during(one, () => promise);
    expect(shards.shardOf(one)).toBe(HEAVY_SHARD);
    expect(shards.shardOf(request())).toBe(HEAVY_SHARD);
    expect(shards.shardOf(request({ projectId: "b" }))).not.toBe(HEAVY_SHARD);
    resolve();
    await flight;
    expect(shards.shardOf(request())).toBe(before);
  },
);

test("releases the project from the heavy shard when the request fails", async () => {
  const shards = createShards(LIGHT_SHARDS);
  const failing = shards.during(heavyOnes["a large body"], async () => {
    throw new Error("The database is away.");
  });
  await expect(failing).rejects.toThrow("away");
  expect(shards.shardOf(request())).not.toBe(HEAVY_SHARD);
});
