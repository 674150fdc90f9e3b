// Queries for sender domains.
import { queryOptions } from "@tanstack/react-query";
import { call, type ApiResponse } from "../../api/call.ts";
import { diagnoseDomain, listDomains } from "../../api/endpoints.ts";

/** Poll pending domains, because the user is probably editing DNS elsewhere. */
const POLL_EVERY_MS = 15_000;

export type Domain = ApiResponse<NonNullable<typeof listDomains.endpoint>>[number];

export function domainsQuery(projectId: string) {
  return queryOptions({
    queryKey: ["project", projectId, "domains"],
    queryFn: ({ signal }) => call(listDomains, { params: { projectId }, signal }),
    refetchInterval: ({ state }) =>
      state.data?.some(({ verified }) => !verified) === true ? POLL_EVERY_MS : false,
  });
}

/** Explains incorrect records. Runs once per check, because the key contains the time of the check. */
export function mistakesQuery(projectId: string, { id, records, lastCheckedAt }: Domain) {
  return queryOptions({
    queryKey: ["project", projectId, "domains", id, "mistakes", lastCheckedAt],
    queryFn: ({ signal }) => call(diagnoseDomain, { projectId, params: { id }, signal }),
    enabled: records.some(({ status }) => status === "MISSING" || status === "MISMATCH"),
    staleTime: Number.POSITIVE_INFINITY,
  });
}
