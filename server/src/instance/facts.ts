// Facts that are fixed once the program has started.
import { parseAddress } from "@postloft/contract/address.ts";
import { resolve } from "node:path";
import manifest from "../../package.json" with { type: "json" };
import type { Config } from "../platform/settings/config.ts";
import { randomText } from "../platform/crypto.ts";
import { oauthOf, type OauthSettings } from "../users/oauth/settings.ts";

export interface InstanceFacts {
  version: string;
  baseUrl: () => string;
  transportName: string;
  /** Whether no email leaves the machine. */
  staysHere: boolean;
  signupsDisabled: boolean;
  /** The services people can sign in through. */
  oauth: OauthSettings;
  /** Whether users must confirm their address before sending in a session. */
  verificationRequired: boolean;
  /** The address of the account that may read platform email, or null. */
  platformEmailReader: string | null;
  /** The token printed at start for reading platform email; null if there is none. */
  operatorToken: string | null;
  /** Folder of the embedded database; null if the database runs elsewhere. */
  dataDir: string | null;
  /** DATA_DIR, also if the database runs elsewhere. */
  folder: string;
  /** The settings of processes that back up or restore. */
  backupSettings: Readonly<Record<string, string>>;
  /** The addresses of the accounts that may open the installation page. */
  adminEmails: readonly string[];
  roles: readonly string[];
  reputationGuard: boolean;
  /** The sender of platform email if a setting names it. */
  systemFrom: Config["SYSTEM_FROM"] | null;
}

export function factsOf(
  config: Config,
  { transportName, baseUrl }: { transportName: string; baseUrl: () => string },
): InstanceFacts {
  return {
    version: manifest.version,
    baseUrl,
    transportName,
    staysHere: transportName === "mailbox",
    signupsDisabled: config.DISABLE_SIGNUPS,
    oauth: oauthOf(config),
    verificationRequired: config.REQUIRE_EMAIL_VERIFICATION,
    ...openPlatformEmail(config, transportName),
    dataDir: config.DATABASE_URL === undefined ? resolve(config.DATA_DIR) : null,
    folder: resolve(config.DATA_DIR),
    backupSettings: {
      DATA_DIR: resolve(config.DATA_DIR),
      ...(config.DATABASE_URL === undefined ? {} : { DATABASE_URL: config.DATABASE_URL }),
      ...(config.APP_SECRET === undefined ? {} : { APP_SECRET: config.APP_SECRET }),
    },
    adminEmails: config.ADMIN_EMAILS,
    roles: config.ROLES,
    reputationGuard: config.REPUTATION_GUARD,
    systemFrom: config.SYSTEM_FROM ?? null,
  };
}

const TOKEN_LENGTH = 40;

/**
 * Decides who may read platform email, which contains secrets. Only if the setting allows it and no email leaves the machine: the instance
 * admin's account, and holders of a token that is new at each start.
 */
function openPlatformEmail(
  config: Config,
  transportName: string,
): { platformEmailReader: string | null; operatorToken: string | null } {
  if (!config.SYSTEM_MAILBOX || transportName !== "mailbox")
    return { platformEmailReader: null, operatorToken: null };
  const operator = parseAddress(config.BOOTSTRAP_EMAIL ?? "");
  return {
    platformEmailReader: operator.ok ? operator.address : null,
    operatorToken: `op_${randomText(TOKEN_LENGTH)}`,
  };
}
