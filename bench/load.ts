// Load on an HTTP server from a process of its own, and what it saw: answers per second and how long they took.
import { fork } from "node:child_process";
import { fileURLToPath } from "node:url";
import type { RequestTemplate } from "./request.ts";

export interface LoadSpec {
  port: number;
  connections: number;
  /** Answers within this time after the start are not counted. */
  warmUpMs: number;
  measureMs: number;
  request: RequestTemplate;
  /** The numbers of the requests begin here: another million for each run on the same database. */
  firstNumber: number;
}

export interface LoadResult {
  answers: number;
  measuredMs: number;
  /** How many answers took so long, a tenth of a millisecond each; the last one holds all that took longer. */
  tenthsOfMs: readonly number[];
  /** What the load itself cost. */
  cpuMs: number;
  /** Answers other than 200, with one of them in full. */
  refused: number;
  refusal: string;
}

const PROCESS = fileURLToPath(new URL("load-process.ts", import.meta.url));
/** Beyond warm-up and measuring: start of the process and the last answers. */
const SPARE_MS = 20_000;

/** @throws Error when the server refused a request, or the load process did not come to its end. */
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

/** How long the slowest of the quickest `share` (0…1) took, in milliseconds. */
export function percentileMs({ answers, tenthsOfMs }: LoadResult, share: number): number {
  let seen = 0;
  const at = tenthsOfMs.findIndex((count) => (seen += count) >= answers * share);
  return (at + 1) / 10;
}
