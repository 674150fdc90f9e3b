// Settings of the services people sign in through. Each service needs all of its settings or none.
import type { Config, MoreChecks } from "../../platform/settings/config.ts";

const NEEDED = [
  ["GITHUB_CLIENT_ID", "GITHUB_CLIENT_SECRET"],
  ["GOOGLE_CLIENT_ID", "GOOGLE_CLIENT_SECRET"],
  ["OIDC_ISSUER", "OIDC_CLIENT_ID", "OIDC_CLIENT_SECRET"],
] as const;

interface Client {
  clientId: string;
  clientSecret: string;
}

/** Null: the service is off. */
export interface OauthSettings {
  github: (Client & { url: string }) | null;
  google: Client | null;
  oidc: (Client & { issuer: string; title: string; trustsEmail: boolean }) | null;
}

export function oauthOf(config: Config): OauthSettings {
  const github = clientOf(config.GITHUB_CLIENT_ID, config.GITHUB_CLIENT_SECRET);
  const oidc = clientOf(config.OIDC_CLIENT_ID, config.OIDC_CLIENT_SECRET);
  return {
    github: github && { ...github, url: new URL(config.GITHUB_URL).origin },
    google: clientOf(config.GOOGLE_CLIENT_ID, config.GOOGLE_CLIENT_SECRET),
    oidc:
      oidc === null || config.OIDC_ISSUER === undefined
        ? null
        : {
            ...oidc,
            issuer: config.OIDC_ISSUER,
            title: config.OIDC_NAME,
            trustsEmail: config.OIDC_TRUST_EMAIL,
          },
  };
}

function clientOf(clientId: string | undefined, clientSecret: string | undefined): Client | null {
  return clientId === undefined || clientSecret === undefined ? null : { clientId, clientSecret };
}

/** Returns the faults in the combination of settings, in the form readConfig expects. */
export const faultsOfOauth: MoreChecks = (settings) =>
  NEEDED.flatMap((names) => {
    const missing = names.filter((name) => settings[name] === undefined);
    if (missing.length === names.length) return [];
    return missing.map(
      (name) => `${name}: required with ${names.filter((one) => one !== name).join(" and ")}`,
    );
  });
