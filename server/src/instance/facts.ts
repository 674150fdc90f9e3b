// What is fixed once the program has started, for whoever tells of it or asks before acting.
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
  /** No email leaves the machine. */
  staysHere: boolean;
  signupsDisabled: boolean;
  /** Which other services people log in through. */
  oauth: OauthSettings;
  /** Who has not proved their address sends nothing in a session. */
  verificationRequired: boolean;
  /** The address whose account may read mail of the installation itself; null when nobody may. */
  systemMailReader: string | null;
  /** The token printed at start, with which mail of the installation is read; null: there is none. */
  operatorToken: string | null;
  /** Of the embedded database; null with a database elsewhere. */
  dataDir: string | null;
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
    ...openSystemMail(config, transportName),
    dataDir: config.DATABASE_URL === undefined ? resolve(config.DATA_DIR) : null,
  };
}

const TOKEN_LENGTH = 40;

/**
 * Who may read mail of the installation itself, which holds secrets: only where that is asked for and nothing leaves, the account of
 * whoever runs it, and whoever has a token, made anew at each start.
 */
function openSystemMail(
  config: Config,
  transportName: string,
): { systemMailReader: string | null; operatorToken: string | null } {
  if (!config.SYSTEM_MAILBOX || transportName !== "mailbox")
    return { systemMailReader: null, operatorToken: null };
  const operator = parseAddress(config.BOOTSTRAP_EMAIL ?? "");
  return {
    systemMailReader: operator.ok ? operator.address : null,
    operatorToken: `op_${randomText(TOKEN_LENGTH)}`,
  };
}
