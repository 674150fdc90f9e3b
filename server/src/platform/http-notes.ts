// What log and metrics get to know of each request: which route, who, how it was answered and how long that took; never its path, which may
// hold a token.
// Before it: http.ts answered. After it: nothing.
import type { FastifyReply, FastifyRequest } from "fastify";
import type { Log } from "./log.ts";
import type { Metrics } from "./metrics.ts";

/** Asked every few seconds by machines: a line each would bury the others. */
const QUIET_ROUTES = new Set(["/health", "/ready", "/metrics"]);

/** Counts a request and writes its line. */
export function noteRequest(
  { log, metrics }: { log: Log; metrics: Metrics },
  request: FastifyRequest,
  reply: FastifyReply,
): void {
  const ms = performance.now() - request.startedAtMs;
  const route = request.routeOptions.url ?? "unknown";
  const { method, refusalCode } = request;
  metrics.httpSeconds.observe({ method, route, status: reply.statusCode }, ms / 1000);
  log[QUIET_ROUTES.has(route) ? "debug" : "info"](
    {
      method,
      route,
      status: reply.statusCode,
      ...(refusalCode === "" ? {} : { code: refusalCode }),
      ms: Math.round(ms * 10) / 10,
      requestId: request.id,
      ...(request.caller.projectId === null ? {} : { projectId: request.caller.projectId }),
    },
    "request",
  );
}
