// Creates the query client and defines the queries shared by several pages.
import { MutationCache, QueryCache, QueryClient, queryOptions } from "@tanstack/react-query";
import type { z } from "zod";
import type { account } from "@postloft/contract/users.ts";
import { call, CallError, isAboutSession, type ApiResponse } from "../api/call.ts";
import { getConfig, getMe, getSetupState, listProjects } from "../api/endpoints.ts";

const FRESH_FOR_MS = 15_000;
const RETRIES = 2;

export type Account = z.output<typeof account>;
export type Project = ApiResponse<NonNullable<typeof listProjects.endpoint>>[number];

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
  queryKey: ["account"],
  queryFn: async ({ signal }): Promise<Account | null> => {
    try {
      return await call(getMe, { signal });
    } catch (error) {
      if (error instanceof CallError && error.status === 401) return null;
      throw error;
    }
  },
});

export const projectsQuery = queryOptions({
  queryKey: ["projects"],
  queryFn: ({ signal }) => call(listProjects, { signal }),
});

export const configQuery = queryOptions({
  queryKey: ["config"],
  queryFn: ({ signal }) => call(getConfig, { signal }),
  staleTime: Number.POSITIVE_INFINITY,
});

export function setupStateQuery(projectId: string) {
  return queryOptions({
    queryKey: ["project", projectId, "setup-state"],
    queryFn: ({ signal }) => call(getSetupState, { params: { projectId }, signal }),
  });
}
