// HTTP for sender domains: endpoint → verb → answer.
import * as contract from "@postloft/contract/domains.ts";
import { created, noContent, ok, route, type Route } from "../platform/http-route.ts";
import type { Domains } from "./domains.ts";

export function domainRoutes({ domains }: { domains: Domains }): Route[] {
  return [
    route(contract.listDomains, async ({ projectId }) => ok(await domains.list(projectId))),
    route(contract.createDomain, async ({ projectId, body, commit }) => {
      const insert = await domains.create(projectId, body.domain);
      return commit(async (tx) => created(await insert(tx)));
    }),
    route(contract.verifyDomain, async ({ projectId, params }) =>
      ok(await domains.verify(projectId, params.id)),
    ),
    route(contract.rotateDomainKey, async ({ projectId, params, commit }) => {
      const change = await domains.rotateKey(projectId, params.id);
      return commit(async (tx) => ok(await change(tx)));
    }),
    route(contract.updateDomain, async ({ projectId, params, body, commit }) => {
      return commit(async (tx) => ok(await domains.setEd25519(tx, projectId, params.id, body.ed25519)));
    }),
    route(contract.deleteDomain, async ({ projectId, params, commit }) => {
      return commit(async (tx) => {
        await domains.delete(tx, projectId, params.id);
        return noContent();
      });
    }),
  ];
}
