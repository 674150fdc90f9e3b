// The commands of `npm run admin` for a Citus cluster.
import type { Command } from "./admin-command.ts";
import { distributeCommand } from "./distribute.ts";
import { moveProjectCommand, rebalanceCommand } from "./move-projects.ts";

export const CLUSTER_USAGE = `  distribute [--block-writes]           distribute the tables over the workers of a Citus cluster (docs/scaling.md)
  rebalance [--block-writes]            spread the rows evenly over the workers, for example over a new one
  move-project <worker> --project <id> [--block-writes]   move the rows of a project to the worker <host:port>`;

export const CLUSTER_COMMANDS: Readonly<Record<string, Command>> = {
  distribute: distributeCommand,
  rebalance: rebalanceCommand,
  "move-project": moveProjectCommand,
};
