// HTTP for sender domains: endpoint → verb → answer. Changing them needs an admin, or the secret key.
import * as contract from "@postloft/contract/domains.ts";
import { created, noContent, ok, route, type CallerRole, type Route } from "../platform/http-route.ts";
import { Refusal } from "../platform/refusal.ts";
import type { Domains } from "./domains.ts";

function requireAdmin(role: CallerRole | null): void {
  if (role === "MEMBER")
    throw new Refusal("FORBIDDEN", { message: "Only an admin of the project may change its domains." });
}

export function domainRoutes({ domains }: { domains: Domains }): Route[] {
  return [
    route(contract.listDomains, async ({ projectId }) => ok(await domains.list(projectId))),
    route(contract.createDomain, async ({ projectId, role, body, commit }) => {
      requireAdmin(role);
      const insert = await domains.create(projectId, body.domain);
      return commit(async (tx) => created(await insert(tx)));
    }),
    route(contract.verifyDomain, async ({ projectId, params }) =>
      ok(await domains.verify(projectId, params.id)),
    ),
    route(contract.rotateDomainKey, async ({ projectId, role, params, commit }) => {
      requireAdmin(role);
      const change = await domains.rotateKey(projectId, params.id);
      return commit(async (tx) => ok(await change(tx)));
    }),
    route(contract.updateDomain, async ({ projectId, role, params, body, commit }) => {
      requireAdmin(role);
      return commit(async (tx) => ok(await domains.setEd25519(tx, projectId, params.id, body.ed25519)));
    }),
    route(contract.deleteDomain, async ({ projectId, role, params, commit }) => {
      requireAdmin(role);
      return commit(async (tx) => {
        await domains.delete(tx, projectId, params.id);
        return noContent();
      });
    }),
  ];
}
