// Creates the query client and defines the queries shared by several pages.
import { MutationCache, QueryCache, QueryClient, queryOptions } from "@tanstack/react-query";
import type { ApiResponse } from "../api/address.ts";
import { call, CallError, isAboutSession } from "../api/call.ts";
import { api } from "../api/endpoints.ts";
import { endpointKey } from "../api/query-key.ts";
import { query } from "../api/query.ts";

const FRESH_FOR_MS = 15_000;
const RETRIES = 2;

export type Account = ApiResponse<typeof api.users.me>;
export type Project = ApiResponse<typeof api.projects.list>[number];

export function createQueries(): QueryClient {
  const onError = (error: unknown) => {
    if (isAboutSession(error)) client.setQueryData(accountQuery.queryKey, null);
  };
  const client: QueryClient = new QueryClient({
    queryCache: new QueryCache({ onError }),
    mutationCache: new MutationCache({ onError }),
    defaultOptions: {
      queries: {
        staleTime: FRESH_FOR_MS,
        // Retry network and server errors only, because a rejected request would be rejected again.
        retry: (failures, error) =>
          failures < RETRIES && error instanceof CallError && (error.status === 0 || error.status >= 500),
      },
      // Fail immediately when offline. A paused mutation would otherwise run later, even if the user canceled or repeated it.
      mutations: { networkMode: "always" },
    },
  });
  return client;
}

/** The signed-in account, or null. */
export const accountQuery = queryOptions({
  queryKey: endpointKey(api.users.me),
  queryFn: async ({ signal }): Promise<Account | null> => {
    try {
      return await call(api.users.me, { signal });
    } catch (error) {
      if (error instanceof CallError && error.status === 401) return null;
      throw error;
    }
  },
});

export const projectsQuery = query(api.projects.list);

export const configQuery = queryOptions({
  ...query(api.instance.config),
  staleTime: Number.POSITIVE_INFINITY,
});
