// `npm run bench workflow-steps [executions]`: steps a second in batches, compared with one execution in each transaction.
import { readNumbers } from "./read-numbers.ts";
import { oneDecimal, print, printTable, whole } from "./table.ts";
import { STEPS } from "./workflow-fixture.ts";
import { measureSteps, type StepsResult } from "./workflow-steps.ts";

const EXECUTIONS = 20_000;
const NAIVE_EXECUTIONS = 1_000;

export async function benchWorkflowSteps(): Promise<void> {
  const [executions = EXECUTIONS] = readNumbers([EXECUTIONS]);
  const results = await measureSteps(executions, Math.min(NAIVE_EXECUTIONS, executions));
  const naive = Math.max(...results.filter(({ bytes }) => bytes === null).map(speedOf));
  printTable(
    [
      "way",
      "executions",
      "seconds",
      "steps/s",
      "× the faster naive one",
      "bytes per execution",
      "of them counts",
    ],
    results.map((result) => {
      const { executions: count, tookMs, bytes } = result;
      const sizes =
        bytes === null
          ? ["–", "–"]
          : [bytes.executions + bytes.counts, bytes.counts].map((size) => whole(size / count));
      return [
        result.way,
        whole(count),
        oneDecimal(tookMs / 1_000),
        whole(speedOf(result)),
        oneDecimal(speedOf(result) / naive),
        ...sizes,
      ];
    }),
  );
  print("\nTargets: at least 3,000 steps/s, 5 × one execution per transaction, at most 1,500 bytes.\n");
}

const speedOf = ({ executions, tookMs }: StepsResult) => (STEPS * executions * 1_000) / tookMs;
