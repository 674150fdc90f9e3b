// Guesses at authenticator codes are limited, and right codes never lock their owner out.
import { afterAll, beforeAll, expect, test } from "vitest";
import { AppError } from "../../platform/app-error.ts";
import { createDatabase, type Database } from "../../platform/database/database.ts";
import { createTestDatabase, type TestDatabase } from "../../platform/database/test-database.ts";
import { createRateLimiter } from "../../platform/http/rate-limit.ts";
import { newId } from "../../platform/ids.ts";
import { codesOf } from "../attempts.ts";
import { guardCode } from "./guard-code.ts";

let testDatabase: TestDatabase;
let database: Database;

beforeAll(async () => {
  testDatabase = await createTestDatabase();
  database = createDatabase(testDatabase.pool);
});
afterAll(async () => testDatabase?.drop());

const right = async () => "signed in";
const wrong = async () => Promise.reject(new AppError("INVALID_CREDENTIALS"));

test("counts wrong codes up to the limit, and right ones not at all", async () => {
  const rateLimiter = createRateLimiter(database);
  const userId = newId();
  const { limit } = codesOf(userId, false);
  const give = (work: () => Promise<string>, code: string | undefined = "123456") =>
    guardCode(rateLimiter, { userId, code, isKnownDevice: false }, work).catch(
      (error: AppError) => error.code,
    );
  for (let time = 0; time <= limit; time++) expect(await give(right)).toBe("signed in");
  for (let time = 0; time < limit; time++) expect(await give(wrong)).toBe("INVALID_CREDENTIALS");
  expect(await give(right)).toBe("RATE_LIMIT_EXCEEDED");
  // A recovery code has its own strength.
  expect(await give(right, "abcd-efgh-ijkl")).toBe("signed in");
});
