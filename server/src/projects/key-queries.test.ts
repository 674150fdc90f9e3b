// Tests that keys are found on a cluster as on one PostgreSQL.
import { randomBytes } from "node:crypto";
import { sql } from "kysely";
import { afterAll, beforeAll, expect, test } from "vitest";
import { treatAsCluster } from "../platform/database/cluster.ts";
import { createDatabase, transaction } from "../platform/database/database.ts";
import { createTestDatabase, type TestDatabase } from "../platform/database/test-database.ts";
import { newId } from "../platform/ids.ts";
import { addProject } from "../testing/add-project.ts";
import { listProjectsWithKeys } from "./key-queries.ts";
import { findKeysByHash, insertKeys } from "./queries.ts";

let testDatabase: TestDatabase;
beforeAll(async () => {
  testDatabase = await createTestDatabase();
});
afterAll(() => testDatabase.drop());

test("finds the same keys and disabled projects on a cluster as on one PostgreSQL", async () => {
  const database = createDatabase(testDatabase.pool);
  const [enabled, disabled] = [newId(), newId()];
  const keys = [enabled, disabled].map((projectId) => ({
    projectId,
    hash: randomBytes(32),
    kind: "secret" as const,
    sealed: randomBytes(8),
  }));
  for (const id of [enabled, disabled]) await addProject(database, { id });
  await transaction(database, (tx) => insertKeys(tx, keys));
  await sql`update projects set disabled = true where id = ${disabled}`.execute(database);
  const hashes = [...keys.map(({ hash }) => hash), randomBytes(32)];
  const byProject = async () =>
    (await findKeysByHash(database, hashes)).toSorted(
      (one, other) => Number(one.disabled) - Number(other.disabled),
    );
  const expected = await byProject();
  expect(expected).toMatchObject([
    { projectId: enabled, disabled: false },
    { projectId: disabled, disabled: true },
  ]);
  treatAsCluster(database);
  expect(await byProject()).toEqual(expected);
  expect((await listProjectsWithKeys(database)).toSorted()).toEqual([enabled, disabled].toSorted());
});
