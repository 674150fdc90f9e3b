// RANDOM_SPLIT: takes the share that keeps the counts exact (decision 0139).
import type { TakeStep } from "./step.ts";

export const takeRandomSplit: TakeStep<"RANDOM_SPLIT"> = ({ step, facts }) => {
  const { name: branch, percent } = facts.takeShare(step);
  return { goes: "on", branch, out: { percent }, result: { branch } };
};
