// The processes that call in `npm run bench neighbours`: one for the project that is watched, one for its neighbour, so that neither waits
// for the other's work.
import { Agent, request as httpRequest } from "node:http";
import type { Burst, PlainRequest } from "./attacks.ts";

export interface NeighbourSpec {
  port: number;
  forMs: number;
  bursts: readonly Burst[];
}

/** How one request ended. */
export interface Ending {
  name: string;
  /** 0: no answer at all. */
  status: number;
  tookMs: number;
}

const REQUEST_TIMEOUT_MS = 60_000;
/** A connection that is kept is one that the server may be closing: each request says whether it had no answer, and none is repeated. */
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

/** Sends each burst at its times, whatever became of those before, until the time is over; waits for the last answers. */
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
    // Not all in the same moment: bursts of different kinds begin in turn.
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
