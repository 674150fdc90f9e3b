// The names of the project's segments.
import { useQuery } from "@tanstack/react-query";
import { segmentsQuery } from "../segments/segment-queries.ts";
import type { SegmentNames } from "./trigger-text.ts";

/** Returns the names of the project's segments. */
export function useSegmentNames(projectId: string): SegmentNames {
  const segments = useQuery(segmentsQuery(projectId));
  return new Map(segments.data?.map(({ id, name }) => [id, name]));
}
