// Adds, inserts, changes and deletes the steps and transitions of a workflow.
import type { GraphStep, GraphTransition } from "@postloft/contract/workflows/graph.ts";
import { withValues } from "@postloft/contract/translation.ts";
import { STEP_NAMES } from "@postloft/contract/workflows/step-names.ts";
import { now } from "../platform/clock.ts";
import type { Tx } from "../platform/database/database.ts";
import { newId } from "../platform/ids.ts";
import { invalidField, AppError, requireUnchanged } from "../platform/app-error.ts";
import type { CallTargets } from "../webhooks/networks.ts";
import { listMaskedNames, listMaskedParameters, type WebhookVault } from "../webhooks/webhook-vault.ts";
import { checkGraph } from "./graph-rules.ts";
import { presentStep, presentTransition } from "./present.ts";
import { checkStepReferences, requireRunnable } from "./references.ts";
import { withRenamedBranches, type BranchRenames } from "./rename-branches.ts";
import {
  newestLeaf,
  spliced,
  usualBranchOf,
  withChangedStep,
  withInsertedStep,
  withoutStep,
  withoutTransition,
  withStep,
  withTransition,
} from "./rules.ts";
import { lockGraph, saveGraph, type LockedWorkflow } from "./save-graph.ts";
import { readConfig, withNote, withTemplate, type StepInput } from "./step-input.ts";

export type StepView = ReturnType<typeof presentStep>;
export type TransitionView = ReturnType<typeof presentTransition>;

export interface WhichWorkflow {
  projectId: string;
  workflowId: string;
}

/** Dependencies of webhook steps: the targets that the instance admin allows, and the encryption of headers. */
export interface WebhookDependencies {
  targets: CallTargets;
  vault: WebhookVault;
}

/**
 * Encrypts the headers of a WEBHOOK. A masked value keeps the stored value.
 *
 * @throws AppError VALIDATION_ERROR for a masked value without a stored one
 */
function sealStep(
  { projectId, vault }: { projectId: string } & WebhookDependencies,
  step: GraphStep,
  before?: GraphStep,
): GraphStep {
  if (step.type !== "WEBHOOK") return step;
  const stored = before?.type === "WEBHOOK" ? before.config : undefined;
  const sealed = withSealed(vault, projectId, step, stored);
  // A step that was imported without a value may keep waiting for it.
  const waiting = listMaskedParameters(stored?.url ?? "");
  const parameter = listMaskedParameters(sealed.config.url).find((name) => !waiting.includes(name));
  if (parameter !== undefined)
    throw invalidField(
      "config.url",
      "custom",
      withValues('There is no stored value for "{parameter}" at this address: give one.', { parameter }),
    );
  const known = new Set(Object.keys(keptHeaders(step.config.url, stored)).map((name) => name.toLowerCase()));
  const missing = listMaskedNames(sealed.config.headers ?? {}).find((name) => !known.has(name.toLowerCase()));
  if (missing !== undefined)
    throw invalidField(
      `config.headers.${missing}`,
      "custom",
      "There is no stored value for this header at this address: give one.",
    );
  return sealed;
}

/** Returns a WEBHOOK with encrypted credentials. Equal values of `stored` keep their text. */
export function withSealed(
  vault: WebhookVault,
  projectId: string,
  step: WebhookStep,
  stored?: WebhookStep["config"],
): WebhookStep {
  const { url, headers } = step.config;
  const sealed =
    headers === undefined ? {} : { headers: vault.seal(projectId, headers, keptHeaders(url, stored)) };
  return { ...step, config: { ...step.config, url: vault.sealUrl(projectId, url, stored?.url), ...sealed } };
}

/**
 * Returns the stored headers whose masks keep their values: none at another origin, so that nobody sends a credential that they cannot
 * read to a host of their choice.
 */
function keptHeaders(url: string, stored: WebhookStep["config"] | undefined): Record<string, string> {
  const isSameOrigin = URL.parse(url)?.origin === URL.parse(stored?.url ?? "")?.origin;
  return isSameOrigin ? (stored?.headers ?? {}) : {};
}

export type WebhookStep = Extract<GraphStep, { type: "WEBHOOK" }>;

/** @throws AppError VALIDATION_ERROR for a faulty config or a missing reference */
async function makeStep(
  tx: Tx,
  parts: { projectId: string } & WebhookDependencies,
  input: StepInput,
): Promise<GraphStep> {
  const { type, name = STEP_NAMES[type], config = {}, templateId, position = null, note } = input;
  const at = now().toISOString();
  const read = readConfig(type, withTemplate(type, config, templateId));
  const facts = { id: newId(), type, name, config: read, position, createdAt: at, updatedAt: at };
  const step = withNote(facts as GraphStep, note);
  requireRunnable(step, parts.targets);
  await checkStepReferences(tx, parts.projectId, step);
  return sealStep(parts, step);
}

export interface StepToAdd extends StepInput {
  /** Connects the newest step without a next step to the new one. */
  autoConnect?: boolean | undefined;
  /** Connects this step to the new one, by `branch`. */
  fromStepId?: string | undefined;
  branch?: string | null | undefined;
}

/** @throws AppError WORKFLOW_NOT_FOUND, or VALIDATION_ERROR for a faulty step or transition, or too many steps */
export async function addStep(
  tx: Tx,
  { workflowId, ...parts }: WhichWorkflow & WebhookDependencies,
  { autoConnect = false, fromStepId, branch = null, ...input }: StepToAdd,
): Promise<StepView> {
  const { projectId } = parts;
  const locked = await lockGraph(tx, projectId, workflowId);
  const step = await makeStep(tx, parts, input);
  const leaf = autoConnect ? newestLeaf(locked.graph) : null;
  const usual = leaf && { fromStepId: leaf.id, branch: usualBranchOf(leaf) };
  const from = fromStepId === undefined ? usual : { fromStepId, branch };
  let graph = withStep(locked.graph, step);
  if (from !== null) graph = withTransition(graph, { id: newId(), ...from, toStepId: step.id, priority: 0 });
  await saveGraph(tx, projectId, locked, graph);
  return presentStep(locked.row, graph, step);
}

/** @throws AppError WORKFLOW_NOT_FOUND, TRANSITION_NOT_FOUND, or VALIDATION_ERROR as in `addStep` */
export async function insertStep(
  tx: Tx,
  { workflowId, ...parts }: WhichWorkflow & WebhookDependencies,
  { transitionId, step: input }: { transitionId: string; step: StepInput },
): Promise<StepView> {
  const { projectId } = parts;
  const locked = await lockGraph(tx, projectId, workflowId);
  const transition = findTransition(locked, transitionId);
  const step = await makeStep(tx, parts, input);
  const graph = withInsertedStep(locked.graph, { transition, step, newId: newId() });
  await saveGraph(tx, projectId, locked, graph);
  return presentStep(locked.row, graph, step);
}

export type StepEdit = Omit<StepInput, "type"> & BranchRenames & { expectedUpdatedAt?: string | undefined };

/**
 * Changes the given fields. A config without a template keeps the current template.
 *
 * @throws AppError as in `addStep`, STEP_NOT_FOUND, or CHANGED_MEANWHILE if the step changed since it was read
 */
export async function updateStep(
  tx: Tx,
  { workflowId, ...parts }: WhichWorkflow & WebhookDependencies,
  { stepId, edit }: { stepId: string; edit: StepEdit },
): Promise<StepView> {
  const { projectId } = parts;
  const locked = await lockGraph(tx, projectId, workflowId);
  const step = findStep(locked, stepId);
  const { config, templateId, expectedUpdatedAt } = edit;
  requireUnchanged({ updatedAt: new Date(step.updatedAt) }, expectedUpdatedAt);
  const kept =
    step.type === "SEND_EMAIL" && step.config.templateId !== undefined ? step.config.templateId : undefined;
  const given: Readonly<Record<string, unknown>> =
    config === undefined ? step.config : { ...(kept === undefined ? {} : { templateId: kept }), ...config };
  const asGiven = withNote(
    {
      ...step,
      ...(edit.name === undefined ? {} : { name: edit.name }),
      ...(edit.position === undefined ? {} : { position: edit.position }),
      config: readConfig(step.type, withTemplate(step.type, given, templateId)),
      updatedAt: now().toISOString(),
    } as GraphStep,
    edit.note,
  );
  if (config !== undefined) requireRunnable(asGiven, parts.targets);
  if (config !== undefined || templateId !== undefined) await checkStepReferences(tx, projectId, asGiven);
  const changed = config === undefined ? asGiven : sealStep(parts, asGiven, step);
  const moved = withRenamedBranches(locked.graph, { before: step, after: changed }, edit);
  const graph = withChangedStep(moved, changed);
  await saveGraph(tx, projectId, locked, graph);
  return presentStep(locked.row, graph, changed);
}

/** @throws AppError WORKFLOW_NOT_FOUND, STEP_NOT_FOUND, or CONFLICT for the TRIGGER and for an ambiguous `splice` */
export async function deleteStep(
  tx: Tx,
  { projectId, workflowId }: WhichWorkflow,
  { stepId, splice }: { stepId: string; splice: boolean },
): Promise<void> {
  const locked = await lockGraph(tx, projectId, workflowId);
  const step = findStep(locked, stepId);
  if (step.type === "TRIGGER")
    throw new AppError("CONFLICT", {
      message: "The TRIGGER is the start of the workflow and can't be deleted.",
    });
  const graph = splice ? spliced(locked.graph, step) : withoutStep(locked.graph, step.id);
  if (graph === null)
    throw new AppError("CONFLICT", {
      message:
        "The next step is ambiguous. Delete this step without `splice`, and connect the steps before it again.",
    });
  const [fault] = checkGraph(graph);
  if (fault !== undefined) throw new AppError("CONFLICT", { message: fault.message });
  await saveGraph(tx, projectId, locked, graph);
}

export interface TransitionInput {
  fromStepId: string;
  toStepId: string;
  branch: string | null;
  priority?: number | undefined;
}

/**
 * Links two steps. Returns the existing transition if they are already linked.
 * @throws AppError WORKFLOW_NOT_FOUND, or VALIDATION_ERROR for the field that would break the graph
 */
export async function addTransition(
  tx: Tx,
  { projectId, workflowId }: WhichWorkflow,
  { fromStepId, toStepId, branch, priority = 0 }: TransitionInput,
): Promise<{ transition: TransitionView; isNew: boolean }> {
  const locked = await lockGraph(tx, projectId, workflowId);
  const there = locked.graph.transitions.find(
    (one) => one.fromStepId === fromStepId && one.toStepId === toStepId && one.branch === branch,
  );
  if (there !== undefined) return { transition: presentTransition(locked.row.id, there), isNew: false };
  const transition: GraphTransition = { id: newId(), fromStepId, toStepId, branch, priority };
  await saveGraph(tx, projectId, locked, withTransition(locked.graph, transition));
  return { transition: presentTransition(locked.row.id, transition), isNew: true };
}

/** @throws AppError WORKFLOW_NOT_FOUND, TRANSITION_NOT_FOUND */
export async function deleteTransition(
  tx: Tx,
  { projectId, workflowId }: WhichWorkflow,
  transitionId: string,
): Promise<void> {
  const locked = await lockGraph(tx, projectId, workflowId);
  const { id } = findTransition(locked, transitionId);
  await saveGraph(tx, projectId, locked, withoutTransition(locked.graph, id));
}

function findStep({ graph }: LockedWorkflow, id: string): GraphStep {
  const step = graph.steps.find((one) => one.id === id.toLowerCase());
  if (step === undefined) throw new AppError("STEP_NOT_FOUND");
  return step;
}

export function findTransition({ graph }: LockedWorkflow, id: string): GraphTransition {
  const transition = graph.transitions.find((one) => one.id === id.toLowerCase());
  if (transition === undefined) throw new AppError("TRANSITION_NOT_FOUND");
  return transition;
}
