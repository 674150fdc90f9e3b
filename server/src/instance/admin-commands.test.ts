// Commands of the operator where no server runs: what is asked for and not done yet is said.
import { afterAll, beforeAll, expect, test } from "vitest";
import { createDatabase, type Database } from "../platform/database.ts";
import { createTestDatabase, type TestDatabase } from "../platform/test-database.ts";
import { readArguments } from "./admin-commands.ts";

let own: TestDatabase;
let database: Database;
beforeAll(async () => {
  own = await createTestDatabase();
  database = createDatabase(own.pool);
});
afterAll(async () => own.drop());

const run = async (name: string) =>
  readArguments([name]).run({
    database,
    openSealer: async () => expect.unreachable("Nothing is sealed."),
    readInput: async () => "",
  });

test("a hold that is asked for and not made yet is no “nothing is held”", async () => {
  expect(await run("held")).toMatchObject({
    json: { held: null, asked: false },
    lines: ["Nothing is held."],
  });
  await run("hold");
  const pending = expect.stringMatching(/^A hold is asked for and not made yet: .* Decide after that\.$/);
  expect(await run("held")).toMatchObject({ json: { held: null, asked: true }, lines: [pending] });
  expect(await run("release")).toMatchObject({
    json: { held: null, asked: true },
    lines: ["Released: nothing.", pending],
  });
});
