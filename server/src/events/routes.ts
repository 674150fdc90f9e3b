// HTTP for events: endpoint → verb → answer.
import * as contract from "@postloft/contract/events.ts";
import type { Database } from "../platform/database.ts";
import { ok, route, type Route } from "../platform/http-route.ts";
import { isId } from "../platform/ids.ts";
import { readPage } from "../platform/page.ts";
import { Refusal } from "../platform/refusal.ts";
import { listEvents } from "./events.ts";

export function eventRoutes(dependencies: {
  database: Database;
  /** Whether the project has the contact; known further up in the reading order. */
  contactExists: (projectId: string, contactId: string) => Promise<boolean>;
}): Route[] {
  const { database, contactExists } = dependencies;
  return [
    route(contract.listEvents, async ({ projectId, query }) => {
      const { eventName, contactId, since } = query;
      const filter = { name: eventName, contactId, since: since === undefined ? undefined : new Date(since) };
      const page = await listEvents(database, projectId, filter, readPage("events", query));
      return ok({ events: page.data, ...page });
    }),
    route(contract.listContactEvents, async ({ projectId, params, query }) => {
      const { contactId } = params;
      const request = readPage("events", query);
      if (!isId(contactId) || !(await contactExists(projectId, contactId)))
        throw new Refusal("CONTACT_NOT_FOUND");
      const page = await listEvents(database, projectId, { contactId }, request);
      return ok({ events: page.data, ...page });
    }),
  ];
}
