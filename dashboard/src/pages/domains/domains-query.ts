// Queries for sender domains.
import { queryOptions } from "@tanstack/react-query";
import type { ApiResponse } from "../../api/address.ts";
import { api } from "../../api/endpoints.ts";
import { query } from "../../api/query.ts";

/** Poll pending domains, because the user is probably editing DNS elsewhere. */
const POLL_EVERY_MS = 15_000;

export type Domain = ApiResponse<typeof api.domains.list>[number];

export function domainsQuery(projectId: string) {
  return queryOptions({
    ...query(api.domains.list, { projectId }),
    refetchInterval: ({ state }) =>
      state.data?.some(({ verified }) => !verified) === true ? POLL_EVERY_MS : false,
  });
}

export type LinkDomain = NonNullable<ApiResponse<typeof api.domains.getLinkDomain>["linkDomain"]>;

export function linkDomainQuery(projectId: string) {
  return queryOptions({
    ...query(api.domains.getLinkDomain, { projectId }),
    refetchInterval: ({ state }) => {
      const status = state.data?.linkDomain?.status;
      return status === undefined || status === "ACTIVE" ? false : POLL_EVERY_MS;
    },
  });
}

/** Explains incorrect records. Runs once per check, because the key contains the time of the check. */
export function mistakesQuery(projectId: string, { id, records, lastCheckedAt }: Domain) {
  return queryOptions({
    ...query(api.domains.diagnose, { projectId, params: { id } }, lastCheckedAt),
    enabled: records.some(({ status }) => status === "MISSING" || status === "MISMATCH"),
    staleTime: Number.POSITIVE_INFINITY,
  });
}
