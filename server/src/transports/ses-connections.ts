// Keep-alive HTTP connections to SES. Connects, runs the pre-send check, then writes the request, and tracks how far the request got.
import { Agent as HttpAgent, request as requestHttp, type ClientRequest } from "node:http";
import { Agent as HttpsAgent, request as requestHttps } from "node:https";
import type { LookupFunction, Socket } from "node:net";
import type { MayLeave } from "./transport.ts";

/** All values in milliseconds. */
export interface SesTimeouts {
  /** DNS lookup, TCP and TLS. */
  connectMs: number;
  /** From the first byte of the request to the last byte of the response. A shorter time causes more uncertain outcomes. */
  answerMs: number;
  /** Idle connections are closed after this time, so that the server does not close one while we write. */
  idleMs: number;
  /** Time `close` allows for requests in flight; less than the 20 s a process has to shut down. */
  closeMs: number;
}

export const DEFAULT_SES_TIMEOUTS: SesTimeouts = {
  connectMs: 10_000,
  answerMs: 120_000,
  idleMs: 5_000,
  closeMs: 12_000,
};

/** A request as the SDK passes it to the network. */
export interface SignedRequest {
  protocol: string;
  hostname: string;
  port?: number;
  method: string;
  path: string;
  headers: Record<string, string>;
  body: string | Uint8Array;
}

export interface HttpResponse {
  statusCode: number;
  headers: Record<string, string>;
  body: Buffer;
}

/** Progress of one request, used to interpret a failure. */
export interface Progress {
  /** From here on, a missing response leaves open whether the message was accepted. */
  requestWritten: boolean;
  /** Status of the response, once it started. */
  status?: number;
  checkSaidNo: boolean;
  /** The error thrown by the pre-send check. */
  checkFailure?: { error: unknown };
}

const MAX_RESPONSE_BYTES = 64 * 1024;

export interface SesConnections {
  /** Posts a request and returns the response. Rejects for anything else; `progress` tells how to interpret the rejection. */
  post(request: SignedRequest, mayLeave: MayLeave, progress: Progress): Promise<HttpResponse>;
  /** Ends every connection and the requests on it. */
  end(reason: string): void;
}

/** Creates a connection pool that connects with the first request. Requests beyond `maxConnections` wait in order. */
export function createSesConnections(options: {
  maxConnections: number;
  timeouts: SesTimeouts;
  /** PEM certificates to trust instead of the system's. */
  ca?: string;
  /** Resolves the host, by default with the operating system. */
  lookup?: LookupFunction;
}): SesConnections {
  const { timeouts, ca, lookup } = options;
  const pool = {
    keepAlive: true,
    maxSockets: options.maxConnections,
    timeout: timeouts.idleMs,
    ...(lookup === undefined ? {} : { lookup }),
  };
  const plain = new HttpAgent(pool);
  const secure = new HttpsAgent({ ...pool, ...(ca === undefined ? {} : { ca }) });
  const inFlight = new Set<ClientRequest>();
  const connected = new WeakSet<Socket>();
  let ended: Error | undefined;

  function begin({ protocol, hostname, port, method, path, headers }: SignedRequest): ClientRequest {
    const target = { host: hostname, port, method, path, headers };
    // Nothing is written before end() is called because Node holds back the request header until then.
    return protocol === "https:"
      ? requestHttps({ ...target, agent: secure })
      : requestHttp({ ...target, agent: plain });
  }

  return {
    async post(request, mayLeave, progress) {
      if (ended !== undefined) throw ended;
      const outgoing = begin(request);
      inFlight.add(outgoing);
      try {
        return await exchange(outgoing, request, mayLeave, progress, timeouts, connected);
      } finally {
        inFlight.delete(outgoing);
      }
    },
    end(reason) {
      ended = new Error(reason);
      for (const outgoing of inFlight) outgoing.destroy(ended);
      plain.destroy();
      secure.destroy();
    },
  };
}

async function exchange(
  outgoing: ClientRequest,
  request: SignedRequest,
  mayLeave: MayLeave,
  progress: Progress,
  timeouts: SesTimeouts,
  connected: WeakSet<Socket>,
): Promise<HttpResponse> {
  let failure = new Error("the connection was lost before the request was written");
  outgoing.on("error", (error) => (failure = error));
  try {
    await connect(outgoing, request.protocol, timeouts.connectMs, connected);
    const isOpen = await mayLeave().catch((error: unknown) => {
      progress.checkFailure = { error };
      throw error;
    });
    progress.checkSaidNo = !isOpen;
    if (!isOpen || outgoing.destroyed) throw failure;
    progress.requestWritten = true;
    return await answered(outgoing, request.body, progress, timeouts.answerMs);
  } catch (error) {
    outgoing.destroy();
    throw error;
  }
}

/** Waits for a free connection, bounded by the requests ahead, and then for the connection to be established. */
function connect(
  outgoing: ClientRequest,
  protocol: string,
  timeoutMs: number,
  connected: WeakSet<Socket>,
): Promise<void> {
  return new Promise((resolve, reject) => {
    let timer: NodeJS.Timeout | undefined;
    outgoing.once("error", (error) => {
      clearTimeout(timer);
      reject(error);
    });
    outgoing.once("socket", (socket) => {
      if (connected.has(socket)) return resolve();
      timer = setTimeout(() => outgoing.destroy(timeoutError(timeoutMs)), timeoutMs);
      socket.once(protocol === "https:" ? "secureConnect" : "connect", () => {
        clearTimeout(timer);
        connected.add(socket);
        resolve();
      });
    });
  });
}

/** Writes the request and reads the whole response. */
function answered(
  outgoing: ClientRequest,
  body: string | Uint8Array,
  progress: Progress,
  timeoutMs: number,
): Promise<HttpResponse> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => outgoing.destroy(timeoutError(timeoutMs)), timeoutMs);
    const fail = (error: Error) => {
      clearTimeout(timer);
      reject(error);
    };
    outgoing.once("error", fail);
    outgoing.once("response", (response) => {
      const chunks: Buffer[] = [];
      let sizeBytes = 0;
      const statusCode = response.statusCode ?? 0;
      progress.status = statusCode;
      response.once("error", fail);
      response.on("data", (chunk: Buffer) => {
        sizeBytes += chunk.length;
        if (sizeBytes > MAX_RESPONSE_BYTES) outgoing.destroy(new Error("the response exceeds 64 KB"));
        else chunks.push(chunk);
      });
      response.once("end", () => {
        clearTimeout(timer);
        resolve({ statusCode, headers: toPlainHeaders(response.headers), body: Buffer.concat(chunks) });
      });
    });
    outgoing.end(body);
  });
}

function toPlainHeaders(headers: NodeJS.Dict<string | string[]>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]));
}

function timeoutError(timeoutMs: number): Error {
  return new Error(`no response within ${timeoutMs / 1000} s`);
}
