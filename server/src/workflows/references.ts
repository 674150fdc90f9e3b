// What graphs and triggers refer to by id, and whether it is there. Pure, but for the two checks that lock what they find.
import type { FieldError } from "@postloft/contract/errors.ts";
import { causesOf, type Filter } from "@postloft/contract/filters.ts";
import { filterOfCondition, MASKED, type Graph, type GraphStep } from "@postloft/contract/workflows/graph.ts";
import type { Tx } from "../platform/database/database.ts";
import { invalidField, Refusal } from "../platform/refusal.ts";
import { checkWebhookHeaders, checkWebhookUrl } from "../webhooks/check-webhook.ts";
import type { CallTargets } from "../webhooks/networks.ts";
import { lockSegments, lockTemplates } from "./reference-queries.ts";

/** A trigger as it is stored; its config may be unfinished: `{}`. */
export interface Trigger {
  type: string;
  config: Readonly<Record<string, unknown>>;
}

export function templateIdOf(step: GraphStep): string | null {
  return step.type === "SEND_EMAIL" ? (step.config.templateId ?? null) : null;
}

export function templateIdsOf({ steps }: { steps: readonly GraphStep[] }): string[] {
  return [...new Set(steps.flatMap((step) => templateIdOf(step) ?? []))];
}

/** The segments a step asks about by name. */
export function segmentIdsOfStep(step: GraphStep): string[] {
  return step.type === "CONDITION" ? causesOf(filterOfCondition(step.config)).segments : [];
}

/** The segments a trigger stands on: the one it names, and those of its audience's filter. */
export function segmentIdsOfTrigger({ config }: Trigger): string[] {
  const { segmentId, audienceFilter } = config as {
    segmentId?: string | null;
    audienceFilter?: Filter | null;
  };
  return [...(segmentId ? [segmentId] : []), ...(audienceFilter ? causesOf(audienceFilter).segments : [])];
}

export function segmentIdsOf(graph: Graph, trigger: Trigger): string[] {
  return [...new Set([...segmentIdsOfTrigger(trigger), ...graph.steps.flatMap(segmentIdsOfStep)])];
}

/**
 * That what a step refers to is there, and stays until the end of the transaction.
 * @throws Refusal VALIDATION_ERROR naming `templateId` or `config`.
 */
export async function checkStepReferences(tx: Tx, projectId: string, step: GraphStep): Promise<void> {
  const templateId = templateIdOf(step);
  if (templateId !== null && !(await lockTemplates(tx, projectId, [templateId])).has(templateId))
    throw invalidField("templateId", "custom", `There is no template ${templateId}.`);
  const wanted = segmentIdsOfStep(step);
  if (wanted.length === 0) return;
  const there = new Set((await lockSegments(tx, projectId, wanted)).map(({ id }) => id));
  for (const id of wanted)
    if (!there.has(id)) throw invalidField("config", "custom", `There is no segment ${id}.`);
}

/** What is wrong with where a WEBHOOK calls and what it sends along; nothing for other steps. */
export function faultsOfWebhook(step: GraphStep, targets: CallTargets): FieldError[] {
  if (step.type !== "WEBHOOK") return [];
  const { url, headers = {} } = step.config;
  const fault = checkWebhookUrl(url, targets);
  return [
    ...(fault === null ? [] : [{ field: "config.url", ...fault }]),
    ...checkWebhookHeaders(withoutMasks(headers)).map(({ name, code, message }) => ({
      field: name === "" ? "config.headers" : `config.headers.${name}`,
      code,
      message,
    })),
  ];
}

/** A masked value stands for a stored one, which was checked when it was given. */
function withoutMasks(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, value === MASKED ? "" : value]),
  );
}

/** @throws Refusal VALIDATION_ERROR naming `config.url` and `config.headers.…` of a WEBHOOK that may not be called. */
export function requireCallable(step: GraphStep, targets: CallTargets): void {
  const fields = faultsOfWebhook(step, targets);
  if (fields.length > 0) throw new Refusal("VALIDATION_ERROR", { fields });
}
