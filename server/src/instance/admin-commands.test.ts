// Tests the admin commands without a running server, including a hold that is requested but not done yet.
import { afterAll, beforeAll, expect, test } from "vitest";
import { createSealer } from "../platform/crypto.ts";
import { newId } from "../platform/ids.ts";
import { createDatabase, type Database } from "../platform/database/database.ts";
import { createTestDatabase, type TestDatabase } from "../platform/database/test-database.ts";
import { APP_SECRET } from "../testing/test-server.ts";
import { readArguments } from "./admin-commands.ts";

interface Keys {
  id: string;
  secret: string;
}

let own: TestDatabase;
let database: Database;
beforeAll(async () => {
  own = await createTestDatabase();
  database = createDatabase(own.pool);
});
afterAll(async () => own.drop());

const run = async (...args: string[]) =>
  readArguments(args).run({
    database,
    openSealer: async () => createSealer(APP_SECRET),
    readInput: async () => "a good password",
    progress: () => undefined,
  });

test("creates a project, lists it with its owner, and replaces its keys", async () => {
  await run("create-user", "ada@example.com", "--password-stdin");
  const made = (await run("create-project", "Shop", "--owner", "ada@example.com")).json as Keys;
  expect((await run("projects")).json).toMatchObject({
    projects: [{ id: made.id, name: "Shop", owner: "ada@example.com", disabled: false }],
  });
  const rotated = (await run("rotate-keys", "--project", made.id)).json as Keys;
  expect(rotated).toMatchObject({ id: made.id, name: "Shop" });
  expect(rotated.secret).not.toBe(made.secret);
});

test('reports a requested hold instead of "nothing is held"', async () => {
  expect(await run("held")).toMatchObject({
    json: { held: null, asked: false },
    lines: ["Nothing is on hold."],
  });
  await run("hold");
  const pending = expect.stringMatching(
    /^A hold was requested but hasn't happened yet\. .* Decide after that\.$/,
  );
  expect(await run("held")).toMatchObject({ json: { held: null, asked: true }, lines: [pending] });
  expect(await run("release")).toMatchObject({
    json: { held: null, asked: true },
    lines: ["Released: nothing.", pending],
  });
});

test("distributes and moves nothing on a database server without Citus, and names the fix", async () => {
  await expect(run("distribute")).rejects.toThrow(
    /^This database server does not have Citus\. .* Nothing was changed\.$/,
  );
  await expect(run("rebalance")).rejects.toThrow(/^This database server does not have Citus/);
  await expect(run("move-project", "db2:5432", "--project", newId())).rejects.toThrow(
    /^This database server does not have Citus/,
  );
  expect(() => readArguments(["distribute", "now"])).toThrow("distribute takes no argument.");
  expect(() => readArguments(["move-project", "--project", newId()])).toThrow(
    "move-project takes one argument: <worker>",
  );
});
