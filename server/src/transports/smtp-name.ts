// Determines the name this installation uses in EHLO to other servers and in the greeting to clients. Pure.
import { isIP } from "node:net";

/**
 * Returns the setting, or else the host of BASE_URL; an IP address becomes a literal (RFC 5321 §4.1.3).
 * Servers often reject `localhost`, so an installation without a public address uses the machine's name.
 */
export function smtpNameOf(setting: string | undefined, baseUrl: string | null, machineName: string): string {
  if (setting !== undefined) return setting;
  const host = baseUrl === null ? "" : new URL(baseUrl).hostname.replace(/^\[(.*)\]$/, "$1");
  if (host === "" || isOfThisMachine(host)) return machineName;
  const version = isIP(host);
  if (version === 0) return host;
  return version === 4 ? `[${host}]` : `[IPv6:${host}]`;
}

function isOfThisMachine(host: string): boolean {
  return /^(localhost|.*\.localhost|127\.\d+\.\d+\.\d+|::1|0\.0\.0\.0|::)$/.test(host);
}
