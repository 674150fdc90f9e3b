// Prepares a Citus cluster for a test run: a migrated and distributed template database that test files clone on every node.
import { Client } from "pg";
import { distribute } from "../../server/src/instance/distribute.ts";
import { createDatabase, createPool } from "../../server/src/platform/database/database.ts";
import { migrate } from "../../server/src/platform/database/migrations.ts";
import { TEMPLATE_DATABASE, type ServerOfTests } from "../../server/src/platform/database/test-database.ts";
import { createLog } from "../../server/src/platform/log.ts";
import { databaseUrlOf } from "../../server/src/testing/database-url.ts";

/** Few, because each database of a test has all tables, and each table this many parts. */
const SHARDS_OF_TABLE = 4;
const FORBID_CONNECTIONS = `alter database ${TEMPLATE_DATABASE} with allow_connections false`;
/** The process of Citus for a database reconnects until the database forbids it, and no database with connections can be cloned. */
const END_CONNECTIONS = `select pg_terminate_backend(pid) from pg_stat_activity where datname = '${TEMPLATE_DATABASE}'`;

/**
 * Creates the template database on every node of the cluster.
 * @param url the coordinator, with a database that lists the workers
 * @returns the nodes, the coordinator first
 */
export async function prepareCluster(url: string): Promise<ServerOfTests[]> {
  const nodes = await listNodes(url);
  for (const node of nodes) {
    await run(node, "postgres", [
      `drop database if exists ${TEMPLATE_DATABASE} with (force)`,
      `create database ${TEMPLATE_DATABASE}`,
    ]);
    await run(node, TEMPLATE_DATABASE, ["create extension citus"]);
  }
  const [coordinator, ...workers] = nodes;
  if (coordinator === undefined || workers.length === 0) throw new Error("The cluster has no workers.");
  await run(coordinator, TEMPLATE_DATABASE, [
    `select citus_set_coordinator_host('${coordinator.host}', ${coordinator.port})`,
    ...workers.map(({ host, port }) => `select citus_add_node('${host}', ${port})`),
    `alter database ${TEMPLATE_DATABASE} set citus.shard_count = ${SHARDS_OF_TABLE}`,
  ]);
  await distributeTemplate(coordinator);
  for (const node of nodes) await run(node, "postgres", [FORBID_CONNECTIONS, END_CONNECTIONS]);
  return nodes;
}

/** Creates a migrated and distributed database on every node. Returns its URL on the coordinator. */
export async function createClusterDatabase(nodes: readonly ServerOfTests[], name: string): Promise<string> {
  for (const node of nodes)
    await run(node, "postgres", [
      `drop database if exists ${name} with (force)`,
      `create database ${name} template ${TEMPLATE_DATABASE} strategy file_copy`,
    ]);
  const [coordinator] = nodes;
  if (coordinator === undefined) throw new Error("The cluster has no coordinator.");
  await run(coordinator, "postgres", [`alter database ${name} set citus.all_modifications_commutative = on`]);
  return databaseUrlOf({ ...coordinator, database: name });
}

async function listNodes(url: string): Promise<ServerOfTests[]> {
  const { hostname, port, username, password } = new URL(url);
  const login = {
    user: decodeURIComponent(username),
    database: "postgres",
    ...(password !== "" && { password: decodeURIComponent(password) }),
  };
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    const { rows } = await client.query<{ host: string; port: number }>(
      "select nodename as host, nodeport as port from pg_dist_node where groupid <> 0 and noderole = 'primary' order by 1, 2",
    );
    return [{ host: hostname, port: Number(port || 5432) }, ...rows].map((node) => ({ ...login, ...node }));
  } finally {
    await client.end();
  }
}

async function distributeTemplate(coordinator: ServerOfTests): Promise<void> {
  const pool = createPool({
    connection: { ...coordinator, database: TEMPLATE_DATABASE },
    maxConnections: 2,
    log: createLog({ level: "silent" }),
  });
  try {
    await migrate(pool);
    await distribute(createDatabase(pool), true);
  } finally {
    await pool.end();
  }
}

async function run(node: ServerOfTests, database: string, statements: readonly string[]): Promise<void> {
  const client = new Client({ ...node, database });
  await client.connect();
  try {
    for (const statement of statements) await client.query(statement);
  } finally {
    await client.end();
  }
}
