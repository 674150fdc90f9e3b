// HTTP routes for sender domains, with audit log entries.
import type { AuditAction } from "@postloft/contract/audit.ts";
import * as contract from "@postloft/contract/domains.ts";
import type { Tx } from "../platform/database/database.ts";
import { created, noContent, ok, route, type Call, type Route } from "../platform/http/route.ts";
import { actorOf, recordAudit } from "../audit/audit-log.ts";
import type { Domains, DomainUse } from "./domains.ts";

type Caller = Pick<Call, "userId" | "ip"> & { projectId: string };

async function note(
  tx: Tx,
  call: Caller,
  action: AuditAction,
  { id, domain }: { id: string; domain: string },
  details: Record<string, unknown> = {},
): Promise<void> {
  const target = { id, name: domain };
  await recordAudit(tx, [{ projectId: call.projectId, actor: actorOf(call), action, target, details }]);
}

export function domainRoutes({ domains, ...use }: { domains: Domains } & DomainUse): Route[] {
  return [
    route(contract.listDomains, async ({ projectId }) => ok(await domains.list(projectId))),
    route(contract.createDomain, async (call) => {
      const domain = await domains.checkNew(call.projectId, call.body.domain);
      return call.commit(async (tx) => {
        const view = await domains.create(tx, call.projectId, domain);
        await note(tx, call, "domain.added", view);
        return created(view);
      });
    }),
    route(contract.verifyDomain, async ({ projectId, params }) =>
      ok(await domains.verify(projectId, params.id)),
    ),
    route(contract.diagnoseDomain, async ({ projectId, params }) =>
      ok({ records: await domains.diagnose(projectId, params.id) }),
    ),
    route(contract.rotateDomainKey, async (call) => {
      const key = await domains.makeNextKey(call.projectId, call.params.id);
      return call.commit(async (tx) => {
        const view = await domains.rotateKey(tx, call.projectId, call.params.id, key);
        await note(tx, call, "domain.keyRotated", view);
        return ok(view);
      });
    }),
    route(contract.updateDomain, async (call) => {
      const { projectId, params, body } = call;
      return call.commit(async (tx) => {
        const view = await domains.update(tx, projectId, params.id, body);
        await note(tx, call, "domain.updated", view, body);
        return ok(view);
      });
    }),
    route(contract.deleteDomain, async (call) => {
      const { projectId, params } = call;
      return call.commit(async (tx) => {
        const domain = await domains.delete(tx, projectId, params.id, use);
        await note(tx, call, "domain.removed", { id: params.id, domain });
        return noContent();
      });
    }),
  ];
}
