// HTTP routes for contacts.
import * as contract from "@postloft/contract/contacts.ts";
import type { Database } from "../platform/database/database.ts";
import { noContent, ok, route, type Route } from "../platform/http/route.ts";
import { enqueueContactEvents } from "../reactions/reactions.ts";
import { listConsentChanges, viaDashboard, type CampaignNames } from "./consent.ts";
import { deleteContact, getContact, lookUpContacts, updateContact, type Dependents } from "./contacts.ts";
import { countAll, listContacts, type Membership } from "./list-contacts.ts";
import type { LinkParts } from "./links.ts";
import { readContactPage } from "./list-cursor.ts";
import { lockContactOf } from "./queries.ts";
import { readDataPatch } from "./rules.ts";
import { upsertContacts } from "./upsert-contacts.ts";
import { contactViewRoutes } from "./views/routes.ts";

interface ContactDependencies extends Membership, CampaignNames {
  database: Database;
  linksOf: LinkParts["linksOf"];
  dependents: readonly Dependents[];
}

export function contactRoutes(deps: ContactDependencies): Route[] {
  const { database } = deps;
  return [
    ...contactViewRoutes(deps),
    route(contract.listContacts, async ({ projectId, query }) =>
      ok(await listContacts(database, projectId, query, readContactPage(query), deps)),
    ),
    route(contract.searchContacts, async ({ projectId, body, commit }) => {
      // Runs before the transaction, because the page and its count are queried in parallel.
      const page = await listContacts(database, projectId, body, readContactPage(body), deps);
      return commit(async () => ok(page));
    }),
    route(contract.upsertContact, async ({ projectId, userId, body, commit }) =>
      commit(async (tx) => {
        const change = {
          projectId,
          email: body.email,
          ...(body.subscribed === undefined ? {} : { subscribed: body.subscribed }),
          subscribedIfNew: true,
          patch: readDataPatch(body.data),
          via: viaDashboard(userId),
        };
        await lockContactOf(tx, projectId, body.email);
        const [outcome] = await upsertContacts(tx, [change]);
        if (outcome === undefined) throw new Error("An upsert of one contact returned nothing.");
        const { contactId, isNew } = outcome;
        await enqueueContactEvents(tx, [{ projectId, contactId }]);
        const contact = await getContact(tx, projectId, contactId);
        return { status: isNew ? 201 : 200, body: { ...contact, _meta: { isNew, isUpdate: !isNew } } };
      }),
    ),
    // Changes nothing, but its response is stored, because every POST honors Idempotency-Key.
    route(contract.lookUpContacts, async ({ projectId, body, commit }) =>
      commit(async (tx) => ok(await lookUpContacts(tx, projectId, body.emails))),
    ),
    route(contract.countContacts, async ({ projectId }) =>
      ok({ count: await countAll(database, projectId) }),
    ),
    route(contract.getContact, async ({ projectId, params }) =>
      ok(await getContact(database, projectId, params.id)),
    ),
    route(contract.updateContact, async ({ projectId, userId, params, body, commit }) =>
      commit(async (tx) => ok(await updateContact(tx, projectId, params.id, body, viaDashboard(userId)))),
    ),
    route(contract.getContactLinks, async ({ projectId, params }) => {
      const { id, email } = await getContact(database, projectId, params.id);
      return ok(deps.linksOf(projectId, id, { address: email, emailId: null }));
    }),
    route(contract.listContactConsent, async ({ projectId, params }) =>
      ok({ data: await listConsentChanges(database, projectId, params.id, deps) }),
    ),
    route(contract.deleteContact, async ({ projectId, params, commit }) =>
      commit(async (tx) => {
        await deleteContact(tx, projectId, params.id, deps.dependents);
        return noContent();
      }),
    ),
  ];
}
