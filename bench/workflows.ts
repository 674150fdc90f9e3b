// `npm run bench workflows [executions [sleeping [entering]]]`: steps a second, the claim among many that sleep, what tracking notices, how
// soon a mail follows its event, also beside a crowd of another project.
import { percentile } from "./latency.ts";
import { readNumbers } from "./read-numbers.ts";
import { oneDecimal, print, printTable, whole } from "./table.ts";
import { STEPS } from "./workflow-ground.ts";
import { measureFairness } from "./workflow-fairness.ts";
import { measureMails } from "./workflow-mails.ts";
import { measureSleepers } from "./workflow-sleepers.ts";
import { measureSteps, type StepsResult } from "./workflow-steps.ts";
import { measureTracking } from "./workflow-track.ts";

const EXECUTIONS = 20_000;
const NAIVE_EXECUTIONS = 1_000;
const SLEEPING = 200_000;
const ENTERING = 100_000;

export async function benchWorkflows(): Promise<void> {
  const [executions = EXECUTIONS, sleeping = SLEEPING, entering = ENTERING] = readNumbers([
    EXECUTIONS,
    SLEEPING,
    ENTERING,
  ]);
  printSteps(await measureSteps(executions, Math.min(NAIVE_EXECUTIONS, executions)));
  await printSleepers(sleeping);
  printTable(["project", "requests/s", "p50 ms", "p99 ms", "% of no workflows"], await measureTracking());
  print("\nBars: with 1,000 on other events 90 % to 110 %; with one that listens at least 50 %.\n");
  const waits = await measureMails();
  printTable(
    ["events, one at a time", "to the mail in the mailbox: p50 ms", "p99 ms", "longest ms"],
    [[whole(waits.length), ...[0.5, 0.99, 1].map((share) => whole(percentile(waits, share)))]],
  );
  print("\nBar: p99 at most 300 ms.\n");
  await printFairness(entering);
}

const speedOf = ({ executions, tookMs }: StepsResult) => (STEPS * executions * 1_000) / tookMs;

function printSteps(results: readonly StepsResult[]): void {
  const naive = Math.max(...results.filter(({ bytes }) => bytes === null).map(speedOf));
  printTable(
    [
      "way",
      "executions",
      "seconds",
      "steps/s",
      "× the faster naive one",
      "bytes an execution",
      "of them counts",
    ],
    results.map((result) => {
      const { executions, tookMs, bytes } = result;
      const sizes =
        bytes === null
          ? ["–", "–"]
          : [bytes.executions + bytes.counts, bytes.counts].map((size) => whole(size / executions));
      return [
        result.way,
        whole(executions),
        oneDecimal(tookMs / 1_000),
        whole(speedOf(result)),
        oneDecimal(speedOf(result) / naive),
        ...sizes,
      ];
    }),
  );
  print("\nBars: at least 3,000 steps/s and 5 × one a transaction, at most 1,500 bytes.\n");
}

const timesRow = (name: string, times: readonly number[]) => [
  name,
  ...[0.5, 1].map((share) => oneDecimal(percentile(times, share))),
];

async function printSleepers(sleeping: number): Promise<void> {
  const { claims, looks, due } = await measureSleepers(sleeping);
  printTable(
    [`of ${whole(sleeping)} that sleep`, "p50 ms", "longest ms"],
    [
      timesRow(`claim of ${whole(due)} that are due, with their graph`, claims),
      timesRow("which projects have some", looks),
    ],
  );
  print("\nBar: claim at most 20 ms.\n");
}

async function printFairness(entering: number): Promise<void> {
  const { waits, crowd } = await measureFairness(entering);
  printTable(
    [
      "of another project entered",
      "of them left at the end",
      "event to queued mail: p50 ms",
      "p99 ms",
      "longest ms",
    ],
    [
      [
        whole(crowd.before),
        whole(crowd.after),
        ...[0.5, 0.99, 1].map((share) => whole(percentile(waits, share))),
      ],
    ],
  );
  print("\nBar: longest at most 2,000 ms.");
}
