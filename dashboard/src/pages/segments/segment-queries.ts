// What several pages ask about segments.
import { queryOptions, type QueryClient } from "@tanstack/react-query";
import { call, type Answer } from "../../api/call.ts";
import { getSegment, listSegments } from "../../api/endpoints.ts";
import { EDITED } from "../../session/tabs.ts";

type ListPage = Extract<Answer<NonNullable<typeof listSegments.endpoint>>, { cursor: string | null }>;
export type Segment = ListPage["data"][number];

/** All segments of a project, newest first. */
export function segmentsQuery(projectId: string) {
  return queryOptions({
    queryKey: ["project", projectId, "segments", "all"],
    queryFn: async ({ signal }): Promise<Segment[]> => {
      const listed = await call(listSegments, { projectId, signal });
      return Array.isArray(listed) ? listed : listed.data;
    },
  });
}

/** One that is edited: read anew each time it is opened, and not changed under the hands of whoever edits it. */
export function segmentQuery(projectId: string, id: string) {
  return queryOptions({
    queryKey: ["project", projectId, "segments", id],
    queryFn: ({ signal }) => call(getSegment, { projectId, params: { id }, signal }),
    gcTime: 0,
    refetchOnWindowFocus: false,
    meta: EDITED,
  });
}

/** After a change of segments, or of who is in one. */
export async function invalidateMembers(queries: QueryClient, projectId: string): Promise<void> {
  const about = ["segments", "contacts"];
  await Promise.all(
    about.map((noun) => queries.invalidateQueries({ queryKey: ["project", projectId, noun] })),
  );
}
