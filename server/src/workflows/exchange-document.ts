// A workflow as one document and back: steps by keys of the document, templates and segments by id and name. Pure.
import { STEP_CONFIGS, type Graph, type GraphStep } from "@postloft/contract/workflows/graph.ts";
import type { WorkflowDocument } from "@postloft/contract/workflows/versions.ts";
import { masked } from "./present.ts";
import type { WorkflowRow } from "./queries.ts";

/** What a document says of the templates and segments it refers to. */
export interface NamedReferences {
  templates: WorkflowDocument["templates"];
  segments: WorkflowDocument["segments"];
}

export function documentOf(
  row: WorkflowRow,
  { steps, transitions }: Graph,
  references: NamedReferences,
): WorkflowDocument {
  const keys = new Map(steps.map(({ id }, at) => [id, String(at + 1)]));
  const keyOf = (id: string) => keys.get(id) ?? id;
  return {
    format: "postloft.workflow",
    formatVersion: 1,
    name: row.name,
    description: row.description,
    triggerType: row.triggerType,
    triggerConfig: row.triggerConfig,
    allowReentry: row.allowReentry,
    steps: steps.map((step) => ({
      key: keyOf(step.id),
      type: step.type,
      name: step.name,
      config: masked(step).config,
      position: step.position,
    })),
    transitions: transitions.map(({ fromStepId, toStepId, branch, priority }) => ({
      from: keyOf(fromStepId),
      to: keyOf(toStepId),
      branch,
      priority,
    })),
    ...references,
  };
}

/** The graph of a document. A transition that names no step of it keeps the key, which checkGraph refuses. */
export function graphOfDocument(
  { steps, transitions }: WorkflowDocument,
  { newId, at }: { newId: () => string; at: string },
): Graph {
  const ids = new Map(steps.map(({ key }) => [key, newId()]));
  const idOf = (key: string) => ids.get(key) ?? key;
  return {
    steps: steps.map(
      ({ key, type, name, config, position }) =>
        ({
          id: idOf(key),
          type,
          name,
          config: STEP_CONFIGS[type].parse(config),
          position,
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

/** For each id of a document what it is here: another id, or null where it is not there. */
export interface Resolved {
  templates: ReadonlyMap<string, string | null>;
  segments: ReadonlyMap<string, string | null>;
}

/** The step with the ids of this project. A template that is missing is left out; a segment that is missing stays. */
export function withResolved(step: GraphStep, { templates, segments }: Resolved): GraphStep {
  if (step.type === "SEND_EMAIL" && step.config.templateId !== undefined) {
    const { templateId, ...others } = step.config;
    const found = templates.get(templateId) ?? null;
    return { ...step, config: found === null ? others : { ...others, templateId: found } };
  }
  if (step.type !== "CONDITION") return step;
  return { ...step, config: withSegments(step.config, segments) as typeof step.config };
}

/** A trigger's config with the segments of this project. */
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

/** A filter as it was written, with other segments in its conditions. It was read before, so it is not too deep. */
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
