// EXIT: ends the execution with a reason.
import { LIMITS } from "@postloft/contract/limits/limits.ts";
import type { TakeStep } from "./step.ts";

export const takeExit: TakeStep<"EXIT"> = ({ step, filler }) => {
  const reason = filler.text(step.config.reason ?? "").slice(0, LIMITS.descriptionLength.value);
  return { goes: "exit", reason: reason === "" ? "exit_step" : reason.toWellFormed() };
};
