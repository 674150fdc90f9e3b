// Shards of the ingest endpoints. Heavy requests share no batch with light ones.
import { expect, test } from "vitest";
import { createLanes, type LaneRequest } from "./lane.ts";

const LIGHT_LANES = 2;
const HEAVY_LANE = LIGHT_LANES;

function request(changes: Partial<LaneRequest> = {}): LaneRequest {
  return { projectId: "a", text: "ada@example.com", bodyBytes: 200, data: {}, ...changes };
}

const heavyOnes = {
  "a large body": request({ bodyBytes: 1_000_000 }),
  "many keys": request({ data: Object.fromEntries(Array.from({ length: 500 }, (_, at) => [`k${at}`, at])) }),
};

test("assigns the same shard to the same text, and never the heavy one to light requests", () => {
  const lanes = createLanes(LIGHT_LANES);
  const taken = Array.from({ length: 100 }, (_, at) => lanes.laneOf(request({ text: `${at}@example.com` })));
  expect(new Set(taken)).toEqual(new Set([0, 1]));
  expect(lanes.laneOf(request())).toBe(lanes.laneOf(request({ bodyBytes: 5_000 })));
});

test.each(Object.entries(heavyOnes))(
  "%s uses the heavy shard, with its whole project until it is done",
  async (_, one) => {
    const lanes = createLanes(LIGHT_LANES);
    const before = lanes.laneOf(request());
    const { promise, resolve } = Promise.withResolvers<void>();
    const flight = lanes.during(one, () => promise);
    expect(lanes.laneOf(one)).toBe(HEAVY_LANE);
    expect(lanes.laneOf(request())).toBe(HEAVY_LANE);
    expect(lanes.laneOf(request({ projectId: "b" }))).not.toBe(HEAVY_LANE);
    resolve();
    await flight;
    expect(lanes.laneOf(request())).toBe(before);
  },
);

test("releases the project from the heavy shard when the request fails", async () => {
  const lanes = createLanes(LIGHT_LANES);
  const failing = lanes.during(heavyOnes["a large body"], async () => {
    throw new Error("The database is away.");
  });
  await expect(failing).rejects.toThrow("away");
  expect(lanes.laneOf(request())).not.toBe(HEAVY_LANE);
});
