// What pages ask of sender domains.
import { queryOptions } from "@tanstack/react-query";
import { call, type Answer } from "../../api/call.ts";
import { diagnoseDomain, listDomains } from "../../api/endpoints.ts";

/** Pending domains change while somebody edits DNS elsewhere. */
const LOOK_EVERY_MS = 15_000;

export type Domain = Answer<NonNullable<typeof listDomains.endpoint>>[number];

export function domainsQuery(projectId: string) {
  return queryOptions({
    queryKey: ["project", projectId, "domains"],
    queryFn: ({ signal }) => call(listDomains, { params: { projectId }, signal }),
    refetchInterval: ({ state }) =>
      state.data?.some(({ verified }) => !verified) === true ? LOOK_EVERY_MS : false,
  });
}

/** How records came to be wrong, asked once for each check that found some. */
export function mistakesQuery(projectId: string, { id, records, lastCheckedAt }: Domain) {
  return queryOptions({
    queryKey: ["project", projectId, "domains", id, "mistakes", lastCheckedAt],
    queryFn: ({ signal }) => call(diagnoseDomain, { projectId, params: { id }, signal }),
    enabled: records.some(({ status }) => status === "MISSING" || status === "MISMATCH"),
    staleTime: Number.POSITIVE_INFINITY,
  });
}
