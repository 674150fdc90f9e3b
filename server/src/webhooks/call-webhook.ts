// One HTTP call to an endpoint of a user, through the guard: every address that DNS names is checked, and the connection goes to one of
// those and no other. Why node:http and not fetch: docs/decisions/0039-outgoing-webhooks.md.
import { request as httpRequest, type ClientRequest, type IncomingMessage } from "node:http";
import { request as httpsRequest } from "node:https";
import { isIP, type LookupFunction } from "node:net";
import type { Readable } from "node:stream";
import { createBrotliDecompress, createGunzip, createInflate } from "node:zlib";
import { LIMITS } from "@postloft/contract/limits/limits.ts";
import { nowMs } from "../platform/clock.ts";
import type { Dns } from "../platform/dns.ts";
import { checkWebhookHeaders, checkWebhookUrl, hostOf, type WebhookMethod } from "./check-webhook.ts";
import { mayCall, type CallTargets } from "./networks.ts";
import { askedWait } from "./rules.ts";

export interface WebhookRequest {
  url: string;
  method: WebhookMethod;
  headers: Readonly<Record<string, string>>;
  /** Not sent with GET. */
  body: string | null;
}

/** How one try ended. */
export interface WebhookTry {
  /** null: no answer came. */
  status: number | null;
  /** The first 64 KB of the answer, unpacked, as UTF-8; null where none came. */
  body: string | null;
  /** There was more of it, or it could not be unpacked. */
  isCut: boolean;
  /** Seconds the endpoint asked to be left alone (`Retry-After`). */
  askedSeconds: number | null;
  /** Why it counts as failed; null: a whole answer with 2xx came. */
  error: string | null;
}

/** One try. Never throws. */
export type CallWebhook = (request: WebhookRequest) => Promise<WebhookTry>;

export interface CallerOptions {
  dns: Pick<Dns, "records">;
  /** What the operator allows (WEBHOOK_ALLOW_PRIVATE, WEBHOOK_ALLOW_PORTS). */
  targets: CallTargets;
  /** For everything: DNS, connection, answer. Default 10 s. */
  timeoutMs?: number;
  /** Certificate authorities in PEM. Default: those of Node.js. */
  authorities?: string;
}

const MAX_ERROR_LENGTH = 500;
const USER_AGENT = "Postloft";

/** What a user is told as it is. */
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
      const reason = deadline.signal.aborted ? tooLate(progress.status, timeoutMs) : reasonOf(error);
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
): Promise<WebhookTry> {
  // Whoever saved it may have done so under other rules.
  const fault = checkWebhookUrl(request.url, options.targets) ?? checkWebhookHeaders(givenBy(request))[0];
  if (fault !== undefined) throw new CallError(fault.message);
  const url = new URL(request.url);
  const addresses = await within(signal, findAddresses(hostOf(url), options));
  const sent = send(url, request, { addresses, signal, authorities: options.authorities });
  try {
    const response = await answerTo(sent);
    const status = response.statusCode ?? 0;
    progress.status = status;
    const { body, isCut } = await readBody(response);
    return {
      status,
      body,
      isCut,
      askedSeconds: askedWait(response.headers["retry-after"], nowMs()),
      error: errorOf(status, response.headers.location),
    };
  } finally {
    sent.destroy();
  }
}

/** Without those that the signature adds, which nobody else may give. */
function givenBy({ headers }: WebhookRequest): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !/^webhook-/i.test(name)));
}

/**
 * Asked once; the connection uses this answer. One address that may not be called spoils the others: whoever mixes them
 * wants to see which one is taken.
 */
async function findAddresses(host: string, { dns, targets }: CallerOptions): Promise<string[]> {
  if (isIP(host) !== 0) return [host];
  const answers = await Promise.all([dns.records(host, "A"), dns.records(host, "AAAA")]);
  const addresses = answers.flatMap((answer) => (answer.kind === "records" ? answer.records : []));
  if (addresses.length === 0)
    throw new CallError(
      answers.some(({ kind }) => kind === "unanswered")
        ? `DNS did not say where ${host} is.`
        : `DNS knows no address of ${host}.`,
    );
  // Which address it was would tell about a network that is not the user's.
  if (!addresses.every((address) => mayCall(address, targets.networks)))
    throw new CallError(`${host} leads to an address that is not of the public internet.`);
  return addresses;
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
    // A connection of its own, closed afterwards; no proxy of the environment.
    agent: false,
    lookup: lookupIn(addresses),
    signal,
    ...(authorities === undefined ? {} : { ca: authorities }),
  });
  sent.end(content ?? undefined);
  return sent;
}

/** In the place of a resolver: knows the checked addresses and asks nobody. */
function lookupIn(addresses: readonly string[]): LookupFunction {
  const known = addresses.map((address) => ({ address, family: isIP(address) }));
  return (_host, { all }, callback) => {
    if (all === true) callback(null, known);
    else callback(null, known[0]?.address ?? "", known[0]?.family);
  };
}

async function answerTo(sent: ClientRequest): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    sent.once("response", resolve);
    // Not once: what breaks later is heard of the answer, and must not end the process here.
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
  // PostgreSQL stores no NUL.
  return { body: body.replaceAll("\u0000", "\uFFFD"), isCut: bytes > maximum };
}

/** Some pack whatever they are told. */
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

/** Why an answer with this status is none that counts; null for 2xx. */
function errorOf(status: number, location: string | undefined): string | null {
  if (status >= 200 && status <= 299) return null;
  if (status >= 300 && status <= 399 && location !== undefined)
    return `The endpoint answered ${status}, a redirect, which is not followed. Call the address it leads to.`;
  return `The endpoint answered ${status}.`;
}

function tooLate(status: number | null, timeoutMs: number): string {
  const what = status === null ? "The endpoint did not answer" : `The answer (${status}) did not end`;
  return `${what} within ${timeoutMs / 1000} s.`;
}

function reasonOf(error: unknown): string {
  if (error instanceof CallError) return error.message;
  const code: unknown = (error as { code?: unknown }).code;
  const message = error instanceof Error && error.message !== "" ? error.message : String(code);
  return `The call failed: ${message}`.replaceAll("\u0000", "").slice(0, MAX_ERROR_LENGTH);
}

/** For what cannot be broken off: it goes on alone, and nobody waits for it any more. */
async function within<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
  const aborted = Promise.withResolvers<never>();
  const abort = () => aborted.reject(new CallError("The time is over."));
  signal.addEventListener("abort", abort, { once: true });
  return Promise.race([work, aborted.promise]).finally(() => signal.removeEventListener("abort", abort));
}
