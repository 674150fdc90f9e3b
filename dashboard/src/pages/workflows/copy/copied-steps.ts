// Steps of a workflow as JSON for the clipboard. Pure.
import type { CopiedSteps } from "@postloft/contract/workflows/paste.ts";
import type { Step, Workflow } from "../workflow-queries.ts";

const FORMAT = "postloft.steps";
const FORMAT_VERSION = 1;

/** Names of templates and segments, by which other projects find their own. */
export interface NamesToCopy {
  templates: ReadonlyMap<string, string>;
  segments: ReadonlyArray<{ id: string; name: string; slug: string }>;
}

/** Returns a step and all steps to which it leads, nearest first. */
export function stepsFrom({ steps, transitions }: Workflow, id: string): Step[] {
  const found = [id];
  for (const from of found)
    for (const { fromStepId, toStepId } of transitions)
      if (fromStepId === from && !found.includes(toStepId)) found.push(toStepId);
  return found.flatMap((one) => steps.find((step) => step.id === one) ?? []);
}

/** Returns steps with the transitions between them, and the names of what they use. */
export function copyOf(
  steps: readonly Step[],
  transitions: Workflow["transitions"],
  { templates, segments }: NamesToCopy,
): CopiedSteps {
  const keys = new Map(steps.map(({ id }, at) => [id, String(at + 1)]));
  const used = JSON.stringify(steps.map(({ config }) => config));
  return {
    format: FORMAT,
    formatVersion: FORMAT_VERSION,
    steps: steps.map(({ id, type, name, config, note }) => ({
      key: keys.get(id) ?? id,
      type,
      name,
      config,
      position: null,
      ...(note === null ? {} : { note }),
    })),
    transitions: transitions.flatMap(({ fromStepId, toStepId, branch, priority }) => {
      const [from, to] = [keys.get(fromStepId), keys.get(toStepId)];
      return from === undefined || to === undefined ? [] : [{ from, to, branch, priority }];
    }),
    templates: [...templates].flatMap(([id, name]) => (used.includes(id) ? [{ id, name }] : [])),
    segments: segments.flatMap(({ id, name, slug }) => (used.includes(id) ? [{ id, name, slug }] : [])),
  };
}

/** Returns copied steps, `newer` for those of a later version, or null for any other text. The API checks everything else. */
export function readCopied(text: string): CopiedSteps | "newer" | null {
  try {
    const read = JSON.parse(text) as Partial<CopiedSteps> | null;
    if (read?.format !== FORMAT || !Array.isArray(read.steps)) return null;
    return read.formatVersion === FORMAT_VERSION ? (read as CopiedSteps) : "newer";
  } catch {
    return null;
  }
}
