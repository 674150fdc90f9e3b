// HTTP server of a process without the role `api`: only `/health`, `/ready` and `/metrics`. Runs without Fastify, because a process that
// only sends doesn't load what it doesn't need.
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { ERRORS } from "@postloft/contract/errors.ts";
import type { Database } from "../platform/database/database.ts";
import { asAppError, errorEnvelope } from "../platform/http/errors.ts";
import { ASK_FOR_TOKEN, refuseAccess, type Access } from "../platform/http/guards.ts";
import { newId } from "../platform/ids.ts";
import type { Log } from "../platform/log.ts";
import type { Metrics } from "../platform/metrics.ts";
import { AppError } from "../platform/app-error.ts";
import { responseHealth, responseReady } from "./health.ts";

export interface StatusServerOptions {
  host: string;
  /** null: the default port, or any free one if it is taken. */
  port: number | null;
  metricsAccess: Access;
  trustsProxies: boolean;
  /** Origin of the service with the documentation; null if unknown. */
  origin: () => string | null;
  database: Database;
  /** Folder of the embedded database; null if the database runs elsewhere. */
  dataDir: string | null;
  metrics: Metrics;
  log: Log;
}

export interface StatusServer {
  url: string;
  stop(): Promise<void>;
}

const USUAL_PORT = 3001;
const MAX_CONNECTIONS = 100;
const REQUEST_TIMEOUT_MS = 10_000;

interface StatusReply {
  status: number;
  type: string;
  text: string;
}

/**
 * Starts the server.
 * @throws the system's error if it can't listen on the given port
 */
export async function openStatusServer(options: StatusServerOptions): Promise<StatusServer> {
  const { host, port } = options;
  const server = createServer((request, response) => void respond(options, request, response));
  server.maxConnections = MAX_CONNECTIONS;
  server.requestTimeout = REQUEST_TIMEOUT_MS;
  const listen = (at: number) =>
    new Promise<void>((resolve, reject) => {
      server.once("error", reject);
      server.listen(at, host, () => {
        server.off("error", reject);
        resolve();
      });
    });
  await listen(port ?? USUAL_PORT).catch((error: NodeJS.ErrnoException) => {
    // Several processes on one machine then need no setting.
    if (port !== null || error.code !== "EADDRINUSE") throw error;
    return listen(0);
  });
  return {
    url: `http://${host}:${(server.address() as AddressInfo).port}`,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** Answers a request. Never throws. */
async function respond(
  options: StatusServerOptions,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const requestId = newId();
  const headers: Record<string, string> = {
    "x-request-id": requestId,
    "x-content-type-options": "nosniff",
    "cache-control": "no-store",
  };
  let reply: StatusReply;
  try {
    reply = await read(options, request);
  } catch (error) {
    const appError = asAppError(error) ?? new AppError("INTERNAL_SERVER_ERROR");
    const { status } = ERRORS[appError.code];
    if (status >= 500) options.log.error({ err: error, requestId }, "status request failed");
    if (status === 401) headers["www-authenticate"] = ASK_FOR_TOKEN;
    if (status === 405) headers["allow"] = "GET, HEAD";
    reply = asJson(status, errorEnvelope(appError, requestId, options.origin()));
  }
  request.resume();
  response.writeHead(reply.status, { ...headers, "content-type": reply.type });
  response.end(request.method === "HEAD" ? undefined : reply.text);
}

async function read(options: StatusServerOptions, request: IncomingMessage): Promise<StatusReply> {
  const { database, dataDir, metrics, metricsAccess } = options;
  const [path] = (request.url ?? "").split("?");
  if (path !== "/health" && path !== "/ready" && path !== "/metrics")
    throw new AppError("RESOURCE_NOT_FOUND");
  if (request.method !== "GET" && request.method !== "HEAD") throw new AppError("METHOD_NOT_ALLOWED");
  if (path === "/health") return asJson(200, responseHealth());
  if (path === "/ready") {
    const { status, body } = await responseReady(database, dataDir);
    return asJson(status, body);
  }
  const appError = refuseAccess(
    { access: metricsAccess, setting: "METRICS_ACCESS" },
    {
      headers: request.headers,
      address: request.socket.remoteAddress ?? "",
      trustsProxies: options.trustsProxies,
    },
  );
  if (appError !== null) throw appError;
  return { status: 200, type: metrics.registry.contentType, text: await metrics.registry.metrics() };
}

function asJson(status: number, body: unknown): StatusReply {
  return { status, type: "application/json; charset=utf-8", text: JSON.stringify(body) };
}
