// HTTP routes of the installation page. Each one first checks that the account administers the installation.
import * as contract from "@postloft/contract/installation.ts";
import { LIMITS } from "@postloft/contract/limits/limits.ts";
import { AppError } from "../platform/app-error.ts";
import { isId } from "../platform/ids.ts";
import type { Tx } from "../platform/database/database.ts";
import type { Log } from "../platform/log.ts";
import { takeOrThrow, type RateLimiter, type Take } from "../platform/http/rate-limit.ts";
import { ok, route, type Route } from "../platform/http/route.ts";
import { SYSTEM_PROJECT_ID } from "../emails/rows/system-project.ts";
import { SERVICE } from "../audit/audit-log.ts";
import { disableProject, enableProject } from "../projects/suspend-projects.ts";
import type { User } from "../users/users.ts";
import { adminRouteFor } from "./admin-route.ts";
import { findAdmin } from "./admins.ts";
import { backupRoutes } from "./backup-routes.ts";
import { createBackupTasks } from "./backup-tasks.ts";
import { sendTestOf } from "./operator.ts";
import { listAdminProjects, readInstallation, type InstallationParts } from "./read-installation.ts";
import { shared } from "./shared-work.ts";

const TEST_PATIENCE_MS = 10_000;
/** Limits tests, which take connections and send email. */
const testsOf = ({ id }: User): Take => ({
  bucket: `installation-tests:${id}`,
  limit: LIMITS.installationTests.value,
  windowSeconds: 3_600,
});

export function installationRoutes(
  parts: InstallationParts & { rateLimiter: RateLimiter; log: Log },
): Route[] {
  const { database, facts, watches, rateLimiter, log } = parts;
  const read = shared(() => readInstallation(parts));
  const adminRoute = adminRouteFor(database, facts.adminEmails);
  const tasks = createBackupTasks(facts.folder, facts.backupSettings);

  /** The project's audit log names no one, because its members may not know who administers the installation. The server's log does. */
  async function changeProject(
    tx: Tx,
    { email: admin }: User,
    { change, id, reason }: { change: typeof disableProject; id: string; reason: string },
  ): Promise<{ changed: boolean }> {
    const projectId = projectOf(id);
    const changed = await change(tx, { projectId, actor: SERVICE, reason });
    log.info({ projectId, admin, change: change.name, changed }, "an admin changed a project");
    return { changed };
  }

  return [
    adminRoute(contract.getInstallation, async () => ok(await read())),
    route(contract.getInstallationAccess, async ({ userId }) =>
      ok({ isAdmin: (await findAdmin(database, facts.adminEmails, userId)) !== null }),
    ),
    adminRoute(contract.listInstallationProjects, async ({ query }) =>
      ok(await listAdminProjects(database, query.search)),
    ),
    adminRoute(contract.suspendInstallationProject, async ({ params, body, commit }, admin) =>
      commit(async (tx) =>
        ok(await changeProject(tx, admin, { change: disableProject, id: params.id, reason: body.reason })),
      ),
    ),
    adminRoute(contract.enableInstallationProject, async ({ params, body, commit }, admin) =>
      commit(async (tx) =>
        ok(await changeProject(tx, admin, { change: enableProject, id: params.id, reason: body.reason })),
      ),
    ),
    adminRoute(contract.testTransports, async (_call, admin) => {
      await takeOrThrow(rateLimiter, testsOf(admin));
      return ok({ transports: await Promise.all(watches.map(tryTransport)) });
    }),
    adminRoute(contract.sendInstallationTest, async (_call, admin) => {
      await takeOrThrow(rateLimiter, testsOf(admin));
      return ok(await sendTestOf(database, admin.email, TEST_PATIENCE_MS));
    }),
    ...backupRoutes(adminRoute, tasks, log),
  ];
}

/** The project of platform email can't be suspended, because sign-ins and notifications depend on it. */
function projectOf(id: string): string {
  if (!isId(id) || id === SYSTEM_PROJECT_ID) throw new AppError("PROJECT_NOT_FOUND");
  return id;
}

async function tryTransport({ label, tryNow, outage }: InstallationParts["watches"][number]) {
  const message = await tryNow();
  return { label, works: outage() === null, message: message ?? "" };
}
