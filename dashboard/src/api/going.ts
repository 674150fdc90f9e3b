// What is about to be deleted: lists leave it out, and until it is really gone it can be taken back.
import { queryOptions } from "@tanstack/react-query";

const NOTHING: ReadonlySet<string> = new Set();

/** The ids of what goes; ids are unique across everything. */
export const goingQuery = queryOptions({
  queryKey: ["going"],
  queryFn: () => NOTHING,
  initialData: NOTHING,
  staleTime: Number.POSITIVE_INFINITY,
  gcTime: Number.POSITIVE_INFINITY,
});
