// Names of the states of executions and of their steps, and what an execution does now.
import type { ExecutionStatus } from "@postloft/contract/workflows/graph.ts";
import type { ApiResponse } from "../../../api/address.ts";
import type { api } from "../../../api/endpoints.ts";
import { reasonText } from "../../../text/reason-text.ts";
import { t } from "../../../text/t.ts";
import { formatInstant } from "../../../ui/format.ts";
import type { Tone } from "../../../ui/page.tsx";

export type Execution = ApiResponse<typeof api.executions.get>;
export type ListedExecution = ApiResponse<typeof api.executions.list>["data"][number];
export type FailureGroup = ApiResponse<typeof api.executions.listFailures>["data"][number];
type RunStatus = Execution["steps"][number]["status"];

export const EXECUTION_STATUSES: Record<ExecutionStatus, { tone: Tone; label: string }> = {
  RUNNING: { tone: "good", label: t("Running") },
  WAITING: { tone: "good", label: t("Waiting") },
  COMPLETED: { tone: "neutral", label: t("Completed") },
  EXITED: { tone: "neutral", label: t("Exited") },
  FAILED: { tone: "bad", label: t("Failed") },
  CANCELLED: { tone: "neutral", label: t("Canceled") },
};

export const RUN_STATUSES: Record<RunStatus, { tone: Tone; label: string }> = {
  WAITING: { tone: "good", label: t("Waiting") },
  RUNNING: { tone: "good", label: t("Running") },
  COMPLETED: { tone: "neutral", label: t("Passed") },
  SKIPPED: { tone: "warn", label: t("Skipped") },
  FAILED: { tone: "bad", label: t("Failed") },
  CANCELLED: { tone: "neutral", label: t("Canceled") },
};

/** Returns the current step and its wait, or why the execution ended. */
export function progressText({
  currentStep,
  waitsFor,
  nextAt,
  exitReason,
  completedAt,
}: ListedExecution): string {
  const step = currentStep?.name ?? "";
  if (exitReason !== null && exitReason !== "") return reasonText(exitReason);
  if (completedAt !== null) return t("Ended {when}", { when: formatInstant(completedAt) });
  if (waitsFor !== null) return t("{step} · waiting for {event}", { step, event: waitsFor });
  if (nextAt !== null) return t("{step} · continues {when}", { step, when: formatInstant(nextAt) });
  return step;
}
