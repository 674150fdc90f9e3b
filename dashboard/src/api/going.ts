// Tracks rows about to be deleted. Lists hide them, and the user can undo until the deletion is sent.
import { queryOptions } from "@tanstack/react-query";

const NOTHING: ReadonlySet<string> = new Set();

/** Ids are unique across all resources, so one set serves every list. */
export const pendingDeletionsQuery = queryOptions({
  queryKey: ["going"],
  queryFn: () => NOTHING,
  initialData: NOTHING,
  staleTime: Number.POSITIVE_INFINITY,
  gcTime: Number.POSITIVE_INFINITY,
});
