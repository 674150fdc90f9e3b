// Implements `npm run admin -- move-project` and `rebalance`, which move the rows of projects between the workers of a Citus cluster.
import { setTimeout as delay } from "node:timers/promises";
import { AppError } from "../platform/app-error.ts";
import type { Database } from "../platform/database/database.ts";
import type { Command, Values } from "./admin-command.ts";
import { checkCluster } from "./distribute.ts";
import {
  countShards,
  findShard,
  isolateProject,
  moveShard,
  readMoveProgress,
  readRebalance,
  startRebalance,
  withoutTimeLimit,
  type ShardOfProject,
  type TransferMode,
} from "./cluster-queries.ts";
import { OperatorError } from "./operator.ts";

type Progress = (line: string) => void;

const NOT_DISTRIBUTED =
  "The tables are not distributed yet. Run npm run admin -- distribute first. Nothing was changed.";
const POLL_MS = 1_000;
const MEGABYTE = 1024 ** 2;
const megabytes = (bytes: number) => (bytes / MEGABYTE).toFixed(1);

const modeOf = (values: Values): TransferMode => (values["block-writes"] === true ? "block_writes" : "auto");

/** @throws OperatorError if the tables are not distributed; AppError PROJECT_NOT_FOUND */
async function requireShard(database: Database, projectId: string): Promise<ShardOfProject> {
  const shard = await findShard(database, projectId);
  if (shard === null) throw new OperatorError(NOT_DISTRIBUTED);
  if (!shard.isProject) throw new AppError("PROJECT_NOT_FOUND");
  return shard;
}

/** Reports what has been moved until the work ends. */
async function withProgress<Result>(
  database: Database,
  work: Promise<Result>,
  progress: Progress,
): Promise<Result> {
  const ended = work.then(
    () => true,
    () => true,
  );
  let last = "";
  while (!(await Promise.race([ended, delay(POLL_MS, false)]))) {
    const { tables, bytes, movedBytes } = await readMoveProgress(database);
    const line = `${tables} tables, ${megabytes(movedBytes)} of ${megabytes(bytes)} MB copied`;
    if (tables > 0 && line !== last) progress(line);
    last = line;
  }
  return work;
}

/** Citus undoes a failed move. Its message names settings of PostgreSQL that moves need. */
function failureOf(error: Error, node: string): string {
  const advice = (error as unknown as Record<string, unknown>)["hint"] ?? "";
  const text = `${error.message} ${String(advice)}`
    .replaceAll(/\b(?:ERROR|HINT|DETAIL): +/g, "")
    .replaceAll(/\s+/g, " ")
    .trim();
  return `The cluster didn't move the project, so it is still on ${node}: ${text}. With --block-writes, a move needs no logical replication.`;
}

interface MovedProject {
  project: string;
  from: string;
  to: string;
  /** Whether the rows were separated from those of other projects first. */
  isolated: boolean;
}

/**
 * Moves the rows of one project to a worker.
 * @throws OperatorError for an unknown worker, and if the tables are not distributed; AppError PROJECT_NOT_FOUND
 */
async function moveProject(
  database: Database,
  { project, target, mode }: { project: string; target: string; mode: TransferMode },
  progress: Progress,
): Promise<MovedProject> {
  const workers = await checkCluster(database);
  if (!workers.includes(target))
    throw new OperatorError(
      `${target} is not a worker. The workers are ${workers.join(", ")}. Nothing was changed.`,
    );
  const shard = await requireShard(database, project);
  const moved = {
    project,
    from: shard.node,
    to: target,
    isolated: shard.node !== target && shard.projects > 1,
  };
  if (shard.node === target) return moved;
  const work = withoutTimeLimit(database, async (connection) => {
    if (moved.isolated) await isolateProject(connection, project, mode);
    // A split gives the rows another shard.
    const own = moved.isolated ? await requireShard(connection, project) : shard;
    await moveShard(connection, own, target, mode);
  });
  await withProgress(database, work, progress).catch((error: unknown) => {
    throw error instanceof Error && "severity" in error
      ? new OperatorError(failureOf(error, shard.node))
      : error;
  });
  return moved;
}

/** `npm run admin -- move-project <host:port> --project <id>` */
export const moveProjectCommand: Command = {
  argument: "<worker>",
  needs: ["project"],
  takes: ["block-writes"],
  async check(database) {
    await checkCluster(database);
  },
  async run({ database, progress }, target, { project = "", ...values }) {
    const moved = await moveProject(database, { project, target, mode: modeOf(values) }, progress);
    const line =
      moved.from === moved.to
        ? `The project is on ${moved.to} already. Nothing was changed.`
        : `Moved the project from ${moved.from} to ${moved.to}.`;
    return { json: moved, lines: [line] };
  },
};

const UNFINISHED = new Set(["scheduled", "running", "cancelling", "failing"]);

/** @throws OperatorError if a rebalance fails, or one is running already */
async function rebalance(database: Database, mode: TransferMode, progress: Progress): Promise<number> {
  await checkCluster(database);
  if ((await countShards(database)).length === 0) throw new OperatorError(NOT_DISTRIBUTED);
  const before = await readRebalance(database);
  if (before !== null && UNFINISHED.has(before.state))
    throw new OperatorError(
      `A rebalance is ${before.state}. Wait for it, or stop it with: select citus_rebalance_stop(). Nothing was changed.`,
    );
  const job = await startRebalance(database, mode);
  if (job === null) return 0;
  progress("Rebalancing. If you end this command, the cluster goes on.");
  let last = "";
  for (;;) {
    const state = await readRebalance(database);
    if (state === null || state.job !== job)
      throw new OperatorError("The cluster started another rebalance.");
    const line = `${state.done} of ${state.tasks} moves done`;
    if (line !== last) progress(line);
    last = line;
    if (state.state === "finished") return state.tasks;
    if (!UNFINISHED.has(state.state))
      throw new OperatorError(
        `The rebalance ${state.state} after ${line}: ${state.error ?? "no error was recorded"}. Moves that are done stay.`,
      );
    await delay(POLL_MS);
  }
}

/** `npm run admin -- rebalance` */
export const rebalanceCommand: Command = {
  takes: ["block-writes"],
  async check(database) {
    await checkCluster(database);
  },
  async run({ database, progress }, _argument, values) {
    const moves = await rebalance(database, modeOf(values), progress);
    const nodes = await countShards(database);
    const places = nodes.map(({ node, shards }) => `${node} has ${shards}`).join(", ");
    const line = moves === 0 ? "The rows are spread evenly. Nothing was changed." : `Moves made: ${moves}.`;
    return { json: { moves, nodes }, lines: [line, `Parts of each table: ${places}.`] };
  },
};
