// The process that writes or restores a backup for the installation page, at a lower priority than the server.
import { setPriority } from "node:os";
import { backUp, restore } from "./back-up.ts";
import type { BackupOrder, BackupReply } from "../instance/backup-tasks.ts";
import { readConfig } from "../platform/settings/config.ts";

const BEHIND = 10;

async function carryOut({ verb, file, settings }: BackupOrder): Promise<BackupReply> {
  try {
    const run = verb === "backup" ? backUp : restore;
    const { rows, tables } = await run(readConfig(settings), file, () => undefined);
    return { works: true, message: `${rows} rows in ${tables} tables` };
  } catch (error) {
    return { works: false, message: error instanceof Error ? error.message : String(error) };
  }
}

setPriority(BEHIND);
process.on("disconnect", () => process.exit());
process.on("message", (order) => {
  void carryOut(order as BackupOrder).then((reply) => process.send?.(reply));
});
