// The calling processes of `npm run bench neighbours`: one for the observed project and one for its neighbour, so that they do not delay
// each other.
import { Agent, request as httpRequest } from "node:http";
import type { Burst, PlainRequest } from "./attacks.ts";

export interface NeighbourSpec {
  port: number;
  forMs: number;
  bursts: readonly Burst[];
}

/** The result of one request. */
export interface Ending {
  name: string;
  /** 0 without a response. */
  status: number;
  tookMs: number;
}

const REQUEST_TIMEOUT_MS = 60_000;
/** The server may be closing a kept-alive connection. Requests without a response are recorded and not retried. */
const agent = new Agent({ keepAlive: true, maxFreeSockets: 64 });

function send(
  port: number,
  { method, path, key, body, contentType = "application/json" }: PlainRequest,
): Promise<number> {
  const headers = {
    ...(key === null ? {} : { authorization: `Bearer ${key}` }),
    ...(body === null ? {} : { "content-type": contentType, "content-length": body.length }),
  };
  return new Promise((resolve) => {
    const options = { host: "127.0.0.1", port, method, path, headers, agent, timeout: REQUEST_TIMEOUT_MS };
    const request = httpRequest(options, (response) => {
      response.on("end", () => resolve(response.statusCode ?? 0)).on("error", () => resolve(0));
      response.resume();
    });
    request.on("timeout", () => request.destroy()).on("error", () => resolve(0));
    request.end(body === null ? undefined : Buffer.from(body));
  });
}

/** Sends each burst on schedule regardless of earlier ones, until the time is over, and waits for the last responses. */
async function work({ port, forMs, bursts }: NeighbourSpec): Promise<Ending[]> {
  const endings: Array<Promise<Ending>> = [];
  async function time(name: string, request: PlainRequest): Promise<Ending> {
    const beganAtMs = performance.now();
    const status = await send(port, request);
    return { name, status, tookMs: performance.now() - beganAtMs };
  }
  const timers = bursts.map(({ name, atOnce, everyMs, requests }, place) => {
    let sent = 0;
    const burst = () => {
      for (let at = 0; at < atOnce; at++) {
        const request = requests[sent++ % requests.length];
        if (request !== undefined) endings.push(time(name, request));
      }
    };
    // Stagger the start, so that bursts of different kinds do not coincide.
    return setTimeout(
      () => {
        burst();
        timers[place] = setInterval(burst, everyMs);
      },
      (everyMs * place) / bursts.length,
    );
  });
  await new Promise((resolve) => setTimeout(resolve, forMs));
  for (const timer of timers) clearInterval(timer);
  return Promise.all(endings);
}

process.on("message", (spec) => {
  void work(spec as NeighbourSpec).then((endings) => process.send?.(endings));
});
