// Messages that arrive at the same time share the memory of their project.
import { expect, test } from "vitest";
import { createDataReader } from "./read-data.ts";

const bytesOf = async function* (size: number) {
  yield Buffer.alloc(size, "x");
};

test("a rejected message frees only its own memory", async () => {
  const reader = createDataReader({ messageBytes: 10, totalBytes: 40 });
  const { promise: ended, resolve: end } = Promise.withResolvers<void>();
  const read = async (size: number, project = "one") =>
    reader.read(bytesOf(size), project, async (bytes) => {
      await ended;
      return bytes.length;
    });
  const held = [read(8), read(8)];
  await expect(read(100)).rejects.toMatchObject({ responseCode: 552 });
  await expect(read(8)).rejects.toMatchObject({ responseCode: 452 });
  held.push(read(8, "two"));
  end();
  expect(await Promise.all(held)).toEqual([8, 8, 8]);
  expect(await read(8)).toBe(8);
});
