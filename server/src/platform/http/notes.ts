// Records the route, caller, status and duration of each request in log and metrics. Never records the path, which may contain a token.
import type { FastifyReply, FastifyRequest } from "fastify";
import type { Log } from "../log.ts";
import type { Metrics } from "../metrics.ts";

export interface Noting {
  log: Log;
  metrics: Metrics;
  /** Called for each request that used a key. */
  onResponded?: (request: RespondedRequest) => void;
}

/** Machines request these every few seconds, so logging each request would bury the other lines. */
const QUIET_ROUTES = new Set(["/health", "/ready", "/metrics"]);

/** A request that used a key, as its project can view it later. */
export interface RespondedRequest {
  projectId: string;
  /** `secret`, `public`, or the id of a scoped key. */
  key: string;
  requestId: string;
  method: string;
  /** Without the part after `?`. */
  path: string;
  route: string;
  status: number;
  errorCode: string | null;
  durationMs: number;
  ip: string | undefined;
  userAgent: string | undefined;
  /** As received; empty if it was not read as JSON. */
  body: Buffer;
  /** The JSON response, or null for a longer or other one. */
  response: string | null;
}

/** Longer responses are lists, which say little about a request. */
const MAX_RESPONSE_LENGTH = 16_384;

/** Keeps a short JSON response of a request with a key for its log. */
export function keepResponse(request: FastifyRequest, reply: FastifyReply, payload: unknown): void {
  if (request.caller.key === null || typeof payload !== "string" || payload.length > MAX_RESPONSE_LENGTH)
    return;
  if (String(reply.getHeader("content-type")).startsWith("application/json")) request.sentJson = payload;
}

/** Counts a request and logs it. */
export function recordRequest(
  { log, metrics, onResponded }: Noting,
  request: FastifyRequest,
  reply: FastifyReply,
): void {
  const ms = performance.now() - request.startedAtMs;
  const route = request.routeOptions.url ?? "unknown";
  const { method, errorCode } = request;
  metrics.httpSeconds.observe({ method, route, status: reply.statusCode }, ms / 1000);
  log[QUIET_ROUTES.has(route) ? "debug" : "info"](
    {
      method,
      route,
      status: reply.statusCode,
      ...(errorCode === "" ? {} : { code: errorCode }),
      ms: Math.round(ms * 10) / 10,
      requestId: request.id,
      ...(request.caller.projectId === null ? {} : { projectId: request.caller.projectId }),
    },
    "request",
  );
  const { key, projectId } = request.caller;
  if (onResponded === undefined || key === null || projectId === null) return;
  onResponded({
    projectId,
    key,
    requestId: request.id,
    method,
    path: request.url.split("?")[0] ?? "",
    route,
    status: reply.statusCode,
    errorCode: errorCode === "" ? null : errorCode,
    durationMs: ms,
    ip: request.ip,
    userAgent: request.headers["user-agent"],
    body: Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0),
    response: request.sentJson === "" ? null : request.sentJson,
  });
}
