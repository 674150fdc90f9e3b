// A start while the database is not up, or goes away in the middle: it waits with a sentence, within bounds, and starts anew.
import { expect, test } from "vitest";
import { startPatiently } from "./open-database.ts";
import { Refusal } from "../refusal.ts";

const never = new AbortController().signal;

function failure(code: string, message = "failed"): Error {
  return Object.assign(new Error(message), { code });
}

function patience(patienceMs: number, signal: AbortSignal = never) {
  const said: string[] = [];
  const databaseUrl = "postgres://user:hunter2@db.example:5432/post";
  return { said, options: { databaseUrl, say: (line: string) => void said.push(line), signal, patienceMs } };
}

test.each([
  failure("ECONNREFUSED"),
  failure("ENOTFOUND"),
  failure("57P03"),
  failure("53300"),
  failure("", "Connection terminated unexpectedly"),
])("while it fails with %s it is tried again, and one sentence says so", async (error) => {
  const { said, options } = patience(20);
  let tries = 0;
  const result = await startPatiently(async () => {
    tries += 1;
    if (tries === 1) throw error;
    return "started";
  }, options);
  expect(result).toBe("started");
  expect(said).toEqual([
    expect.stringMatching(
      /^The database of DATABASE_URL \(db\.example:5432\/post\) does not answer yet \(.+\): waiting/,
    ),
  ]);
  expect(said.join()).not.toContain("hunter2");
});

test("when the patience is over the reason is thrown", async () => {
  const { options } = patience(30);
  let tries = 0;
  const starting = startPatiently(async () => {
    tries += 1;
    throw failure("ECONNREFUSED");
  }, options);
  await expect(starting).rejects.toMatchObject({ code: "ECONNREFUSED" });
  expect(tries).toBeGreaterThan(1);
});

test.each([failure("28P01"), failure("EADDRINUSE"), failure("42501"), new Refusal("SERVICE_UNAVAILABLE")])(
  "%s is nothing that time heals",
  async (error) => {
    const { said, options } = patience(60_000);
    const fail = async () => {
      throw error;
    };
    await expect(startPatiently(fail, options)).rejects.toBe(error);
    expect(said).toEqual([]);
  },
);

test("whoever wants it to end does not wait", async () => {
  const ending = new AbortController();
  const { options } = patience(60_000, ending.signal);
  const starting = startPatiently(async () => {
    setImmediate(() => ending.abort());
    throw failure("ECONNREFUSED");
  }, options);
  await expect(starting).rejects.toMatchObject({ name: "AbortError" });
});
