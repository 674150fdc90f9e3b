// HTTP routes for resetting and deleting a project.
import * as contract from "@postloft/contract/project-removal.ts";
import type { z } from "zod";
import type { Database } from "../../platform/database/database.ts";
import { ok, route, type Route } from "../../platform/http/route.ts";
import { readJob } from "../../platform/background/jobs.ts";
import { AppError } from "../../platform/app-error.ts";
import { actorOf } from "../../audit/audit-log.ts";
import { REMOVAL_JOBS, requestRemoval, requireName, type Payment } from "./removal.ts";

type Removed = NonNullable<z.output<(typeof contract.getRemoval)["responses"][200]>["result"]>;

export function removalRoutes({ database, ...payment }: { database: Database } & Payment): Route[] {
  const removalRoute = (
    endpoint: typeof contract.resetProject | typeof contract.deleteProject,
    removal: "RESET" | "DELETE",
    message: string,
  ) =>
    route(endpoint, async (call) => {
      const { projectId, body } = call;
      const asked = { projectId, removal, confirm: body.confirm, actor: actorOf(call) };
      const isDeleted = removal === "DELETE";
      if (isDeleted) await requireName(database, projectId, body.confirm);
      const ended = isDeleted ? await payment.endCheckouts(projectId) : null;
      return call.commit(async (tx) => {
        const jobId = await requestRemoval(tx, asked);
        // A reset keeps the subscription.
        if (isDeleted) await payment.requireUnpaid(tx, projectId, ended);
        return { status: 202, body: { message, jobId } };
      });
    });
  return [
    removalRoute(contract.resetProject, "RESET", "The project is disabled and being reset."),
    removalRoute(contract.deleteProject, "DELETE", "The project is disabled and being deleted."),
    route(contract.getRemoval, async ({ projectId, params }) => {
      const job = await readJob<Removed>(database, { projectId, id: params.jobId }, REMOVAL_JOBS);
      if (job === undefined) throw new AppError("JOB_NOT_FOUND");
      return ok(job);
    }),
  ];
}
