// Checks that the upgrade to one account per address (migration 0133) stops while an address has several accounts and explains the next
// step.
import { afterAll, beforeAll, expect, test } from "vitest";
import { runAdmin } from "../admin.ts";
import { APP_SECRET } from "../testing/test-server.ts";
import { readConfig } from "../platform/settings/config.ts";
import { newId } from "../platform/ids.ts";
import { migrate } from "../platform/database/migrations.ts";
import { StartError } from "../platform/start-error.ts";
import { createDatabaseBefore, type TestDatabase } from "../platform/database/test-database.ts";

let old: TestDatabase;
beforeAll(async () => {
  old = await createDatabaseBefore(133);
});
afterAll(() => old.drop());

const admin = async (...args: string[]) => {
  const { host, port, user, password, database } = old.connection;
  const login = password === undefined ? `${user}` : `${user}:${encodeURIComponent(String(password))}`;
  const settings = { APP_SECRET, DATABASE_URL: `postgres://${login}@${host}:${port}/${database}` };
  const said: string[] = [];
  await runAdmin(
    args,
    () => readConfig(settings),
    (line) => said.push(line),
  );
  return said.join("\n");
};

test("the upgrade stops until an address has only one account", async () => {
  const [first, second, lonely, project, shared] = [newId(), newId(), newId(), newId(), newId()];
  await old.pool.query(
    `insert into users (id, email, password_hash, verified_at)
     values ($1, 'ada@example.com', 'x', now()), ($2, 'ada@example.com', 'y', null), ($3, 'bob@example.com', 'z', null)`,
    [first, second, lonely],
  );
  await old.pool.query("insert into projects (id, name) values ($1, 'Mine'), ($2, 'Ours')", [
    project,
    shared,
  ]);
  await old.pool.query(
    `insert into memberships (project_id, user_id, role)
     values ($1, $3, 'OWNER'), ($2, $3, 'OWNER'), ($2, $4, 'MEMBER')`,
    [project, shared, second, first],
  );
  const refused = await migrate(old.pool).catch((error: unknown) => error);
  expect(refused).toBeInstanceOf(StartError);
  const { message } = refused as StartError;
  for (const part of [
    first,
    second,
    "ada@example.com",
    "confirmed",
    "2 projects",
    "npm run admin -- remove-account",
  ])
    expect(message).toContain(part);
  expect(message).not.toContain("bob@example.com");
  await expect(admin("remove-account", second)).rejects.toThrow("--to");
  await expect(admin("remove-account", newId())).rejects.toThrow("does not exist");
  expect(await admin("remove-account", second, "--to", first)).toContain("Deleted account ada@example.com");
  await migrate(old.pool);
  const { rows } = await old.pool.query("select user_id, role from memberships order by project_id");
  expect(rows).toEqual([
    { userId: first, role: "OWNER" },
    { userId: first, role: "OWNER" },
  ]);
  const { rows: left } = await old.pool.query("select id from users order by email");
  expect(left).toEqual([{ id: first }, { id: lonely }]);
});
