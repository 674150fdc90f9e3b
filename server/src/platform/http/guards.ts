// Checks every request first for repeated headers, access to the installation's pages and untrusted proxies.
import type { IncomingHttpHeaders } from "node:http";
import { isIPv4 } from "node:net";
import type { FastifyReply, FastifyRequest } from "fastify";
import { asMessage, withValues } from "@postloft/contract/translation.ts";
import { isSameSecret } from "../crypto.ts";
import type { Log } from "../log.ts";
import { isLoopback } from "./loopback.ts";
import { AppError } from "../app-error.ts";

/** Allows a page of the installation to anyone, to this machine only, or to callers with the token. */
export type Access = "anyone" | "loopback" | { token: string };

export interface GuardOptions {
  /** Protected pages by path prefix, each with its setting. */
  access: ReadonlyArray<{ path: string; setting: string; access: Access }>;
  /** Whether the X-Forwarded-For of some address is trusted. */
  trustsProxies: boolean;
  /** Returns why a request does not belong on its host, or null. */
  checkHost?: ((host: string, path: string) => AppError | null) | undefined;
  log: Log;
}

/**
 * Headers that must not be repeated. A proxy might use the first and we the last, or the other way round, so the caller would be ambiguous.
 */
const SINGLE_HEADERS = new Set(["host", "authorization"]);
/** Matches the headers that proxies add. */
const OF_PROXY = /^(?:forwarded|via|x-forwarded-.*|x-real-ip|x-client-ip|true-client-ip|cf-connecting-ip)$/;
const PRIVATE_V4 =
  /^(10\.|127\.|192\.168\.|172\.(1[6-9]|2\d|3[01])\.|169\.254\.|100\.(6[4-9]|[7-9]\d|1[01]\d|12[0-7])\.)/;
const PRIVATE_V6 = /^(::1$|f[cd]|fe[89ab])/i;

/** Returns who may open the pages that are not part of the API. */
export function guardedPages({
  docsAccess,
  metricsAccess,
}: {
  docsAccess: Access;
  metricsAccess: Access;
}): GuardOptions["access"] {
  return [
    { path: "/docs", setting: "DOCS_ACCESS", access: docsAccess },
    { path: "/openapi.json", setting: "DOCS_ACCESS", access: docsAccess },
    { path: "/metrics", setting: "METRICS_ACCESS", access: metricsAccess },
  ];
}

/** Returns the function that checks a request. It returns the error to reject the request with, or null. */
export function createGuards(options: GuardOptions) {
  let hasWarned = false;

  /** Warns once about an untrusted proxy. Without TRUST_PROXY all visitors behind it count as one and share their limits. */
  function noticeProxy(request: FastifyRequest): void {
    if (hasWarned || options.trustsProxies || request.headers["x-forwarded-for"] === undefined) return;
    const address = request.socket.remoteAddress ?? "";
    if (!isPrivate(address)) return;
    hasWarned = true;
    const proxy = withoutPrefix(address);
    options.log.warn(
      { proxy },
      `requests arrive through an untrusted proxy, so all its visitors count as one; set TRUST_PROXY=${proxy} if the proxy is yours`,
    );
  }

  return (request: FastifyRequest, reply: FastifyReply): AppError | null => {
    const repeated = repeatedHeader(request.raw.rawHeaders);
    if (repeated !== null)
      return new AppError(
        "BAD_REQUEST",
        withValues("The header {header} is repeated.", { header: repeated }),
      );
    noticeProxy(request);
    const misplaced = options.checkHost?.(request.hostname, request.url);
    if (misplaced != null) return misplaced;
    const path = request.routeOptions.url ?? "";
    const guarded = options.access.find((one) => path === one.path || path.startsWith(`${one.path}/`));
    if (guarded === undefined) return null;
    const appError = refuseAccess(guarded, {
      headers: request.headers,
      address: request.socket.remoteAddress ?? "",
      trustsProxies: options.trustsProxies,
    });
    if (appError?.code === "UNAUTHORIZED") reply.header("www-authenticate", ASK_FOR_TOKEN);
    return appError;
  };
}

function repeatedHeader(rawHeaders: readonly string[]): string | null {
  let seen = "";
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] ?? "";
    // Compares the length first because this runs for every header of every request.
    if (name.length !== 4 && name.length !== 13) continue;
    const lower = name.toLowerCase();
    if (!SINGLE_HEADERS.has(lower)) continue;
    if (seen.includes(lower)) return lower;
    seen += ` ${lower}`;
  }
  return null;
}

/** The `www-authenticate` header of an error about a missing token. */
export const ASK_FOR_TOKEN = 'Basic realm="Postloft", Bearer';

/** The client that requests a protected page. */
export interface Visitor {
  headers: IncomingHttpHeaders;
  /** The other end of the connection. */
  address: string;
  /** Whether TRUST_PROXY is set, in which case a connection from this machine may come from any client. */
  trustsProxies: boolean;
}

/** Returns the error for a client that may not see a page, or null. */
export function refuseAccess(
  { access, setting }: { access: Access; setting: string },
  { headers, address, trustsProxies }: Visitor,
): AppError | null {
  if (access === "anyone") return null;
  if (access === "loopback") {
    const isRelayed = trustsProxies || Object.keys(headers).some((name) => OF_PROXY.test(name));
    if (isLoopback(address) && !isRelayed) return null;
    return new AppError(
      "FORBIDDEN",
      asMessage(
        trustsProxies
          ? withValues(
              "With TRUST_PROXY this page requires a token. The instance admin can set one with {setting}.",
              { setting },
            )
          : withValues(
              "This page is only available on the server itself. The instance admin can open it with {setting}.",
              { setting },
            ),
      ),
    );
  }
  if (hasToken(headers.authorization, access.token)) return null;
  return new AppError(
    "UNAUTHORIZED",
    withValues(
      "This page requires the token of {setting}, as a Bearer token or as the password with any user name.",
      { setting },
    ),
  );
}

function hasToken(authorization: string | undefined, token: string): boolean {
  const [, scheme = "", value = ""] = /^(bearer|basic) +(\S{1,1000})$/i.exec(authorization ?? "") ?? [];
  const input =
    scheme.toLowerCase() === "basic"
      ? Buffer.from(value, "base64")
          .toString()
          .replace(/^[^:]*:/, "")
      : value;
  return isSameSecret(input, token);
}

function withoutPrefix(address: string): string {
  const bare = address.replace(/^::ffff:/i, "");
  return isIPv4(bare) ? bare : address;
}

function isPrivate(address: string): boolean {
  const bare = withoutPrefix(address);
  return isIPv4(bare) ? PRIVATE_V4.test(bare) : PRIVATE_V6.test(bare);
}
