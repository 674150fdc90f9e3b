// Kept HTTP connections to SES: connects, asks the handover check, and only then writes the request. Knows how far it got.
import { Agent as HttpAgent, request as requestHttp, type ClientRequest } from "node:http";
import { Agent as HttpsAgent, request as requestHttps } from "node:https";
import type { Socket } from "node:net";
import type { MayLeave } from "./transport.ts";

/** Milliseconds. */
export interface SesTimeouts {
  /** Name look-up, TCP and TLS. */
  connectMs: number;
  /** From the first byte of the request to the last of the answer. Shorter means more uncertain outcomes. */
  answerMs: number;
  /** A connection without work is closed after this long, before the other side does it in the moment we write. */
  idleMs: number;
  /** What `close` grants requests in flight; stays below the 20 s a process has to end. */
  closeMs: number;
}

export const DEFAULT_SES_TIMEOUTS: SesTimeouts = {
  connectMs: 10_000,
  answerMs: 120_000,
  idleMs: 5_000,
  closeMs: 12_000,
};

/** A request as the SDK hands it to the network. */
export interface SignedRequest {
  protocol: string;
  hostname: string;
  port?: number;
  method: string;
  path: string;
  headers: Record<string, string>;
  body: string | Uint8Array;
}

export interface HttpAnswer {
  statusCode: number;
  headers: Record<string, string>;
  body: Buffer;
}

/** How far one request got, for the reading of a failure. */
export interface Progress {
  /** From here on a missing answer means: taken or not, nobody knows. */
  requestWritten: boolean;
  /** Of the answer, once it began. */
  status?: number;
  checkSaidNo: boolean;
  /** What the handover check threw. */
  checkFailure?: { error: unknown };
}

const MAX_ANSWER_BYTES = 64 * 1024;

export interface SesConnections {
  /** Rejects for everything but an answer; `progress` says what the rejection means. */
  post(request: SignedRequest, mayLeave: MayLeave, progress: Progress): Promise<HttpAnswer>;
  /** Ends every connection and every request on it. */
  end(reason: string): void;
}

/** Connects when the first request comes. Requests beyond `maxConnections` wait, first come first served. */
export function createSesConnections(options: {
  maxConnections: number;
  timeouts: SesTimeouts;
  /** PEM certificates to trust instead of the system's. */
  ca?: string;
}): SesConnections {
  const { timeouts, ca } = options;
  const pool = { keepAlive: true, maxSockets: options.maxConnections, timeout: timeouts.idleMs };
  const plain = new HttpAgent(pool);
  const secure = new HttpsAgent({ ...pool, ...(ca === undefined ? {} : { ca }) });
  const inFlight = new Set<ClientRequest>();
  const connected = new WeakSet<Socket>();
  let ended: Error | undefined;

  function begin({ protocol, hostname, port, method, path, headers }: SignedRequest): ClientRequest {
    const target = { host: hostname, port, method, path, headers };
    // Nothing is written before end() is called: Node holds the head of the request back until then.
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
): Promise<HttpAnswer> {
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

/** Waits for a place among the connections, bounded by the requests before it, then for the connection itself. */
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
      timer = setTimeout(() => outgoing.destroy(noAnswer(timeoutMs)), timeoutMs);
      socket.once(protocol === "https:" ? "secureConnect" : "connect", () => {
        clearTimeout(timer);
        connected.add(socket);
        resolve();
      });
    });
  });
}

/** Writes the request and reads the whole answer. */
function answered(
  outgoing: ClientRequest,
  body: string | Uint8Array,
  progress: Progress,
  timeoutMs: number,
): Promise<HttpAnswer> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => outgoing.destroy(noAnswer(timeoutMs)), timeoutMs);
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
        if (sizeBytes > MAX_ANSWER_BYTES) outgoing.destroy(new Error("an answer of more than 64 KB"));
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

function noAnswer(timeoutMs: number): Error {
  return new Error(`no answer within ${timeoutMs / 1000} s`);
}
