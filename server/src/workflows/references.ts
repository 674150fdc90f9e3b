// Collects what graphs and triggers refer to by id, and checks that it exists. Pure, except for the two checks that lock rows.
import type { FieldError } from "@postloft/contract/errors.ts";
import { causesOf, type Filter } from "@postloft/contract/filters.ts";
import { exitSegmentIds } from "@postloft/contract/workflows/exit-conditions.ts";
import { contactFiltersOf, MASKED, type Graph, type GraphStep } from "@postloft/contract/workflows/graph.ts";
import { withValues } from "@postloft/contract/translation.ts";
import type { Tx } from "../platform/database/database.ts";
import { invalidField, AppError } from "../platform/app-error.ts";
import { checkWebhookHeaders, checkWebhookUrl } from "../webhooks/check-webhook.ts";
import type { CallTargets } from "../webhooks/networks.ts";
import { withoutMustaches } from "../rendering/fill-text.ts";
import { faultsOfTexts } from "./step-texts.ts";
import { lockSegments, lockTemplates } from "./reference-queries.ts";

/** A stored trigger. The config may be unfinished (`{}`). */
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

export function segmentIdsOfStep(step: GraphStep): string[] {
  return [...new Set(contactFiltersOf(step).flatMap((filter) => causesOf(filter).segments))];
}

/** Returns the segment whose entries start a workflow, or null. */
export function entrySegmentOf({
  triggerType,
  triggerConfig,
}: {
  triggerType: string;
  triggerConfig: Readonly<Record<string, unknown>>;
}): string | null {
  const { segmentId } = triggerConfig;
  return triggerType === "SEGMENT_ENTRY" && typeof segmentId === "string" ? segmentId : null;
}

/** Returns the segments of a trigger, from `segmentId` and from the audience filter. */
export function segmentIdsOfTrigger({ config }: Trigger): string[] {
  const { segmentId, audienceFilter } = config as {
    segmentId?: string | null;
    audienceFilter?: Filter | null;
  };
  return [...(segmentId ? [segmentId] : []), ...(audienceFilter ? causesOf(audienceFilter).segments : [])];
}

export function segmentIdsOf(graph: Graph, trigger: Trigger): string[] {
  const { steps, exitConditions = [] } = graph;
  return [
    ...new Set([
      ...segmentIdsOfTrigger(trigger),
      ...steps.flatMap(segmentIdsOfStep),
      ...exitSegmentIds(exitConditions),
    ]),
  ];
}

/**
 * Checks that the references of a step exist, and locks them until the end of the transaction.
 * @throws AppError VALIDATION_ERROR for `templateId` or `config`
 */
export async function checkStepReferences(tx: Tx, projectId: string, step: GraphStep): Promise<void> {
  const templateId = templateIdOf(step);
  if (templateId !== null && !(await lockTemplates(tx, projectId, [templateId])).has(templateId))
    throw invalidField("templateId", "custom", withValues("Template {id} not found.", { id: templateId }));
  const wanted = segmentIdsOfStep(step);
  if (wanted.length === 0) return;
  const there = new Set((await lockSegments(tx, projectId, wanted)).map(({ id }) => id));
  for (const id of wanted)
    if (!there.has(id)) throw invalidField("config", "custom", withValues("Segment {id} not found.", { id }));
}

/** Returns errors in the variables of a step, and in the URL and headers of a WEBHOOK. */
export function faultsOfStep(step: GraphStep, targets: CallTargets): FieldError[] {
  const faults = faultsOfTexts(step);
  return faults.length > 0 ? faults : faultsOfWebhook(step, targets);
}

function faultsOfWebhook(step: GraphStep, targets: CallTargets): FieldError[] {
  if (step.type !== "WEBHOOK") return [];
  const { url, headers = {} } = step.config;
  const fault = checkWebhookUrl(withoutMustaches(url, "x"), targets);
  return [
    ...(fault === null ? [] : [{ field: "config.url", ...fault }]),
    ...checkWebhookHeaders(withoutMasks(headers)).map(({ name, code, message }) => ({
      field: name === "" ? "config.headers" : `config.headers.${name}`,
      code,
      message,
    })),
  ];
}

/** Replaces masks by empty strings, because the stored value was checked when it was set. Variables are checked once they are filled in. */
function withoutMasks(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [
      name,
      value === MASKED ? "" : withoutMustaches(value, "x"),
    ]),
  );
}

/** @throws AppError VALIDATION_ERROR for a text with faulty variables, and for a WEBHOOK that must not be called */
export function requireRunnable(step: GraphStep, targets: CallTargets): void {
  const fields = faultsOfStep(step, targets);
  if (fields.length > 0) throw new AppError("VALIDATION_ERROR", { fields });
}
