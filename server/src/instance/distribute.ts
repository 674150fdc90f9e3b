// Implements `npm run admin -- distribute`: checks a Citus cluster, then distributes the tables by project in one transaction.
import { limitStatements, transaction, type Database, type Tx } from "../platform/database/database.ts";
import { EVERYWHERE, ON_COORDINATOR, ROOT_TABLE } from "../platform/database/table-places.ts";
import {
  addForeignKey,
  copyTableEverywhere,
  distributeTable,
  dropForeignKeys,
  listMissingExtensions,
  listTables,
  listWorkers,
  prepareCluster,
  readExtension,
  readOwnRole,
  type TableState,
} from "./cluster-queries.ts";
import type { Command } from "./admin-command.ts";
import { OperatorError } from "./operator.ts";

/** Moving this much takes a few seconds. Writes wait meanwhile. */
const BYTES_IN_A_MOMENT = 64 * 1024 ** 2;
const MEGABYTE = 1024 ** 2;

interface Distributed {
  workers: string[];
  /** The tables that this call distributed by project. */
  byProject: string[];
  /** The tables that this call copied to every node. */
  everywhere: string[];
  /** The tables that had their place before. */
  unchanged: number;
}

/**
 * Distributes the tables that are not distributed yet. Either all of them change or none.
 * @param blockWrites whether writes may wait while many rows move
 * @throws OperatorError if the cluster is incomplete, or if writes would wait for long without `blockWrites`
 */
export async function distribute(database: Database, blockWrites: boolean): Promise<Distributed> {
  const workers = await checkCluster(database);
  const tables = await listTables(database);
  const byProject = rootFirst(tables.filter((table) => isOfProject(table) && !table.isDistributed));
  const everywhere = tables.filter(({ name, isEverywhere }) => EVERYWHERE.includes(name) && !isEverywhere);
  const moved = [...byProject, ...everywhere];
  const bytes = moved.reduce((sum, table) => sum + table.bytes, 0);
  if (bytes > BYTES_IN_A_MOMENT && !blockWrites)
    throw new OperatorError(
      `${moved.length} tables with ${Math.round(bytes / MEGABYTE)} MB would move to the workers, and all writes would wait until they have moved. Stop the servers, or choose a quiet hour, and add --block-writes. Nothing was changed.`,
    );
  if (moved.length > 0) await transaction(database, (tx) => moveTables(tx, { byProject, everywhere }));
  return {
    workers,
    byProject: namesOf(byProject),
    everywhere: namesOf(everywhere),
    unchanged: tables.length - moved.length,
  };
}

/** Returns the addresses of the workers, as `host:port`. @throws OperatorError that says what is missing */
export async function checkCluster(database: Database): Promise<string[]> {
  const { version, isInstalled } = await readExtension(database);
  if (version === null)
    throw new OperatorError(
      isInstalled
        ? "This database does not have the extension citus. As a superuser, run CREATE EXTENSION citus in it and in the database of the same name on each worker (docs/scaling.md). Nothing was changed."
        : "This database server does not have Citus. Move the database to a server with Citus first (docs/scaling.md). Nothing was changed.",
    );
  const { isCoordinator, isListed } = await readOwnRole(database);
  if (!isCoordinator)
    throw new OperatorError(
      "This database is a worker of a cluster. Set DATABASE_URL to the coordinator. Nothing was changed.",
    );
  const workers = await listWorkers(database);
  if (workers.length === 0)
    throw new OperatorError(
      "The cluster has no workers. Add each with: select citus_add_node('<host>', <port>). Nothing was changed.",
    );
  const silent = workers.filter(({ responds }) => !responds).map(({ address }) => address);
  if (silent.length > 0)
    throw new OperatorError(
      `These workers do not respond: ${silent.join(", ")}. Start them, or remove them from the cluster, and try again. Nothing was changed.`,
    );
  if (!isListed)
    throw new OperatorError(
      "The workers do not have the address of the coordinator. Set it with: select citus_set_coordinator_host('<host>', <port>). Nothing was changed.",
    );
  const missing = await listMissingExtensions(database);
  if (missing.length > 0)
    throw new OperatorError(
      `These extensions are not installed: ${missing.join(", ")}. Install the package postgresql-contrib there. Nothing was changed.`,
    );
  return workers.map(({ address }) => address);
}

const namesOf = (tables: readonly TableState[]) => tables.map(({ name }) => name);

const isOfProject = ({ name, hasProject }: TableState) =>
  name === ROOT_TABLE.name || (hasProject && ![...EVERYWHERE, ...ON_COORDINATOR].includes(name));

function rootFirst(tables: readonly TableState[]): TableState[] {
  return tables.toSorted((a, b) => Number(b.name === ROOT_TABLE.name) - Number(a.name === ROOT_TABLE.name));
}

/** Foreign keys come back at the end, because both of their tables must have their place first. */
async function moveTables(
  tx: Tx,
  { byProject, everywhere }: { byProject: readonly TableState[]; everywhere: readonly TableState[] },
): Promise<void> {
  await limitStatements(tx, 0);
  await prepareCluster(tx);
  const foreignKeys = await dropForeignKeys(
    tx,
    [...byProject, ...everywhere].map(({ name }) => name),
  );
  for (const { name } of everywhere) await copyTableEverywhere(tx, name);
  for (const { name } of byProject) {
    const isRoot = name === ROOT_TABLE.name;
    const column = isRoot ? ROOT_TABLE.key : "project_id";
    await distributeTable(tx, { name, column, beside: isRoot ? "none" : ROOT_TABLE.name });
  }
  for (const key of foreignKeys) await addForeignKey(tx, key);
}

/** `npm run admin -- distribute` */
export const distributeCommand: Command = {
  takes: ["block-writes"],
  async check(database) {
    await checkCluster(database);
  },
  async run({ database }, _argument, values) {
    const done = await distribute(database, values["block-writes"] === true);
    const isNew = done.byProject.length + done.everywhere.length > 0;
    const lines = [
      `The cluster has ${done.workers.length} workers: ${done.workers.join(", ")}.`,
      ...(isNew
        ? [
            `Distributed by project: ${listed(done.byProject)}.`,
            `Copied to every node: ${listed(done.everywhere)}.`,
          ]
        : ["All tables have their place. Nothing was changed."]),
      ...(isNew && done.unchanged > 0 ? [`Unchanged: ${done.unchanged} tables.`] : []),
    ];
    return { json: done, lines };
  },
};

const listed = (names: readonly string[]) =>
  names.length === 0 ? "no table" : `${names.length} tables (${names.join(", ")})`;
