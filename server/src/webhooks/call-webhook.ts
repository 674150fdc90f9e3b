// Makes one HTTP call to a user's endpoint. Checks every address that DNS returns, and connects only to these addresses.
// docs/decisions/0039-outgoing-webhooks.md explains why it uses node:http instead of fetch.
import { request as httpRequest, type ClientRequest, type IncomingMessage } from "node:http";
import { request as httpsRequest } from "node:https";
import { isIP, type LookupFunction } from "node:net";
import type { Readable } from "node:stream";
import { createBrotliDecompress, createGunzip, createInflate } from "node:zlib";
import { LIMITS } from "@postloft/contract/limits/limits.ts";
import { recordedReason } from "@postloft/contract/recorded-reasons.ts";
import { nowMs } from "../platform/clock.ts";
import type { Dns } from "../platform/dns.ts";
import { checkWebhookHeaders, checkWebhookUrl, hostOf, type WebhookMethod } from "./check-webhook.ts";
import { AddressError, findAddresses } from "./find-addresses.ts";
import type { CallTargets } from "./networks.ts";
import { parseRetryAfter } from "./rules.ts";

export interface WebhookRequest {
  url: string;
  method: WebhookMethod;
  headers: Readonly<Record<string, string>>;
  /** Not sent with GET. */
  body: string | null;
}

/** The result of one attempt. */
export interface WebhookAttempt {
  /** Null if there was no response. */
  status: number | null;
  /** The first 64 KB of the response, decompressed, as UTF-8. Null if there was none. */
  body: string | null;
  /** Whether the response was longer or could not be decompressed. */
  isCut: boolean;
  /** Seconds to wait, from `Retry-After`. */
  askedSeconds: number | null;
  /** Why it counts as failed. Null for a complete response with 2xx. */
  error: string | null;
}

/** Makes one attempt. Never throws. */
export type CallWebhook = (request: WebhookRequest) => Promise<WebhookAttempt>;

export interface CallerOptions {
  dns: Pick<Dns, "records">;
  /** Targets that the instance admin allows (WEBHOOK_ALLOW_PRIVATE, WEBHOOK_ALLOW_PORTS). */
  targets: CallTargets;
  /** Total timeout for DNS, connection and response. 10 s by default. */
  timeoutMs?: number;
  /** The longest wait that `Retry-After` can ask for. That of workflows by default. */
  longestWaitSeconds?: number;
  /** Certificate authorities in PEM. Those of Node.js by default. */
  authorities?: string;
}

const MAX_ERROR_LENGTH = 500;
const USER_AGENT = "Postloft";

/** An error of a call with a message for the user. */
class CallError extends Error {}

export function createWebhookCaller(options: CallerOptions): CallWebhook {
  const { timeoutMs = LIMITS.webhookMs.value } = options;
  return async (request) => {
    const deadline = new AbortController();
    const timer = setTimeout(() => deadline.abort(), timeoutMs);
    const progress: { status: number | null } = { status: null };
    try {
      return await call(request, options, deadline.signal, progress);
    } catch (error) {
      const reason = deadline.signal.aborted ? timeoutMessage(progress.status, timeoutMs) : reasonOf(error);
      return { status: progress.status, body: null, isCut: false, askedSeconds: null, error: reason };
    } finally {
      clearTimeout(timer);
    }
  };
}

async function call(
  request: WebhookRequest,
  options: CallerOptions,
  signal: AbortSignal,
  progress: { status: number | null },
): Promise<WebhookAttempt> {
  // The call may have been saved under other rules.
  const fault = checkWebhookUrl(request.url, options.targets) ?? checkWebhookHeaders(givenBy(request))[0];
  if (fault !== undefined) throw new CallError(fault.message);
  const url = new URL(request.url);
  const { dns, targets } = options;
  const addresses = await within(signal, findAddresses(hostOf(url), { dns, networks: targets.networks }));
  const sent = send(url, request, { addresses, signal, authorities: options.authorities });
  try {
    const response = await responseTo(sent);
    const status = response.statusCode ?? 0;
    progress.status = status;
    const { body, isCut } = await readBody(response);
    return {
      status,
      body,
      isCut,
      askedSeconds: parseRetryAfter(response.headers["retry-after"], nowMs(), options.longestWaitSeconds),
      error: errorOf(status, response.headers.location),
    };
  } finally {
    sent.destroy();
  }
}

/** Returns the headers without those of the signature, which users cannot set. */
function givenBy({ headers }: WebhookRequest): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !/^webhook-/i.test(name)));
}

function send(
  url: URL,
  { method, headers, body }: WebhookRequest,
  connection: { addresses: readonly string[]; signal: AbortSignal; authorities: string | undefined },
): ClientRequest {
  const { addresses, signal, authorities } = connection;
  const content = method === "GET" ? null : body;
  const sent = (url.protocol === "https:" ? httpsRequest : httpRequest)({
    method,
    host: hostOf(url),
    ...(url.port === "" ? {} : { port: Number(url.port) }),
    path: `${url.pathname}${url.search}`,
    headers: {
      "user-agent": USER_AGENT,
      accept: "*/*",
      "accept-encoding": "identity",
      ...(content === null ? {} : { "content-type": "application/json" }),
      ...Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value])),
      host: url.host,
      ...(content === null ? {} : { "content-length": Buffer.byteLength(content) }),
    },
    // Uses a separate connection that is closed afterwards, and no proxy from the environment.
    agent: false,
    lookup: lookupIn(addresses),
    signal,
    ...(authorities === undefined ? {} : { ca: authorities }),
  });
  sent.end(content ?? undefined);
  return sent;
}

/** Returns a lookup function that only knows the checked addresses. */
function lookupIn(addresses: readonly string[]): LookupFunction {
  const known = addresses.map((address) => ({ address, family: isIP(address) }));
  return (_host, { all }, callback) => {
    if (all === true) callback(null, known);
    else callback(null, known[0]?.address ?? "", known[0]?.family);
  };
}

async function responseTo(sent: ClientRequest): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    sent.once("response", resolve);
    // Stays registered. Later errors are also reported by the response, and must not crash the process here.
    sent.on("error", reject);
  });
}

async function readBody(response: IncomingMessage): Promise<{ body: string; isCut: boolean }> {
  const { value: maximum } = LIMITS.webhookAnswerBytes;
  const parts: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const part of unpacked(response)) {
      parts.push(part as Buffer);
      bytes += (part as Buffer).length;
      if (bytes > maximum) break;
    }
  } catch (error) {
    if (!isPackingError(error)) throw error;
    return { body: "", isCut: true };
  }
  const body = Buffer.concat(parts).subarray(0, maximum).toString("utf8");
  // PostgreSQL cannot store NUL.
  return { body: body.replaceAll("\u0000", "\uFFFD"), isCut: bytes > maximum };
}

/** Decompresses, because some servers ignore `accept-encoding: identity`. */
function unpacked(response: IncomingMessage): Readable {
  const unpack = {
    gzip: createGunzip,
    "x-gzip": createGunzip,
    deflate: createInflate,
    br: createBrotliDecompress,
  }[(response.headers["content-encoding"] ?? "").toLowerCase()];
  if (unpack === undefined) return response;
  const unpacker = unpack();
  response.on("error", (error) => unpacker.destroy(error));
  return response.pipe(unpacker);
}

function isPackingError(error: unknown): boolean {
  const code: unknown = (error as { code?: unknown }).code;
  return typeof code === "string" && /^(Z_|ERR__ERROR_FORMAT|ERR_BROTLI)/.test(code);
}

/** Returns why a response with this status is a failure, or null for 2xx. */
function errorOf(status: number, location: string | undefined): string | null {
  if (status >= 200 && status <= 299) return null;
  if (status >= 300 && status <= 399 && location !== undefined)
    return recordedReason("redirected", { status });
  return recordedReason("responded", { status });
}

function timeoutMessage(status: number | null, timeoutMs: number): string {
  const seconds = timeoutMs / 1000;
  return status === null
    ? recordedReason("noResponse", { seconds })
    : recordedReason("responseTooSlow", { status, seconds });
}

function reasonOf(error: unknown): string {
  if (error instanceof CallError || error instanceof AddressError) return error.message;
  const code: unknown = (error as { code?: unknown }).code;
  const message = error instanceof Error && error.message !== "" ? error.message : String(code);
  return recordedReason("callFailed", { message }).replaceAll("\u0000", "").slice(0, MAX_ERROR_LENGTH);
}

/** Stops waiting for work that cannot be cancelled when the signal aborts. The work continues in the background. */
async function within<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
  const aborted = Promise.withResolvers<never>();
  const abort = () => aborted.reject(new CallError("The call timed out."));
  signal.addEventListener("abort", abort, { once: true });
  return Promise.race([work, aborted.promise]).finally(() => signal.removeEventListener("abort", abort));
}
