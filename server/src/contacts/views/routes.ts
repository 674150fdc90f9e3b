// HTTP routes for saved contact views.
import * as contract from "@postloft/contract/contact-views.ts";
import type { ViewQuery } from "@postloft/contract/contact-views.ts";
import type { Database } from "../../platform/database/database.ts";
import { created, noContent, ok, route, type Route } from "../../platform/http/route.ts";
import { conditionsOf, type Membership } from "../list-contacts.ts";
import { createView, deleteView, listViews, updateView } from "./views.ts";

export function contactViewRoutes(parts: { database: Database } & Membership): Route[] {
  const { database } = parts;
  /** @throws AppError SEGMENT_NOT_FOUND or VALIDATION_ERROR if the view uses an unknown segment. */
  async function requireSegments(projectId: string, query: ViewQuery = {}): Promise<void> {
    await conditionsOf(database, projectId, query, parts, { field: "query.filters" });
  }
  return [
    route(contract.listContactViews, async ({ projectId }) =>
      ok({ data: await listViews(database, projectId) }),
    ),
    route(contract.createContactView, async ({ projectId, body, commit }) => {
      await requireSegments(projectId, body.query);
      return commit(async (tx) => created(await createView(tx, projectId, body)));
    }),
    route(contract.updateContactView, async ({ projectId, params, body, commit }) => {
      await requireSegments(projectId, body.query);
      return commit(async (tx) => ok(await updateView(tx, projectId, params.id, body)));
    }),
    route(contract.deleteContactView, async ({ projectId, params, commit }) =>
      commit(async (tx) => {
        await deleteView(tx, projectId, params.id);
        return noContent();
      }),
    ),
  ];
}
