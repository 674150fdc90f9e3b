// What the dashboard has asked the server: the cache, and the questions that several pages ask.
import { MutationCache, QueryCache, QueryClient, queryOptions } from "@tanstack/react-query";
import type { z } from "zod";
import type { account } from "@postloft/contract/users.ts";
import { call, CallError, isAboutSession, type Answer } from "../api/call.ts";
import { getConfig, getMe, getSetupState, listProjects } from "../api/endpoints.ts";

const FRESH_FOR_MS = 15_000;
const RETRIES = 2;

export type Account = z.output<typeof account>;
export type Project = Answer<NonNullable<typeof listProjects.endpoint>>[number];

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
        // What the server refused it will refuse again.
        retry: (failures, error) =>
          failures < RETRIES && error instanceof CallError && (error.status === 0 || error.status >= 500),
      },
      // Without a network it fails at once: one that waited would be done later, also when it was called off, or asked for again.
      mutations: { networkMode: "always" },
    },
  });
  return client;
}

/** Who is signed in; null when nobody is. */
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
