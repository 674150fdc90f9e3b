// Lists the external sign-in services and where their sign-in starts.
import { useQuery } from "@tanstack/react-query";
import { api } from "../api/endpoints.ts";
import { query } from "../api/query.ts";
import { configQuery } from "./queries.ts";

const PROVIDERS = ["github", "google", "oidc"] as const;
type ProviderName = (typeof PROVIDERS)[number];
const BRANDS = { github: "GitHub", google: "Google" };

interface Way {
  name: ProviderName;
  title: string;
  /** Returns the URL that starts the sign-in. The flow ends at `next`, a dashboard path. */
  beginAt: (next: string, options?: { connect?: boolean }) => string;
}

/** Returns the enabled sign-in services, or none until the config has loaded. */
export function useOtherWays(): Way[] {
  const oauth = useQuery({
    ...query(api.auth.oauthConfig),
    staleTime: Number.POSITIVE_INFINITY,
  });
  const config = useQuery(configQuery);
  if (oauth.data === undefined || config.data === undefined) return [];
  const titles = { ...BRANDS, oidc: oauth.data.oidcName ?? "OpenID Connect" };
  // Start at the public URL, because a session cookie set under another host name would be missing on return.
  const root = config.data.urls.api;
  return PROVIDERS.filter((name) => oauth.data[name]).map((name) => ({
    name,
    title: titles[name],
    beginAt: (next, { connect = false } = {}) =>
      `${root}/auth/oauth/${name}?${new URLSearchParams({ next, ...(connect ? { connect: "true" } : {}) }).toString()}`,
  }));
}
