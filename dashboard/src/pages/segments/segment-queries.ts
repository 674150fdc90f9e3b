// Queries for segments, shared by several pages.
import { queryOptions, type QueryClient } from "@tanstack/react-query";
import { call, type ApiResponse } from "../../api/call.ts";
import { getSegment, listSegments } from "../../api/endpoints.ts";
import { EDITED } from "../../session/tabs.ts";

type ListPage = Extract<ApiResponse<NonNullable<typeof listSegments.endpoint>>, { cursor: string | null }>;
export type Segment = ListPage["data"][number];

/** All segments, newest first. */
export function segmentsQuery(projectId: string) {
  return queryOptions({
    queryKey: ["project", projectId, "segments", "all"],
    queryFn: async ({ signal }): Promise<Segment[]> => {
      const listed = await call(listSegments, { projectId, signal });
      return Array.isArray(listed) ? listed : listed.data;
    },
  });
}

/** A segment to be edited. Fetched each time it is opened, but never refetched during editing. */
export function segmentQuery(projectId: string, id: string) {
  return queryOptions({
    queryKey: ["project", projectId, "segments", id],
    queryFn: ({ signal }) => call(getSegment, { projectId, params: { id }, signal }),
    gcTime: 0,
    refetchOnWindowFocus: false,
    meta: EDITED,
  });
}

/** Refetches after segments or their members changed. */
export async function invalidateMembers(queries: QueryClient, projectId: string): Promise<void> {
  const about = ["segments", "contacts"];
  await Promise.all(
    about.map((noun) => queries.invalidateQueries({ queryKey: ["project", projectId, noun] })),
  );
}
