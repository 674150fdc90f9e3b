// Tests starting while the database is unavailable. The start prints a sentence, waits within bounds and begins again.
import { expect, test } from "vitest";
import { startPatiently } from "./open-database.ts";
import { AppError } from "../app-error.ts";

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
])("retries and prints one sentence while the start fails with %s", async (error) => {
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
      /^The database of DATABASE_URL \(db\.example:5432\/post\) does not respond yet \(.+\)\. Waiting/,
    ),
  ]);
  expect(said.join()).not.toContain("hunter2");
});

test("throws the error when the patience is over", async () => {
  const { options } = patience(30);
  let tries = 0;
  const starting = startPatiently(async () => {
    tries += 1;
    throw failure("ECONNREFUSED");
  }, options);
  await expect(starting).rejects.toMatchObject({ code: "ECONNREFUSED" });
  expect(tries).toBeGreaterThan(1);
});

test.each([failure("28P01"), failure("EADDRINUSE"), failure("42501"), new AppError("SERVICE_UNAVAILABLE")])(
  "does not retry %s",
  async (error) => {
    const { said, options } = patience(60_000);
    const fail = async () => {
      throw error;
    };
    await expect(startPatiently(fail, options)).rejects.toBe(error);
    expect(said).toEqual([]);
  },
);

test("stops waiting when the signal aborts", async () => {
  const ending = new AbortController();
  const { options } = patience(60_000, ending.signal);
  const starting = startPatiently(async () => {
    setImmediate(() => ending.abort());
    throw failure("ECONNREFUSED");
  }, options);
  await expect(starting).rejects.toMatchObject({ name: "AbortError" });
});
