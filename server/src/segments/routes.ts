// HTTP routes for segments.
import * as contract from "@postloft/contract/segments.ts";
import { LIMITS } from "@postloft/contract/limits/limits.ts";
import type { Database } from "../platform/database/database.ts";
import { created, noContent, ok, route, type Route } from "../platform/http/route.ts";
import { readPage } from "../platform/http/page.ts";
import { viaDashboard } from "../contacts/consent.ts";
import type { Explainer } from "./filters/explain-apart.ts";
import { addMembers, removeMembers } from "./change-members.ts";
import { computeSegment, requestCompute } from "./compute-segment.ts";
import { createSegment, deleteSegment, updateSegment } from "./define-segment.ts";
import { explainForContact } from "./explain-filter.ts";
import { listSegmentContacts, previewFilter } from "./segment-contacts.ts";
import type { SegmentUse } from "./rules.ts";
import { listSegmentsOfContact } from "./segments-of-contact.ts";
import { getSegment, listSegments, refreshSegment } from "./segments.ts";

interface SegmentDependencies extends SegmentUse {
  database: Database;
  explainer: Explainer;
}

export function segmentRoutes(deps: SegmentDependencies): Route[] {
  const { database } = deps;
  return [
    route(contract.listSegments, async ({ projectId, query }) => {
      const isPaged = query.limit !== undefined || query.cursor !== undefined;
      return ok(await listSegments(database, projectId, isPaged ? readPage("segments", query) : null));
    }),
    route(contract.createSegment, async ({ projectId, body, commit }) =>
      commit(async (tx) => created(await createSegment(tx, projectId, body))),
    ),
    route(contract.previewSegment, async ({ projectId, body, commit }) =>
      commit(async (tx) => ok(await previewFilter(tx, projectId, body.filters))),
    ),
    route(contract.explainSegment, async ({ projectId, body, commit }) => {
      // Runs before the transaction, so that no connection is held while the request waits for its turn.
      const explained = await explainForContact(deps, projectId, body);
      return commit(async () => ok(explained));
    }),
    route(contract.getSegment, async ({ projectId, params }) =>
      ok(await getSegment(database, projectId, params.id)),
    ),
    route(contract.updateSegment, async ({ projectId, params, body, commit }) =>
      commit(async (tx) => ok(await updateSegment(tx, projectId, params.id, body, deps))),
    ),
    route(contract.deleteSegment, async ({ projectId, params, commit }) =>
      commit(async (tx) => {
        await deleteSegment(tx, projectId, params.id, deps);
        return noContent();
      }),
    ),
    route(contract.listSegmentContacts, async ({ projectId, params, query }) =>
      ok(
        await listSegmentContacts(database, projectId, params.id, {
          page: query.page ?? 1,
          pageSize: query.pageSize ?? LIMITS.pageSizeDefault.value,
        }),
      ),
    ),
    route(contract.listContactSegments, async ({ projectId, params, query }) =>
      ok(await listSegmentsOfContact(database, projectId, params.id, readPage("segments", query))),
    ),
    route(contract.addSegmentMembers, async ({ projectId, userId, params, body, commit }) =>
      commit(async (tx) => ok(await addMembers(tx, projectId, params.id, body, viaDashboard(userId)))),
    ),
    route(contract.removeSegmentMembers, async ({ projectId, params, body, commit }) =>
      commit(async (tx) => ok(await removeMembers(tx, projectId, params.id, body.emails))),
    ),
    route(contract.computeSegment, async ({ projectId, params, commit }) => {
      await requestCompute(database, projectId, params.id);
      return commit(async (tx) => ok(await computeSegment(tx, projectId, params.id)));
    }),
    route(contract.refreshSegment, async ({ projectId, params, commit }) =>
      commit(async (tx) => ok(await refreshSegment(tx, projectId, params.id))),
    ),
  ];
}
