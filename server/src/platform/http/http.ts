// Builds the HTTP server with Fastify. Every endpoint runs its checks in one order: key → rate limit → shape → rights → route.
import type { Socket } from "node:net";
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from "fastify";
import type { Endpoint } from "@postloft/contract/endpoint.ts";
import { ERRORS } from "@postloft/contract/errors.ts";
import { formatBytes, LIMITS } from "@postloft/contract/limits/limits.ts";
import { withValues } from "@postloft/contract/translation.ts";
import type { Sealer } from "../crypto.ts";
import type { ConstraintErrors } from "../database/constraint-errors.ts";
import type { Database } from "../database/database.ts";
import { countServed, responseRequest, type ResponseOptions } from "./response.ts";
import { admit, countMore, identifyRequest, type AdmissionOptions } from "./admission.ts";
import { NO_ONE, type Caller } from "./caller.ts";
import { drainBeforeReply } from "./drain.ts";
import { asAppError, errorEnvelope, messageOfFields } from "./errors.ts";
import { FORM_TYPES, readForm, readUpload, UPLOAD_TYPES } from "./form.ts";
import { createGuards, type GuardOptions } from "./guards.ts";
import { nearestPath } from "./guesses.ts";
import { keepResponse, recordRequest, type Noting } from "./notes.ts";
import { createKeyTurns } from "./idempotency.ts";
import { createPace } from "./pace.ts";
import { safetyHeaders } from "./safety-headers.ts";
import { plainPath } from "./paths.ts";
import type { Route } from "./route.ts";
import { newId } from "../ids.ts";
import { AppError } from "../app-error.ts";

export interface HttpOptions extends AdmissionOptions, Noting {
  database: Database;
  sealer: Sealer;
  /** Addresses, ranges or names of ranges of proxies with a trusted X-Forwarded-For header. */
  trustedProxies: readonly string[];
  /** Who may see the pages of the installation. Default: anyone. */
  access?: GuardOptions["access"];
  /** Returns why a request does not belong on its host, or null. Default: every host serves everything. */
  checkHost?: GuardOptions["checkHost"];
  /** The errors for violated constraints. Default: none. */
  constraintErrors?: ConstraintErrors;
}

declare module "fastify" {
  interface FastifyRequest {
    caller: Caller;
    startedAtMs: number;
    /** The error code of the response; empty if there was no error. */
    errorCode: string;
    /** A short JSON response, for the request log. */
    sentJson: string;
    /** Ends counting the request as being served. A stream that stays open is not counted. */
    endCount: () => void;
  }
}

const REQUEST_TIMEOUT_MS = 120_000;
/** A link that an email client merged with the following words still reaches its page, which explains the problem. */
const MAX_PATH_PARAMETER_LENGTH = 1_000;
/** More parts than any of our paths has. */
const MAX_PATH_PARTS = 50;
const TEXT_JSON_TYPES = ["text/plain", "application/json"];
const REQUEST_ID = /^[A-Za-z0-9._:-]{1,128}$/;

/** How long an active connection may delay the stop, and how often idle ones are closed. */
const CLOSE_TIMES = { patienceMs: 10_000, pollMs: 100 };

/**
 * Accepts no new connections, responds to open requests and closes idle connections. Cuts connections that never send a request or never
 * end when the patience is over, because otherwise the process would be killed.
 */
export async function closeHttp(app: FastifyInstance, times = CLOSE_TIMES): Promise<void> {
  const looking = setInterval(() => app.server.closeIdleConnections(), times.pollMs);
  const cutting = setTimeout(() => app.server.closeAllConnections(), times.patienceMs);
  try {
    await app.close();
  } finally {
    clearInterval(looking);
    clearTimeout(cutting);
  }
}

export async function createHttp(options: HttpOptions, routes: readonly Route[]): Promise<FastifyInstance> {
  const app = Fastify({
    bodyLimit: LIMITS.bodyBytes.value,
    requestTimeout: REQUEST_TIMEOUT_MS,
    trustProxy: options.trustedProxies.length > 0 && [...options.trustedProxies],
    forceCloseConnections: "idle",
    // While the server stops, requests on open connections are served as usual and then the connection is closed.
    return503OnClosing: false,
    genReqId: (request) => {
      const input = request.headers["x-request-id"];
      return typeof input === "string" && REQUEST_ID.test(input) ? input : newId();
    },
    rewriteUrl: (request) => plainPath(request.url ?? "/"),
    // A path that cannot be decoded never reaches a hook or the error handler.
    frameworkErrors: (error, request, reply) =>
      void sendFailure(options, error, request, reply.headers(safetyHeaders(request.id))),
    clientErrorHandler: (error, socket) => refuseBytes(error, socket, options.origin()),
    routerOptions: {
      ignoreTrailingSlash: true,
      ignoreDuplicateSlashes: true,
      maxParamLength: MAX_PATH_PARAMETER_LENGTH,
    },
  });
  app.removeAllContentTypeParsers();
  app.addContentTypeParser("application/json", { parseAs: "buffer" }, (_request, body, done) =>
    done(null, body),
  );
  for (const name of ["caller", "startedAtMs", "errorCode", "sentJson", "endCount"] as const)
    app.decorateRequest(name);
  const guard = createGuards({ access: [], ...options, trustsProxies: options.trustedProxies.length > 0 });
  // Uses callbacks because an async hook would cost every request a turn of the microtask queue.
  app.addHook("onRequest", (request, reply, done) => {
    request.caller = NO_ONE;
    request.startedAtMs = performance.now();
    request.errorCode = "";
    request.sentJson = "";
    countServed(request, reply);
    reply.headers(safetyHeaders(request.id, options.origin()));
    done(guard(request, reply) ?? undefined);
  });
  addEndHooks(app, options);
  app.setErrorHandler(async (error, request, reply) => sendFailure(options, error, request, reply));
  app.setNotFoundHandler(async (request, reply) => {
    const methods = methodsOf(routes, request.url);
    if (methods.length === 0) throw pathNotFound(routes, request.url);
    reply.header("allow", methods.join(", "));
    throw new AppError("METHOD_NOT_ALLOWED");
  });
  const responding: Responding = {
    ...options,
    pace: createPace(),
    keyTurns: createKeyTurns(),
    identify: (endpoint, request) => identifyRequest(options, endpoint, request),
    countMore: (caller, more, reply) => countMore(options, caller, more, reply),
  };
  for (const one of routes) {
    if (one.endpoint.envelope === "page") addFormRoute(app, responding, one, FORM_TYPES, readForm);
    else if (one.endpoint.bodyKind === "upload") addFormRoute(app, responding, one, UPLOAD_TYPES, readUpload);
    else if (one.endpoint.bodyKind === "text-json")
      addFormRoute(app, responding, one, TEXT_JSON_TYPES, async (bytes) => bytes);
    else addRoute(app, responding, one);
  }
  return app;
}

function addEndHooks(app: FastifyInstance, options: HttpOptions): void {
  app.addHook("onSend", (request, reply, payload, done) => {
    request.endCount();
    keepResponse(request, reply, payload);
    done();
  });
  app.addHook("onResponse", (request, reply, done) => {
    recordRequest(options, request, reply);
    done();
  });
}

type Responding = HttpOptions & ResponseOptions;

function addRoute(app: FastifyInstance, options: Responding, { endpoint, handle }: Route): void {
  const openToBrowsers = endpoint.caller === "tracker";
  app.route({
    method: endpoint.method,
    url: endpoint.path,
    ...(endpoint.bodyLimitBytes === null ? {} : { bodyLimit: endpoint.bodyLimitBytes }),
    onRequest: async (request, reply) => {
      if (openToBrowsers) reply.header("access-control-allow-origin", "*");
      await admit(options, endpoint, request, reply);
    },
    handler: async (request, reply) =>
      responseRequest(options, { endpoint, handle }, request.caller, request, reply),
  });
  if (openToBrowsers)
    app.options(endpoint.path, async (_request, reply) =>
      reply
        .code(204)
        .headers({
          "access-control-allow-origin": "*",
          "access-control-allow-methods": endpoint.method,
          "access-control-allow-headers": "Authorization, Content-Type, Idempotency-Key, X-Request-ID",
          "access-control-max-age": "86400",
        })
        .send(),
    );
}

/** Registers a form route in its own scope, because no other route reads forms and this one reads nothing else. */
function addFormRoute(
  app: FastifyInstance,
  options: Responding,
  route: Route,
  types: string[],
  read: (bytes: Buffer, contentType: string) => Promise<object>,
): void {
  app.register(async (scope) => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser(types, { parseAs: "buffer" }, async (request: FastifyRequest, body: Buffer) =>
      read(body, request.headers["content-type"] ?? ""),
    );
    addRoute(scope, options, route);
  });
}

async function sendFailure(
  options: HttpOptions,
  error: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const refused = withLimit(
    asAppError(error, options.constraintErrors) ?? new AppError("INTERNAL_SERVER_ERROR"),
    request,
  );
  const appError = request.caller?.userId === null ? withFields(refused) : refused;
  request.errorCode = appError.code;
  if (ERRORS[appError.code].status >= 500)
    options.log.error(
      { err: error, requestId: request.id, method: request.method, route: request.routeOptions.url },
      "request failed",
    );
  if (appError.retryAfterSeconds !== null) reply.header("retry-after", appError.retryAfterSeconds);
  if (appError.code === "PAYLOAD_TOO_LARGE") await drainBeforeReply(request, reply);
  return reply
    .code(ERRORS[appError.code].status)
    .header("content-type", "application/json; charset=utf-8")
    .send(JSON.stringify(errorEnvelope(appError, request.id, options.origin())));
}

/** Names the invalid fields in the message. The dashboard shows them at its inputs and has a translation of the usual message. */
function withFields(appError: AppError): AppError {
  const { code, message, fields } = appError;
  if (code !== "VALIDATION_ERROR" || fields === null || fields.length === 0) return appError;
  if (message !== ERRORS[code].message) return appError;
  return new AppError(code, { message: messageOfFields(fields), fields });
}

/** Adds the allowed size to the error about a body that is too large. */
function withLimit(appError: AppError, { routeOptions }: FastifyRequest): AppError {
  const { code, message } = appError;
  if (code !== "PAYLOAD_TOO_LARGE" || message !== ERRORS[code].message) return appError;
  const limit = formatBytes(routeOptions.bodyLimit ?? LIMITS.bodyBytes.value);
  return new AppError(
    code,
    withValues("The body exceeds the limit of {limit} for this endpoint.", { limit }),
  );
}

/** Responds to invalid HTTP or endless headers and ends the connection, because there is no request to handle. */
function refuseBytes(error: Error & { code?: string }, socket: Socket, origin: string | null): void {
  if (error.code === "ECONNRESET" || !socket.writable) return void socket.destroy();
  const id = newId();
  const body = JSON.stringify(errorEnvelope(new AppError("BAD_REQUEST"), id, origin));
  const headers = {
    ...safetyHeaders(id),
    "content-type": "application/json; charset=utf-8",
    "content-length": Buffer.byteLength(body),
    connection: "close",
  };
  const head = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.end(`HTTP/1.1 400 Bad Request\r\n${head.join("")}\r\n${body}`);
  socket.destroySoon();
}

function pathNotFound(routes: readonly Route[], url: string): AppError {
  const path = url.split("?")[0] ?? "";
  const near = nearestPath(
    routes.map(({ endpoint }) => endpoint),
    path,
  );
  const details = near === null ? {} : withValues("This path does not exist. Did you mean {near}?", { near });
  return new AppError("RESOURCE_NOT_FOUND", details);
}

/** Returns the methods of the path in a URL. For `/contacts/lookup` these are its own methods, not those of `/contacts/:id`. */
function methodsOf(routes: readonly Route[], url: string): string[] {
  // A path with endless slashes is not ours, so the rest is not split.
  const path = (url.split("?")[0] ?? "").split("/", MAX_PATH_PARTS);
  while (path.length > 1 && path.at(-1) === "") path.pop();
  const fitting = routes
    .map(({ endpoint }) => endpoint)
    .filter((endpoint) => {
      const own = endpoint.path.split("/");
      return own.length === path.length && own.every((part, at) => part.startsWith(":") || part === path[at]);
    });
  const most = Math.max(...fitting.map(countWords));
  const methods: string[] = fitting.filter((one) => countWords(one) === most).map(({ method }) => method);
  return methods.flatMap((method) => (method === "GET" ? [method, "HEAD"] : [method]));
}

/** Returns how many parts of a path are not parameters. */
function countWords({ path }: Endpoint): number {
  return path.split("/").filter((part) => !part.startsWith(":")).length;
}
