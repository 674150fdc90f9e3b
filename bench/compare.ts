// Measures several servers with the same load in turn, and writes their rows with the ratios between them.
// Before it: track.ts and send.ts start the servers. After it: table.ts prints.
import { addUp, percentileMs, perSecond, runLoad, type LoadResult } from "./load.ts";
import type { RequestTemplate } from "./request.ts";
import type { BenchServer } from "./servers.ts";
import { oneDecimal, whole } from "./table.ts";

/** Each server is measured so often, in turn, so that what else the machine does hits all of them. */
const ROUNDS = 2;
const WARM_UP_MS = 500;
/** A process that has just started runs code that is not compiled yet. */
const FIRST_WARM_UP_MS = 3_000;
const MEASURE_MS = 2_400;
/** The requests of a run have numbers that no other run has. */
const NUMBERS_PER_RUN = 1_000_000;

export const NO_DATABASE = "no database";
export const NAIVE = "naive";

export const COMPARISON_HEAD = [
  "requests/s",
  "p50 ms",
  "p99 ms",
  "× naive",
  "% of no database",
  "load, % of a core",
];

/**
 * Makes what compares: one row per server, its name, then the columns of COMPARISON_HEAD. The servers NO_DATABASE and
 * NAIVE must be among them. Those of `last` come after all rounds of the others: they work on when their turn is over.
 */
export function createComparison() {
  let runs = 0;
  const warm = new Set<number>();
  return async function compareServers(
    servers: Readonly<Record<string, BenchServer>>,
    connections: number,
    request: RequestTemplate,
    last: Readonly<Record<string, BenchServer>> = {},
  ): Promise<string[][]> {
    const measured = new Map<string, LoadResult[]>();
    const rounds = [
      ...Array.from({ length: ROUNDS }, () => servers),
      ...Array.from({ length: ROUNDS }, () => last),
    ];
    for (const [name, { port }] of rounds.flatMap((round) => Object.entries(round))) {
      const firstNumber = NUMBERS_PER_RUN * runs++;
      const warmUpMs = warm.has(port) ? WARM_UP_MS : FIRST_WARM_UP_MS;
      warm.add(port);
      const spec = { port, connections, warmUpMs, measureMs: MEASURE_MS, request, firstNumber };
      measured.set(name, [...(measured.get(name) ?? []), await runLoad(spec)]);
    }
    return rowsOf(new Map([...measured].map(([name, list]) => [name, addUp(list)])));
  };
}

function rowsOf(results: ReadonlyMap<string, LoadResult>): string[][] {
  const speedOf = (name: string) => {
    const result = results.get(name);
    return result === undefined ? Number.NaN : perSecond(result);
  };
  return [...results].map(([name, result]) => [
    name,
    whole(perSecond(result)),
    oneDecimal(percentileMs(result, 0.5)),
    oneDecimal(percentileMs(result, 0.99)),
    oneDecimal(perSecond(result) / speedOf(NAIVE)),
    whole((100 * perSecond(result)) / speedOf(NO_DATABASE)),
    whole((100 * result.cpuMs) / result.measuredMs),
  ]);
}
