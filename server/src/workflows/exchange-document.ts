// Converts a workflow to an export and back. Steps are identified by keys of the export, templates and segments by id and name. Pure.
import type { Filter } from "@postloft/contract/filters.ts";
import type { ExitCondition } from "@postloft/contract/workflows/exit-conditions.ts";
import { STEP_CONFIGS, type Graph, type GraphStep } from "@postloft/contract/workflows/graph.ts";
import type { WorkflowExport } from "@postloft/contract/workflows/versions.ts";
import { masked } from "./present.ts";
import type { WorkflowRow } from "./queries.ts";

/** Names of the templates and segments that an export refers to. */
export interface NamedReferences {
  templates: WorkflowExport["templates"];
  segments: WorkflowExport["segments"];
}

export function exportOf(
  row: WorkflowRow,
  { steps, transitions, exitConditions = [], goal }: Graph,
  references: NamedReferences,
): WorkflowExport {
  const keys = new Map(steps.map(({ id }, at) => [id, String(at + 1)]));
  const keyOf = (id: string) => keys.get(id) ?? id;
  return {
    format: "postloft.workflow",
    formatVersion: 1,
    name: row.name,
    description: row.description,
    ...(row.folder === null ? {} : { folder: row.folder }),
    ...(row.tags.length === 0 ? {} : { tags: row.tags }),
    triggerType: row.triggerType,
    triggerConfig: row.triggerConfig,
    allowReentry: row.allowReentry,
    steps: steps.map((step) => ({
      key: keyOf(step.id),
      type: step.type,
      name: step.name,
      config: masked(step).config,
      position: step.position,
      ...noteOf(step),
    })),
    transitions: transitions.map(({ fromStepId, toStepId, branch, priority }) => ({
      from: keyOf(fromStepId),
      to: keyOf(toStepId),
      branch,
      priority,
    })),
    ...(exitConditions.length === 0 ? {} : { exitConditions }),
    ...(goal === undefined ? {} : { goal }),
    ...references,
  };
}

const noteOf = ({ note }: { note?: string | undefined }) => (note ? { note } : {});

/** Returns the graph of an export. A transition to an unknown step keeps the key, which `checkGraph` rejects. */
export function graphOfExport(
  {
    steps,
    transitions,
    exitConditions = [],
    goal = null,
  }: Pick<WorkflowExport, "steps" | "transitions" | "exitConditions" | "goal">,
  { newId, at }: { newId: () => string; at: string },
): Graph {
  const ids = new Map(steps.map(({ key }) => [key, newId()]));
  const idOf = (key: string) => ids.get(key) ?? key;
  return {
    ...(exitConditions.length === 0 ? {} : { exitConditions }),
    ...(goal === null ? {} : { goal }),
    steps: steps.map(
      ({ key, type, name, config, position, note }) =>
        ({
          id: idOf(key),
          type,
          name,
          config: STEP_CONFIGS[type].parse(config),
          position,
          ...noteOf({ note }),
          createdAt: at,
          updatedAt: at,
        }) as GraphStep,
    ),
    transitions: transitions.map(({ from, to, branch, priority }) => ({
      id: newId(),
      fromStepId: idOf(from),
      toStepId: idOf(to),
      branch,
      priority,
    })),
  };
}

/** Maps each id of an export to the id in this project, or to null if it does not exist here. */
export interface Resolved {
  templates: ReadonlyMap<string, string | null>;
  segments: ReadonlyMap<string, string | null>;
}

/** Returns the step with the ids of this project. Drops the id of a missing template and keeps that of a missing segment. */
export function withResolved(step: GraphStep, { templates, segments }: Resolved): GraphStep {
  if (step.type === "SEND_EMAIL" && step.config.templateId !== undefined) {
    const { templateId, ...others } = step.config;
    const found = templates.get(templateId) ?? null;
    return { ...step, config: found === null ? others : { ...others, templateId: found } };
  }
  if (step.type === "BRANCH") {
    const branches = step.config.branches.map((one) => ({
      ...one,
      filter: withSegments(one.filter, segments) as typeof one.filter,
    }));
    return { ...step, config: { branches } };
  }
  if (step.type !== "CONDITION") return step;
  return { ...step, config: withSegments(step.config, segments) as typeof step.config };
}

/** Returns the exit conditions with the segment ids of this project. */
export function withResolvedExits<Of extends Pick<Graph, "exitConditions">>(
  graph: Of,
  { segments }: Resolved,
): Of {
  const { exitConditions } = graph;
  if (exitConditions === undefined) return graph;
  return {
    ...graph,
    exitConditions: exitConditions.map((one): ExitCondition => {
      if (one.type === "SEGMENT") return { ...one, segmentId: segments.get(one.segmentId) ?? one.segmentId };
      return one.type === "FILTER" ? { ...one, filter: withSegments(one.filter, segments) as Filter } : one;
    }),
  };
}

/** Returns a trigger's config with the segment ids of this project. */
export function withResolvedTrigger(
  config: Readonly<Record<string, unknown>>,
  { segments }: Resolved,
): Readonly<Record<string, unknown>> {
  const { segmentId, audienceFilter } = config;
  return {
    ...config,
    ...(typeof segmentId === "string" ? { segmentId: segments.get(segmentId) ?? segmentId } : {}),
    ...(audienceFilter === undefined ? {} : { audienceFilter: withSegments(audienceFilter, segments) }),
  };
}

const NESTED: ReadonlySet<string> = new Set(["conditions", "groups", "filters"]);

/** Replaces segment ids in the conditions of a filter. The filter was parsed before, so its depth is limited. */
function withSegments(part: unknown, segments: Resolved["segments"]): unknown {
  if (Array.isArray(part)) return part.map((one) => withSegments(one, segments));
  if (typeof part !== "object" || part === null) return part;
  return Object.fromEntries(
    Object.entries(part).map(([name, value]: [string, unknown]) => {
      if (NESTED.has(name)) return [name, withSegments(value, segments)];
      const [, id] = name === "field" ? (/^segment\.(.+)$/su.exec(String(value)) ?? []) : [];
      const found = id === undefined ? undefined : segments.get(id);
      return [name, found === undefined || found === null ? value : `segment.${found}`];
    }),
  );
}
