// HTTP routes for projects.
import * as contract from "@postloft/contract/projects.ts";
import type { Database } from "../platform/database/database.ts";
import { created, ok, route, type Route } from "../platform/http/route.ts";
import { actorOf } from "../audit/audit-log.ts";
import {
  createProject,
  getProject,
  listProjects,
  regenerateInboundAddress,
  regenerateKeys,
  updateProject,
  type ProjectChanges,
  type ProjectContext,
} from "./projects.ts";
import { brandColumns, type LockOwnImage } from "./brand.ts";
import { enableOwnProject } from "./suspend-projects.ts";

export function projectRoutes({
  database,
  ...around
}: { database: Database; lockOwnImage: LockOwnImage } & ProjectContext): Route[] {
  return [
    route(contract.listProjects, async ({ userId }) => ok(await listProjects(database, around, userId))),
    route(contract.createProject, async (call) =>
      call.commit(async (tx) =>
        created(
          await createProject(tx, around, {
            name: call.body.name,
            ownerId: call.userId,
            actor: actorOf(call),
          }),
        ),
      ),
    ),
    route(contract.updateProject, async (call) =>
      call.commit(async (tx) => ok(await updateProject(tx, around, of(call), projectChanges(call.body)))),
    ),
    route(contract.enableProject, async (call) =>
      call.commit(async (tx) => {
        const { projectId, body, userId } = call;
        await enableOwnProject(tx, { projectId, actor: actorOf(call), reason: body.reason });
        return ok(await getProject(tx, around, userId, projectId));
      }),
    ),
    route(contract.regenerateKeys, async (call) =>
      call.commit(async (tx) => ok(await regenerateKeys(tx, around, of(call)))),
    ),
    route(contract.regenerateInboundAddress, async (call) =>
      call.commit(async (tx) => ok(await regenerateInboundAddress(tx, around, of(call)))),
    ),
  ];
}

function of(call: { projectId: string; userId: string; ip: string | undefined }) {
  return { projectId: call.projectId, userId: call.userId, actor: actorOf(call) };
}

type UpdateBody = (typeof contract.updateProject)["body"]["_zod"]["output"];

function projectChanges({ defaultFrom, ...body }: UpdateBody): ProjectChanges {
  const { name, language, tracking, whenInDoubt, sendingRate, postalAddress, logoUrl, suppressionList } =
    body;
  const { eventRetentionDays, emailRetentionDays, brand } = body;
  return {
    own: {
      ...(name === undefined ? {} : { name }),
      ...(language === undefined ? {} : { language }),
      ...(postalAddress === undefined ? {} : { postalAddress }),
      ...(logoUrl === undefined ? {} : { logoUrl }),
      ...(brand === undefined ? {} : brandColumns(brand)),
      ...(defaultFrom === undefined
        ? {}
        : { defaultFrom: defaultFrom === null ? null : mailboxText(defaultFrom) }),
    },
    rules: {
      ...(tracking === undefined ? {} : { tracking }),
      ...(whenInDoubt === undefined ? {} : { whenInDoubt }),
      ...(sendingRate === undefined ? {} : { sendingRate }),
      ...(suppressionList === undefined ? {} : { suppressionList }),
    },
    kept: {
      ...(eventRetentionDays === undefined ? {} : { eventRetentionDays }),
      ...(emailRetentionDays === undefined ? {} : { emailRetentionDays }),
    },
  };
}

/** Returns `Name <address>`, as the default sender is shown and stored. */
function mailboxText({ name, address }: { name: string | null; address: string }): string {
  return name === null ? address : `"${name.replace(/["\\]/g, "\\$&")}" <${address}>`;
}
