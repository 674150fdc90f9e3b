// Admits or rejects requests by key or session, rate limit and origin.
import { parseCookie } from "cookie";
import type { FastifyReply, FastifyRequest } from "fastify";
import type { Endpoint } from "@postloft/contract/endpoint.ts";
import { ERRORS } from "@postloft/contract/errors.ts";
import { LIMITS } from "@postloft/contract/limits/limits.ts";
import { withValues } from "@postloft/contract/translation.ts";
import { readHeader } from "./response.ts";
import { identify, type Caller, type Credentials } from "./caller.ts";
import type { RateLimiter, Taken } from "./rate-limit.ts";
import { AppError } from "../app-error.ts";
import { networkOf } from "./visitor-network.ts";

export interface RateOptions {
  rateLimiter: RateLimiter;
  /** 0 turns the limit off. */
  requestsPerMinute: number;
}

export interface AdmissionOptions extends RateOptions {
  credentials: Credentials;
  sessionCookie: string;
  /** Returns the origin of the pages that may use a session. Null allows only the origin that the request names as host. */
  origin: () => string | null;
}

const RATE_WINDOW_SECONDS = 60;

/** Returns the caller by the credentials of the request. @throws AppError like `identify` */
export async function identifyRequest(
  { credentials, sessionCookie }: AdmissionOptions,
  endpoint: Endpoint,
  request: FastifyRequest,
): Promise<Caller> {
  const { cookie: cookies } = request.headers;
  const input = {
    authorization: request.headers.authorization,
    cookie: cookies === undefined ? undefined : parseCookie(cookies)[sessionCookie],
    projectHeader: readHeader(request, "x-project-id"),
    pathProject: (request.params as { projectId?: string }).projectId,
    ip: request.ip,
  };
  return identify(endpoint.caller, input, credentials);
}

/** Checks the credentials and the rate limit before the body is read. */
export async function admit(
  options: AdmissionOptions,
  endpoint: Endpoint,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<void> {
  request.caller = await identifyOrCountFailure(options, endpoint, request);
  if (request.caller.userId !== null) refuseForeignOrigin(options, endpoint, request);
  const bucket = bucketOf(request.caller);
  if (bucket === null || options.requestsPerMinute === 0) return;
  const taken = await takeOne(options, bucket, options.requestsPerMinute);
  reply.headers({
    "ratelimit-limit": taken.limit,
    "ratelimit-remaining": taken.remaining,
    "ratelimit-reset": taken.resetSeconds,
  });
  if (!taken.allowed) throw new AppError("RATE_LIMIT_EXCEEDED", { retryAfterSeconds: taken.resetSeconds });
}

/**
 * Counts more requests of an admitted caller, and returns them if they exceed the limit, because none of them is served.
 * @throws AppError RATE_LIMIT_EXCEEDED
 */
export async function countMore(
  { rateLimiter, requestsPerMinute: limit }: AdmissionOptions,
  caller: Caller,
  more: number,
  reply: FastifyReply,
): Promise<void> {
  const bucket = bucketOf(caller);
  if (bucket === null || limit === 0 || more === 0) return;
  const take = { bucket, limit, windowSeconds: RATE_WINDOW_SECONDS, amount: more };
  const taken = await rateLimiter.take(take);
  if (!taken.allowed) {
    await rateLimiter.giveBack(take);
    throw new AppError("RATE_LIMIT_EXCEEDED", {
      ...withValues("This call counts as {asked} requests, and the limit is {limit} per minute.", {
        asked: more + 1,
        limit,
      }),
      retryAfterSeconds: taken.resetSeconds,
    });
  }
  reply.headers({ "ratelimit-remaining": taken.remaining, "ratelimit-reset": taken.resetSeconds });
}

/** Returns the rate limit bucket, which is the project for keys and the user for sessions regardless of the project. */
function bucketOf({ byKey, projectId, userId }: Caller): string | null {
  if (byKey) return ofProject(projectId);
  return userId === null ? null : `user:${userId}`;
}

function takeOne({ rateLimiter }: RateOptions, bucket: string, limit: number): Promise<Taken> {
  return rateLimiter.take({ bucket, limit, windowSeconds: RATE_WINDOW_SECONDS });
}

/** Returns the caller and counts invalid credentials by the network they come from. */
async function identifyOrCountFailure(
  options: AdmissionOptions,
  endpoint: Endpoint,
  request: FastifyRequest,
): Promise<Caller> {
  try {
    return await identifyRequest(options, endpoint, request);
  } catch (error) {
    const isFailure =
      error instanceof AppError && ERRORS[error.code].status === 401 && error.code !== "MISSING_AUTH";
    if (isFailure) await countFailure(options, request.ip);
    throw error;
  }
}

/**
 * Counts invalid credentials by the network they come from.
 * @throws AppError RATE_LIMIT_EXCEEDED
 */
export async function countFailure(options: RateOptions, ip: string): Promise<void> {
  if (options.requestsPerMinute === 0) return;
  const { allowed, resetSeconds } = await takeOne(
    options,
    `failed:${networkOf(ip)}`,
    LIMITS.failedKeys.value,
  );
  if (!allowed)
    throw new AppError("RATE_LIMIT_EXCEEDED", {
      message: "Too many requests with invalid keys or sessions.",
      retryAfterSeconds: resetSeconds,
    });
}

/**
 * Counts one request of a project by key.
 * @throws AppError RATE_LIMIT_EXCEEDED
 */
export async function countOfProject(options: RateOptions, projectId: string): Promise<void> {
  if (options.requestsPerMinute === 0) return;
  const taken = await takeOne(options, ofProject(projectId), options.requestsPerMinute);
  if (!taken.allowed) throw new AppError("RATE_LIMIT_EXCEEDED", { retryAfterSeconds: taken.resetSeconds });
}

const ofProject = (projectId: string | null) => `project:${projectId}`;

/** Rejects requests from pages of other sites, which must not act with our cookie (reliability case S8). */
function refuseForeignOrigin(options: AdmissionOptions, endpoint: Endpoint, request: FastifyRequest): void {
  if (endpoint.method === "GET" && endpoint.isRead) return;
  const site = readHeader(request, "sec-fetch-site");
  const origin = request.headers.origin;
  const own = [options.origin(), `${request.protocol}://${request.headers.host ?? ""}`];
  if (
    (site !== undefined && site !== "same-origin" && site !== "none") ||
    (origin !== undefined && !own.includes(origin))
  )
    throw new AppError("FORBIDDEN", { message: "Pages of other sites may not use your session." });
}
