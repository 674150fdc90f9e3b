// HTTP routes for the backups of the installation page.
import * as contract from "@postloft/contract/installation-backups.ts";
import { noContent, ok, type Route } from "../platform/http/route.ts";
import type { Log } from "../platform/log.ts";
import type { AdminRoute } from "./admin-route.ts";
import type { BackupTask, BackupTasks } from "./backup-tasks.ts";

export function backupRoutes(adminRoute: AdminRoute, tasks: BackupTasks, log: Log): Route[] {
  return [
    adminRoute(contract.listBackups, async () => ok(await tasks.list())),
    adminRoute(contract.createBackup, async (_call, { email: admin }) => {
      const task = tasks.create();
      log.info({ admin, backup: task.name }, "an admin started a backup");
      return accepted(task);
    }),
    adminRoute(contract.downloadBackup, async ({ params, method }, { email: admin }) => {
      const { bytes, open } = await tasks.find(params.name);
      if (method === "GET") log.info({ admin, backup: params.name }, "an admin downloads a backup");
      return {
        ...ok(open()),
        headers: {
          "content-type": "application/gzip",
          "content-length": String(bytes),
          "content-disposition": `attachment; filename="${params.name}"`,
        },
      };
    }),
    adminRoute(contract.testBackup, async ({ params }) => accepted(await tasks.test(params.name))),
    adminRoute(contract.deleteBackup, async ({ params }, { email: admin }) => {
      await tasks.remove(params.name);
      log.info({ admin, backup: params.name }, "an admin deleted a backup");
      return noContent();
    }),
  ];
}

const accepted = (task: BackupTask) => ({ status: 202 as const, body: task });
