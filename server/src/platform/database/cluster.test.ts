// Tests statements about all projects while a node of a cluster is unreachable.
import { sql } from "kysely";
import { afterAll, beforeAll, expect, test } from "vitest";
import { fromReachableNodes, treatAsCluster } from "./cluster.ts";
import { createDatabase, type Database } from "./database.ts";
import { createTestDatabase, type TestDatabase } from "./test-database.ts";

/** The last digit of a project is its node. */
const projectOn = (node: number, number: number) => `00000000-0000-7000-8000-000000000${number}0${node}`;
const [FIRST, SECOND, OTHER] = [projectOn(1, 1), projectOn(1, 2), projectOn(2, 1)];
const listProjects = async () => [FIRST, SECOND, OTHER];

let testDatabase: TestDatabase;
let database: Database;
beforeAll(async () => {
  testDatabase = await createTestDatabase();
  database = createDatabase(testDatabase.pool);
  treatAsCluster(database);
  // One PostgreSQL has no nodes, so this says where Citus would have put the projects.
  await sql`create table pg_dist_placement (shardid bigint, groupid integer)`.execute(database);
  await sql`insert into pg_dist_placement values (1, 1), (2, 2)`.execute(database);
  await sql`
    create function get_shard_id_for_distribution_column(regclass, uuid) returns bigint language sql as
      $$ select right($2::text, 1)::bigint $$`.execute(database);
});
afterAll(() => testDatabase.drop());

const AWAY = Object.assign(new Error("connection to the remote node failed"), { code: "08006" });

test.for([
  {
    node: "is away",
    fail: async () => {
      throw AWAY;
    },
  },
  { node: "hangs", fail: (on: Database) => sql`select pg_sleep(30)`.execute(on) },
])("leaves out the projects of a node that $node, and no others", async ({ fail }) => {
  const asked: Array<readonly string[] | null> = [];
  const found = await fromReachableNodes(database, listProjects, async (on, ids) => {
    asked.push(ids?.toSorted() ?? null);
    if (ids === null || ids.includes(OTHER)) await fail(on);
    return [...(ids ?? [])];
  });
  expect(found.isComplete).toBe(false);
  expect(found.rows.toSorted()).toEqual([FIRST, SECOND]);
  expect(asked).toEqual([null, [FIRST, SECOND], [OTHER]]);
});

test("asks once for all projects if each node responds", async () => {
  const found = await fromReachableNodes(database, listProjects, async (_on, ids) => [ids]);
  expect(found).toEqual({ rows: [null], isComplete: true });
});

test("fails if the statement itself is wrong", async () => {
  const wrong = fromReachableNodes(database, listProjects, async (on) => {
    await sql`select 1 / 0`.execute(on);
    return [];
  });
  await expect(wrong).rejects.toThrow("division by zero");
});
