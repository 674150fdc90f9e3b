// Which other services people sign in through, and where the browser begins.
import { useQuery } from "@tanstack/react-query";
import { call } from "../api/call.ts";
import { getOauthConfig } from "../api/account-endpoints.ts";
import { configQuery } from "./queries.ts";

const PROVIDERS = ["github", "google", "oidc"] as const;
type ProviderName = (typeof PROVIDERS)[number];
const BRANDS = { github: "GitHub", google: "Google" };

interface Way {
  name: ProviderName;
  /** As people call it. */
  title: string;
  /** Where the browser begins; it ends at `next`, a path of the dashboard. */
  beginAt: (next: string, options?: { connect?: boolean }) => string;
}

/** What this installation offers beside the password; nothing while that is not known. */
export function useOtherWays(): Way[] {
  const oauth = useQuery({
    queryKey: ["oauth-config"],
    queryFn: ({ signal }) => call(getOauthConfig, { signal }),
    staleTime: Number.POSITIVE_INFINITY,
  });
  const config = useQuery(configQuery);
  if (oauth.data === undefined || config.data === undefined) return [];
  const titles = { ...BRANDS, oidc: oauth.data.oidcName ?? "OpenID Connect" };
  // The way back ends at the public address: what begins under another name of this machine would not be known there.
  const { api } = config.data.urls;
  return PROVIDERS.filter((name) => oauth.data[name]).map((name) => ({
    name,
    title: titles[name],
    beginAt: (next, { connect = false } = {}) =>
      `${api}/auth/oauth/${name}?${new URLSearchParams({ next, ...(connect ? { connect: "true" } : {}) }).toString()}`,
  }));
}
