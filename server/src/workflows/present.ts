// Presents workflows, steps and transitions to callers of the API (decisions §9). Pure.
import type {
  Graph,
  GraphStep,
  GraphTransition,
  StepConfig,
  StepType,
} from "@postloft/contract/workflows/graph.ts";
import type { ListedWorkflowRow } from "./listing-queries.ts";
import type { WorkflowRow } from "./queries.ts";
import { maskHeaders, maskUrl } from "../webhooks/webhook-vault.ts";
import { templateIdOf } from "./references.ts";

export function presentRecord(row: WorkflowRow) {
  return {
    id: row.id,
    name: row.name,
    description: row.description,
    folder: row.folder,
    tags: row.tags,
    enabled: row.enabled,
    triggerType: row.triggerType,
    triggerConfig: row.triggerConfig,
    allowReentry: row.allowReentry,
    version: row.version,
    revision: row.revision,
    nextRunAt: row.nextRunAt?.toISOString() ?? null,
    pausedAt: row.pausedAt?.toISOString() ?? null,
    pausedReason: row.pausedReason,
    confirmedProblems: row.confirmedProblems,
    createdAt: row.createdAt.toISOString(),
    updatedAt: row.updatedAt.toISOString(),
  };
}

export function presentListed(row: ListedWorkflowRow) {
  const { steps, executions, active, failing, failedRecently, entered, completed, failed, goals, aiming } =
    row;
  return {
    ...presentRecord(row),
    _count: { steps, executions, active, failed: failing, failedLast7Days: failedRecently },
    last30Days: { entered, completed, failed, goals, goalRate: aiming === 0 ? null : goals / aiming },
  };
}

const OUTCOMES = { event: "EVENT", timeout: "TIMEOUT" } as const;

export function presentTransition(workflowId: string, transition: GraphTransition) {
  const { id, fromStepId, toStepId, branch, priority } = transition;
  return {
    id,
    workflowId,
    fromStepId,
    toStepId,
    branch,
    condition: branch === null ? null : { branch },
    waitOutcome: branch === "event" || branch === "timeout" ? OUTCOMES[branch] : null,
    priority,
  };
}

/** Returns a step with masks for the credentials in webhook headers. */
export function masked<Step extends { type: StepType; config: object }>(step: Step): Step {
  if (step.type !== "WEBHOOK") return step;
  const { url, headers } = step.config as StepConfig<"WEBHOOK">;
  const shown = headers === undefined ? {} : { headers: maskHeaders(headers) };
  return { ...step, config: { ...step.config, url: maskUrl(url), ...shown } };
}

/** Returns a step as it is stored, without its transitions. The TRIGGER gets the workflow's trigger config. */
export function bareStep({ id: workflowId, triggerConfig }: TriggerRow, step: GraphStep) {
  return {
    id: step.id,
    workflowId,
    type: step.type,
    name: step.name,
    config: step.type === "TRIGGER" ? triggerConfig : step.config,
    templateId: templateIdOf(step),
    position: step.position,
    note: step.note ?? null,
    createdAt: step.createdAt,
    updatedAt: step.updatedAt,
  };
}

type TriggerRow = Pick<WorkflowRow, "id" | "triggerConfig">;

/** Returns a step with its incoming and outgoing transitions. */
export function presentStep(row: TriggerRow, { transitions }: Graph, step: GraphStep) {
  const present = (one: GraphTransition) => presentTransition(row.id, one);
  return {
    ...masked(bareStep(row, step)),
    outgoingTransitions: transitions.filter(({ fromStepId }) => fromStepId === step.id).map(present),
    incomingTransitions: transitions.filter(({ toStepId }) => toStepId === step.id).map(present),
  };
}

export function presentGraph(row: TriggerRow, graph: Graph) {
  return {
    exitConditions: graph.exitConditions ?? [],
    goal: graph.goal ?? null,
    steps: graph.steps.map((step) => presentStep(row, graph, step)),
    transitions: graph.transitions.map((one) => presentTransition(row.id, one)),
  };
}
