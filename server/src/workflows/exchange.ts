// Exports workflows, and imports them into another project.
import type { FieldError } from "@postloft/contract/errors.ts";
import type { Graph, GraphStep } from "@postloft/contract/workflows/graph.ts";
import type { WorkflowExport } from "@postloft/contract/workflows/versions.ts";
import { withValues } from "@postloft/contract/translation.ts";
import { now } from "../platform/clock.ts";
import type { Database, Tx } from "../platform/database/database.ts";
import { newId } from "../platform/ids.ts";
import { invalidField, AppError } from "../platform/app-error.ts";
import { faultsOfExits, faultsOfGoal, missingSegmentsOf } from "./exit-rules.ts";
import {
  exportOf,
  graphOfExport,
  withResolved,
  withResolvedExits,
  withResolvedTrigger,
  type Resolved,
} from "./exchange-document.ts";
import {
  findKnownSegments,
  findKnownTemplates,
  findSegmentsBySlug,
  findTemplatesNamed,
  lockSegments,
  lockTemplates,
} from "./reference-queries.ts";
import {
  faultsOfStep,
  segmentIdsOf,
  segmentIdsOfStep,
  segmentIdsOfTrigger,
  templateIdOf,
  templateIdsOf,
} from "./references.ts";
import { requireSound } from "./save-graph.ts";
import { withSealed, type WebhookDependencies } from "./steps.ts";
import { checkTrigger, type CheckedTrigger } from "./trigger.ts";
import { getWorkflowRow, storeWorkflow, withoutRepeats, type WorkflowView } from "./workflows.ts";

const byId = ({ id: one }: { id: string }, { id: other }: { id: string }) => (one < other ? -1 : 1);

/**
 * Returns the export of a workflow, with masks for the credentials in webhook headers.
 * @throws AppError WORKFLOW_NOT_FOUND
 */
export async function exportWorkflow(
  database: Database,
  projectId: string,
  id: string,
): Promise<WorkflowExport> {
  const row = await getWorkflowRow(database, projectId, id);
  const trigger = { type: row.triggerType, config: row.triggerConfig };
  const templates = await findKnownTemplates(database, projectId, templateIdsOf(row.graph), 0);
  const segments = await findKnownSegments(database, projectId, segmentIdsOf(row.graph, trigger));
  return exportOf(row, row.graph, {
    templates: templates.map(({ id: templateId, name }) => ({ id: templateId, name })),
    segments: segments.map(({ id: segmentId, name, slug }) => ({ id: segmentId, name, slug })).toSorted(byId),
  });
}

/**
 * Creates a disabled workflow from an export. A masked header stays masked, and `problems` asks for its value.
 * @throws AppError VALIDATION_ERROR if the graph cannot run, or, without `allowMissing`, for each reference that this project lacks
 */
export async function importWorkflow(
  tx: Tx,
  { projectId, targets, vault }: { projectId: string } & WebhookDependencies,
  { document, allowMissing }: { document: WorkflowExport; allowMissing: boolean },
): Promise<WorkflowView> {
  requireDistinctKeys(document.steps, "steps");
  const written = graphOfExport(document, { newId, at: now().toISOString() });
  const names = { fromStepId: "from", toStepId: "to", branch: "branch", steps: "steps" } as const;
  requireSound(written, ({ field, transition }) =>
    transition === null ? field : `transitions.${transition}.${names[field]}`,
  );
  const trigger = { type: document.triggerType, config: document.triggerConfig };
  const resolved: Resolved = {
    templates: await resolveTemplates(tx, projectId, document, templateIdsOf(written)),
    segments: await resolveSegments(tx, projectId, document, segmentIdsOf(written, trigger)),
  };
  const faults = [
    ...written.steps.flatMap((step, at) =>
      faultsOfStep(step, targets).map((fault) => ({ ...fault, field: `steps.${at}.${fault.field}` })),
    ),
    ...faultsOfExits(written.exitConditions ?? []),
    ...faultsOfGoal(written.goal),
    ...(allowMissing ? [] : missingOf(document, written, resolved)),
  ];
  if (faults.length > 0) throw new AppError("VALIDATION_ERROR", { fields: faults });
  const sealed = (step: GraphStep): GraphStep =>
    step.type === "WEBHOOK" ? withSealed(vault, projectId, step) : step;
  const steps = written.steps.map((step) => sealed(withResolved(step, resolved)));
  const graph = { ...withResolvedExits(written, resolved), steps };
  const { type, config, event } = await resolvedTrigger(tx, projectId, document, resolved);
  return storeWorkflow(tx, projectId, {
    graph,
    name: document.name,
    description: document.description,
    folder: document.folder ?? null,
    tags: withoutRepeats(document.tags ?? []),
    triggerType: type,
    triggerConfig: config,
    triggerEvent: event,
    allowReentry: document.allowReentry,
  });
}

/** @throws AppError VALIDATION_ERROR for a step with the key of an earlier one */
export function requireDistinctKeys(steps: WorkflowExport["steps"], field: string): void {
  const repeated = steps.findIndex(({ key }, at) => steps.findIndex((other) => other.key === key) < at);
  if (repeated !== -1)
    throw invalidField(`${field}.${repeated}.key`, "custom", "Another step already has this key.");
}

/** Stores a trigger unchecked if it is unfinished or its segment is missing. `problems` reports it, and the workflow cannot be enabled. */
async function resolvedTrigger(
  tx: Tx,
  projectId: string,
  { triggerType: type, triggerConfig }: WorkflowExport,
  resolved: Resolved,
): Promise<CheckedTrigger> {
  const config = withResolvedTrigger(triggerConfig, resolved);
  const isUnfinished =
    (Object.keys(config).length === 0 && type !== "MANUAL") ||
    segmentIdsOfTrigger({ type, config: triggerConfig }).some((id) => resolved.segments.get(id) === null);
  return isUnfinished ? { type, config, event: null } : checkTrigger(tx, projectId, { type, config });
}

/** Finds each template by id, or else by its name in the export if exactly one template has that name. */
export async function resolveTemplates(
  tx: Tx,
  projectId: string,
  document: Pick<WorkflowExport, "templates">,
  ids: readonly string[],
): Promise<Map<string, string | null>> {
  if (ids.length === 0) return new Map();
  const there = await lockTemplates(tx, projectId, ids);
  const nameOf = new Map(document.templates.map(({ id, name }) => [id, name]));
  const sought = ids.filter((id) => !there.has(id)).flatMap((id) => nameOf.get(id) ?? []);
  const named = sought.length === 0 ? [] : await findTemplatesNamed(tx, projectId, sought);
  const kept = await lockTemplates(
    tx,
    projectId,
    named.map(({ id }) => id),
  );
  return new Map(
    ids.map((id) => {
      if (there.has(id)) return [id, id];
      const [found, another] = named.filter((one) => one.name === nameOf.get(id) && kept.has(one.id));
      return [id, found === undefined || another !== undefined ? null : found.id];
    }),
  );
}

/** Finds each segment by id, or else by its slug in the export. */
export async function resolveSegments(
  tx: Tx,
  projectId: string,
  document: Pick<WorkflowExport, "segments">,
  ids: readonly string[],
): Promise<Map<string, string | null>> {
  if (ids.length === 0) return new Map();
  const there = new Set((await lockSegments(tx, projectId, ids)).map(({ id }) => id));
  const slugOf = new Map(document.segments.map(({ id, slug }) => [id, slug]));
  const sought = ids.filter((id) => !there.has(id)).flatMap((id) => slugOf.get(id) ?? []);
  const named = sought.length === 0 ? [] : await findSegmentsBySlug(tx, projectId, sought);
  const kept = await lockSegments(
    tx,
    projectId,
    named.map(({ id }) => id),
  );
  return new Map(
    ids.map((id) => [
      id,
      there.has(id) ? id : (kept.find(({ slug }) => slug === slugOf.get(id))?.id ?? null),
    ]),
  );
}

/** Formats a reference for people. */
function shown(list: ReadonlyArray<{ id: string; name: string }>, id: string): string {
  return `"${list.find((one) => one.id === id)?.name ?? "?"}" (${id})`;
}

/** Returns an error for each field of an export that refers to something this project lacks. */
function missingOf(
  document: WorkflowExport,
  { steps, exitConditions = [] }: Graph,
  { templates, segments }: Resolved,
): FieldError[] {
  const segment = (field: string, id: string): FieldError[] =>
    segments.get(id) === null
      ? [
          {
            field,
            code: "custom",
            ...withValues("Segment {id} not found.", { id: shown(document.segments, id) }),
          },
        ]
      : [];
  const trigger = { type: document.triggerType, config: document.triggerConfig };
  return [
    ...segmentIdsOfTrigger(trigger).flatMap((id) => segment("triggerConfig", id)),
    ...missingSegmentsOf(
      exitConditions,
      (id) => segments.get(id) === null,
      (id) => shown(document.segments, id),
    ),
    ...steps.flatMap((step, at): FieldError[] => {
      const templateId = templateIdOf(step);
      const message = withValues("Template {id} not found.", {
        id: shown(document.templates, templateId ?? ""),
      });
      const isMissing = templateId !== null && templates.get(templateId) === null;
      return [
        ...(isMissing
          ? [{ field: `steps.${at}.config.templateId`, code: "custom", ...message } as const]
          : []),
        ...segmentIdsOfStep(step).flatMap((id) => segment(`steps.${at}.config`, id)),
      ];
    }),
  ];
}
