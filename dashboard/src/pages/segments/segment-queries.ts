// Queries for segments, shared by several pages.
import { queryOptions, type QueryClient } from "@tanstack/react-query";
import type { ApiResponse } from "../../api/address.ts";
import { api } from "../../api/endpoints.ts";
import { resourceKey } from "../../api/query-key.ts";
import { query } from "../../api/query.ts";
import { EDITED } from "../../session/tabs.ts";
import { invalidateContactLists } from "../contacts/contact-list.ts";

type ListPage = Extract<ApiResponse<typeof api.segments.list>, { cursor: string | null }>;
export type Segment = ListPage["data"][number];

/** All segments, newest first. */
export function segmentsQuery(projectId: string) {
  return queryOptions({ ...query(api.segments.list, { projectId }), select: segmentsOf });
}

/** Returns the segments of a response, which is a list without a limit. */
export function segmentsOf(listed: ApiResponse<typeof api.segments.list>): Segment[] {
  return Array.isArray(listed) ? listed : listed.data;
}

/** A segment to be edited. Fetched each time it is opened, but never refetched during editing. */
export function segmentQuery(projectId: string, id: string) {
  return queryOptions({
    ...query(api.segments.get, { projectId, params: { id } }),
    gcTime: 0,
    refetchOnWindowFocus: false,
    meta: EDITED,
  });
}

/** Refetches after segments or their members changed. */
export async function invalidateMembers(queries: QueryClient, projectId: string): Promise<void> {
  await Promise.all([
    queries.invalidateQueries({ queryKey: resourceKey(api.segments.list, { projectId }) }),
    invalidateContactLists(queries, projectId),
  ]);
}
