// Measures several servers in turn under the same load, and prints their rows with ratios.
import { percentileMs, perSecond, runLoad, type LoadResult } from "./load.ts";
import type { RequestTemplate } from "./request.ts";
import type { BenchServer } from "./servers.ts";
import { oneDecimal, whole } from "./table.ts";

const WARM_UP_MS = 300;
/** A new process runs code that is not compiled yet. */
const FIRST_WARM_UP_MS = 2_000;
const MEASURE_MS = 1_200;
/** Keeps the request numbers of each run distinct. */
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

type Servers = Readonly<Record<string, BenchServer>>;

/**
 * Returns a comparison with one row per server: its name, then the columns of COMPARISON_HEAD. Requires the servers NO_DATABASE and NAIVE.
 * Runs each server `rounds` times in turn and uses the median, so that background load affects all alike. Servers in `last` run after all
 * others, because they keep working after their turn.
 */
export function createComparison(rounds: number) {
  let runs = 0;
  const warm = new Set<number>();

  async function measure({ port }: BenchServer, connections: number, request: RequestTemplate) {
    const firstNumber = NUMBERS_PER_RUN * runs++;
    const warmUpMs = warm.has(port) ? WARM_UP_MS : FIRST_WARM_UP_MS;
    warm.add(port);
    return runLoad({ port, connections, warmUpMs, measureMs: MEASURE_MS, request, firstNumber });
  }

  return async (connections: number, request: RequestTemplate, servers: Servers, last: Servers = {}) => {
    const results = new Map<string, LoadResult>();
    for (const group of [servers, last]) {
      const measured = Object.entries(group).map(([name, server]) => ({
        name,
        server,
        list: [] as LoadResult[],
      }));
      for (let round = 0; round < rounds; round++)
        for (const { server, list } of measured) list.push(await measure(server, connections, request));
      for (const { name, list } of measured) results.set(name, middleOf(list));
    }
    return rowsOf(results);
  };
}

function middleOf(runs: readonly LoadResult[]): LoadResult {
  const middle = runs.toSorted((one, other) => perSecond(one) - perSecond(other))[
    Math.floor(runs.length / 2)
  ];
  if (middle === undefined) throw new Error("No run was measured.");
  return middle;
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
