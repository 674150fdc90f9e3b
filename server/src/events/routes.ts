// HTTP routes for events.
import * as contract from "@postloft/contract/events.ts";
import type { Database } from "../platform/database/database.ts";
import { ok, route, type Route } from "../platform/http/route.ts";
import { isId } from "../platform/ids.ts";
import { readPage } from "../platform/http/page.ts";
import { AppError } from "../platform/app-error.ts";
import {
  countEventsByName,
  deleteEvents,
  listEventFields,
  listEventNames,
  readEventUsage,
  type EventUsers,
  type InferType,
} from "./event-names.ts";
import { listEvents } from "./events.ts";

export function eventRoutes(dependencies: {
  database: Database;
  /** Returns whether the project has the contact. Provided by a later folder. */
  contactExists: (projectId: string, contactId: string) => Promise<boolean>;
  users: EventUsers;
  inferType: InferType<contract.EventFieldType>;
}): Route[] {
  const { database, contactExists, users, inferType } = dependencies;
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
        throw new AppError("CONTACT_NOT_FOUND");
      const page = await listEvents(database, projectId, { contactId }, request);
      return ok({ events: page.data, ...page });
    }),
    route(contract.getEventStats, async ({ projectId }) => ok(await countEventsByName(database, projectId))),
    route(contract.listEventNames, async ({ projectId }) => ok(await listEventNames(database, projectId))),
    route(contract.getEventUsage, async ({ projectId, params }) =>
      ok(await readEventUsage(database, users, projectId, params.eventName)),
    ),
    route(contract.listEventFields, async ({ projectId, params }) =>
      ok({ fields: await listEventFields(database, projectId, params.eventName, inferType) }),
    ),
    route(contract.deleteEvents, async ({ projectId, params, commit }) =>
      commit(async (tx) => ok({ deletedCount: await deleteEvents(tx, users, projectId, params.eventName) })),
    ),
  ];
}
