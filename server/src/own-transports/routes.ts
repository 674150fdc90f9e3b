// HTTP routes of the transports of a project.
import * as contract from "@postloft/contract/project-transports.ts";
import type { AuditAction } from "@postloft/contract/audit.ts";
import { actorOf, recordAudit } from "../audit/audit-log.ts";
import type { Tx } from "../platform/database/database.ts";
import { created, noContent, ok, route, type Route } from "../platform/http/route.ts";
import {
  changeTransport,
  createTransport,
  deleteTransport,
  listTransports,
  testTransport,
  type TestParts,
} from "./own-transports.ts";

/** How a process connects to the servers of projects. */
export interface ProjectServers {
  projectServers: Pick<TestParts, "heloName" | "findAddresses">;
}

interface Author {
  projectId: string;
  userId: string | null;
  ip: string | undefined;
}

async function note(
  tx: Tx,
  call: Author,
  action: AuditAction,
  { id, name, url }: { id: string; name: string; url: string },
) {
  const entry = { projectId: call.projectId, actor: actorOf(call), action, target: { id, name } };
  await recordAudit(tx, [{ ...entry, details: { url } }]);
}

export function projectTransportRoutes(parts: TestParts & { staysHere: boolean }): Route[] {
  const { database, sealer } = parts;
  return [
    route(contract.listProjectTransports, async ({ projectId }) =>
      ok({ data: await listTransports(database, projectId), areUsed: !parts.staysHere }),
    ),
    route(contract.createProjectTransport, async (call) =>
      call.commit(async (tx) => {
        const view = await createTransport(tx, sealer, call.projectId, call.body);
        await note(tx, call, "transport.added", view);
        return created(view);
      }),
    ),
    route(contract.updateProjectTransport, async (call) =>
      call.commit(async (tx) => {
        const key = { projectId: call.projectId, id: call.params.id };
        const view = await changeTransport(tx, sealer, key, call.body);
        await note(tx, call, "transport.updated", view);
        return ok(view);
      }),
    ),
    route(contract.deleteProjectTransport, async (call) =>
      call.commit(async (tx) => {
        const { id } = call.params;
        const deleted = await deleteTransport(tx, { projectId: call.projectId, id });
        await note(tx, call, "transport.removed", { id, ...deleted });
        return noContent();
      }),
    ),
    route(contract.testProjectTransport, async ({ projectId, params, commit }) => {
      const result = await testTransport(parts, { projectId, id: params.id });
      return commit(async () => ok(result));
    }),
  ];
}
