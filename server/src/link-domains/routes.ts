// HTTP routes of link domains, with audit log entries, and the questions of proxies and checks.
import type { AuditAction } from "@postloft/contract/audit.ts";
import { LIMITS } from "@postloft/contract/limits/limits.ts";
import * as contract from "@postloft/contract/link-domains.ts";
import { AppError } from "../platform/app-error.ts";
import type { Tx } from "../platform/database/database.ts";
import { takeOrThrow, type RateLimiter } from "../platform/http/rate-limit.ts";
import { noContent, ok, route, type Call, type Route } from "../platform/http/route.ts";
import { actorOf, recordAudit } from "../audit/audit-log.ts";
import { checkLinkDomain, installationMark, type LinkDomainParts } from "./check-link-domains.ts";
import { nameOf, type LinkOrigins } from "./link-origins.ts";
import { isTlsAllowed, readLinkDomain, removeLinkDomain, setLinkDomain } from "./link-domains.ts";

const DAY_SECONDS = 86_400;

type Caller = Pick<Call, "userId" | "ip"> & { projectId: string };

async function note(tx: Tx, call: Caller, action: AuditAction, domain: string): Promise<void> {
  const target = { id: domain, name: domain };
  await recordAudit(tx, [{ projectId: call.projectId, actor: actorOf(call), action, target, details: {} }]);
}

export function linkDomainRoutes(
  parts: LinkDomainParts & { links: LinkOrigins; rateLimiter: RateLimiter },
): Route[] {
  const { database, links, rateLimiter, publicIdOf } = parts;
  return [
    route(contract.getLinkDomain, async ({ projectId }) =>
      ok({ linkDomain: await readLinkDomain(parts, database, projectId) }),
    ),
    route(contract.setLinkDomain, async (call) => {
      const { projectId } = call;
      await takeOrThrow(rateLimiter, {
        bucket: `link domains:${projectId}`,
        limit: LIMITS.linkDomainChanges.value,
        windowSeconds: DAY_SECONDS,
      });
      return call.commit(async (tx) => {
        const view = await setLinkDomain(parts, tx, projectId, call.body.domain);
        await note(tx, call, "linkDomain.set", view.domain);
        return ok(view);
      });
    }),
    route(contract.checkLinkDomain, async (call) => {
      await checkLinkDomain(parts, call.projectId);
      return call.commit(async (tx) => {
        const view = await readLinkDomain(parts, tx, call.projectId);
        if (view === null)
          throw new AppError("RESOURCE_NOT_FOUND", { message: "The project has no link domain." });
        return ok(view);
      });
    }),
    route(contract.removeLinkDomain, async (call) =>
      call.commit(async (tx) => {
        const domain = await removeLinkDomain(tx, call.projectId);
        if (domain !== undefined) await note(tx, call, "linkDomain.removed", domain);
        return noContent();
      }),
    ),
    route(contract.reachInstallation, async ({ host }) => ok(installationMark(publicIdOf, nameOf(host)))),
    route(contract.allowTls, async ({ query }) => {
      if (await isTlsAllowed({ ...parts, links }, database, query.domain)) return ok("allowed");
      throw new AppError("RESOURCE_NOT_FOUND", { message: "No project has verified this domain." });
    }),
  ];
}
