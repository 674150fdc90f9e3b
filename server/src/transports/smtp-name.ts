// What this installation calls itself over SMTP: in EHLO to other servers, in the greeting to those that come. Pure.
import { isIP } from "node:net";

/**
 * The setting, else the host of BASE_URL: an address as the literal that RFC 5321 §4.1.3 asks for. A server that is told
 * `localhost` often refuses, so an installation without a public address goes by the name of its machine.
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
