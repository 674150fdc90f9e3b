// Shows the state of a workflow as a badge.
import { t } from "../../text/t.ts";
import { Badge, type Tone } from "../../ui/page.tsx";
import type { ListedWorkflow } from "./workflow-queries.ts";

type Stateful = Pick<ListedWorkflow, "enabled" | "pausedAt" | "pausedReason">;

export function StateBadge({ workflow }: { workflow: Stateful }) {
  const { tone, label } = stateOf(workflow);
  return <Badge tone={tone}>{label}</Badge>;
}

/** Returns the most important state. A pause comes first, because everyone inside waits until someone resumes. */
export function stateOf({ enabled, pausedAt, pausedReason }: Stateful): { tone: Tone; label: string } {
  if (pausedReason !== null) return { tone: "bad", label: t("Paused by failures") };
  if (pausedAt !== null) return { tone: "warn", label: t("Paused") };
  return enabled ? { tone: "good", label: t("Enabled") } : { tone: "neutral", label: t("Disabled") };
}
