// Generates HTTP load from a separate process and reports the number of responses and their durations.
import { fork } from "node:child_process";
import { fileURLToPath } from "node:url";
import type { RequestTemplate } from "./request.ts";

export interface LoadSpec {
  port: number;
  connections: number;
  /** Warm-up time, during which responses are not counted. */
  warmUpMs: number;
  measureMs: number;
  request: RequestTemplate;
  /** The first request number. Use another million for each run on the same database. */
  firstNumber: number;
}

export interface LoadResult {
  answers: number;
  measuredMs: number;
  /** Histogram of response times in tenths of a millisecond; the last bucket holds all longer ones. */
  tenthsOfMs: readonly number[];
  /** CPU time of the load process. */
  cpuMs: number;
  /** Number of responses other than 200, with one of them in full. */
  refused: number;
  refusal: string;
}

const PROCESS = fileURLToPath(new URL("load-process.ts", import.meta.url));
/** Extra time for starting the process and for the last responses. */
const SPARE_MS = 20_000;

/** Runs the load. @throws Error if the server rejected a request or the load process failed */
export async function runLoad(spec: LoadSpec): Promise<LoadResult> {
  const child = fork(PROCESS, { serialization: "advanced" });
  const timer = setTimeout(() => child.kill("SIGKILL"), spec.warmUpMs + spec.measureMs + SPARE_MS);
  try {
    const result = await new Promise<LoadResult>((resolve, reject) => {
      child.once("message", (message) => resolve(message as LoadResult));
      child.once("error", reject);
      child.once("exit", (code, signal) => reject(new Error(`the load ended with ${signal ?? code}`)));
      child.send(spec);
    });
    if (result.refused > 0)
      throw new Error(`${result.refused} requests were refused, such as:\n${result.refusal}`);
    return result;
  } finally {
    clearTimeout(timer);
    child.kill();
  }
}

export function perSecond({ answers, measuredMs }: LoadResult): number {
  return (answers * 1000) / measuredMs;
}

/** Returns the given percentile (`share` from 0 to 1) in milliseconds. */
export function percentileMs({ answers, tenthsOfMs }: LoadResult, share: number): number {
  let seen = 0;
  const at = tenthsOfMs.findIndex((count) => (seen += count) >= answers * share);
  return (at + 1) / 10;
}
