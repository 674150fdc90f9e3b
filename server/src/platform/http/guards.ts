// Checks every request first: repeated headers, access to the pages of the installation, and proxies that are not trusted.
import type { IncomingHttpHeaders } from "node:http";
import { isIPv4 } from "node:net";
import type { FastifyReply, FastifyRequest } from "fastify";
import { isSameSecret } from "../crypto.ts";
import type { Log } from "../log.ts";
import { isLoopback } from "./loopback.ts";
import { Refusal } from "../refusal.ts";

/** Who may see a page of the installation: anyone, this machine alone, or whoever has the token. */
export type Access = "anyone" | "loopback" | { token: string };

export interface GuardOptions {
  /** By the beginning of the path, each with the setting that it comes from. */
  access: ReadonlyArray<{ path: string; setting: string; access: Access }>;
  /** Whether somebody's X-Forwarded-For is believed. */
  trustsProxies: boolean;
  log: Log;
}

/** Of these a proxy may take the first and we the last, or the other way round: with two of them nobody knows who asks for what. */
const SINGLE_HEADERS = new Set(["host", "authorization"]);
/** Headers that proxies add, whichever they are. */
const OF_PROXY = /^(?:forwarded|via|x-forwarded-.*|x-real-ip|x-client-ip|true-client-ip|cf-connecting-ip)$/;
const PRIVATE_V4 =
  /^(10\.|127\.|192\.168\.|172\.(1[6-9]|2\d|3[01])\.|169\.254\.|100\.(6[4-9]|[7-9]\d|1[01]\d|12[0-7])\.)/;
const PRIVATE_V6 = /^(::1$|f[cd]|fe[89ab])/i;

/** What to refuse a request for before it is looked at; null: nothing. */
export function createGuards(options: GuardOptions) {
  let hasTold = false;

  /** Without TRUST_PROXY all visitors behind a proxy are one, and share each other's limits. */
  function noticeProxy(request: FastifyRequest): void {
    if (hasTold || options.trustsProxies || request.headers["x-forwarded-for"] === undefined) return;
    const address = request.socket.remoteAddress ?? "";
    if (!isPrivate(address)) return;
    hasTold = true;
    const proxy = withoutPrefix(address);
    options.log.warn(
      { proxy },
      `requests come through a proxy that is not trusted, so all its visitors count as one: set TRUST_PROXY=${proxy} if it is yours`,
    );
  }

  return (request: FastifyRequest, reply: FastifyReply): Refusal | null => {
    const repeated = repeatedHeader(request.raw.rawHeaders);
    if (repeated !== null)
      return new Refusal("BAD_REQUEST", { message: `The header ${repeated} is there more than once.` });
    noticeProxy(request);
    const path = request.routeOptions.url ?? "";
    const guarded = options.access.find((one) => path === one.path || path.startsWith(`${one.path}/`));
    if (guarded === undefined) return null;
    const refusal = refuseAccess(guarded, {
      headers: request.headers,
      address: request.socket.remoteAddress ?? "",
      trustsProxies: options.trustsProxies,
    });
    if (refusal?.code === "UNAUTHORIZED") reply.header("www-authenticate", ASK_FOR_TOKEN);
    return refusal;
  };
}

function repeatedHeader(rawHeaders: readonly string[]): string | null {
  let seen = "";
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] ?? "";
    // By its length first: this is done for every header of every request.
    if (name.length !== 4 && name.length !== 13) continue;
    const lower = name.toLowerCase();
    if (!SINGLE_HEADERS.has(lower)) continue;
    if (seen.includes(lower)) return lower;
    seen += ` ${lower}`;
  }
  return null;
}

/** What a refusal for want of a token says in the header `www-authenticate`. */
export const ASK_FOR_TOKEN = 'Basic realm="Postloft", Bearer';

/** Who asks for a guarded page. */
export interface Visitor {
  headers: IncomingHttpHeaders;
  /** The other end of the connection. */
  address: string;
  /** Whether TRUST_PROXY is set: then a connection from this machine may be anybody's. */
  trustsProxies: boolean;
}

/** Why somebody may not see a page; null: they may. */
export function refuseAccess(
  { access, setting }: { access: Access; setting: string },
  { headers, address, trustsProxies }: Visitor,
): Refusal | null {
  if (access === "anyone") return null;
  if (access === "loopback") {
    const isRelayed = trustsProxies || Object.keys(headers).some((name) => OF_PROXY.test(name));
    if (isLoopback(address) && !isRelayed) return null;
    return new Refusal("FORBIDDEN", {
      message: trustsProxies
        ? `With TRUST_PROXY this page needs a token; its operator can set one with ${setting}.`
        : `This page is for the machine of the installation alone; its operator can open it with the setting ${setting}.`,
    });
  }
  if (hasToken(headers.authorization, access.token)) return null;
  return new Refusal("UNAUTHORIZED", {
    message: `This page needs the token of the setting ${setting}: as a Bearer token, or as the password of any user.`,
  });
}

function hasToken(authorization: string | undefined, token: string): boolean {
  const [, scheme = "", value = ""] = /^(bearer|basic) +(\S{1,1000})$/i.exec(authorization ?? "") ?? [];
  const given =
    scheme.toLowerCase() === "basic"
      ? Buffer.from(value, "base64")
          .toString()
          .replace(/^[^:]*:/, "")
      : value;
  return isSameSecret(given, token);
}

function withoutPrefix(address: string): string {
  const bare = address.replace(/^::ffff:/i, "");
  return isIPv4(bare) ? bare : address;
}

function isPrivate(address: string): boolean {
  const bare = withoutPrefix(address);
  return isIPv4(bare) ? PRIVATE_V4.test(bare) : PRIVATE_V6.test(bare);
}
