// Whether a workflow of a project would start itself, with what the database knows of the others.
import { isReservedEventName, segmentEventName } from "@postloft/contract/event-names.ts";
import { readField } from "@postloft/contract/filter-fields.ts";
import { causesOf, conditionsOf, type Filter } from "@postloft/contract/filters.ts";
import type { Database } from "../platform/database/database.ts";
import { findLoop, type ReenteredWorkflow, type SegmentDependencies } from "./self-triggering.ts";
import { listReenteredWorkflows, listSegmentFilters, type SegmentRow } from "./self-triggering-queries.ts";

/** Whether steps of any workflow can cause the event that starts this one, again and again. */
export function mayCloseLoop(workflow: {
  allowReentry: boolean;
  trigger: { event: string | null };
}): boolean {
  const { event } = workflow.trigger;
  return workflow.allowReentry && event !== null && isReservedEventName(event);
}

/**
 * Returns the names of the workflows in the loop that a workflow closes when it is enabled, itself first; null where there is none.
 * Only an event of the service can be caused by a step, and without re-entry a contact comes round once, so others need no look.
 */
export async function findSelfTriggering(
  database: Database,
  projectId: string,
  workflow: ReenteredWorkflow & { allowReentry: boolean },
): Promise<string[] | null> {
  if (!mayCloseLoop({ allowReentry: workflow.allowReentry, trigger: { event: workflow.triggerEvent } }))
    return null;
  const others = await listReenteredWorkflows(database, projectId);
  const isAboutSegments = [workflow, ...others].some(({ triggerEvent }) =>
    triggerEvent?.startsWith("segment."),
  );
  const segments = isAboutSegments ? await listSegmentFilters(database, projectId) : [];
  const loop = findLoop(workflow, others, dependenciesOf(segments));
  return loop === null ? null : loop.map(({ name }) => name);
}

function dependenciesOf(segments: readonly SegmentRow[]): SegmentDependencies[] {
  const byId = new Map(segments.map((segment) => [segment.id, segment]));
  return segments
    .filter(({ isTracked }) => isTracked)
    .map((segment) => {
      const filters = filtersUnder(segment, byId);
      return {
        entryEvent: segmentEventName(segment.slug, "entry"),
        exitEvent: segmentEventName(segment.slug, "exit"),
        fields: new Set(filters.flatMap(fieldsOf)),
        events: new Set(filters.map(causesOf).flatMap(({ events, emails }) => [...events, ...emails])),
      };
    });
}

/** The filters of a segment and of those it refers to, each once. */
function filtersUnder(segment: SegmentRow, byId: ReadonlyMap<string, SegmentRow>): Filter[] {
  const found = new Map<string, Filter>();
  const waiting = [segment];
  for (let one = waiting.pop(); one !== undefined; one = waiting.pop()) {
    if (one.filters === null || found.has(one.id)) continue;
    found.set(one.id, one.filters);
    waiting.push(...causesOf(one.filters).segments.flatMap((id) => byId.get(id) ?? []));
  }
  return [...found.values()];
}

function fieldsOf(filter: Filter): string[] {
  return conditionsOf(filter).map(({ field }) => {
    const read = readField(field);
    return typeof read !== "string" && read.kind === "data" ? dataField(read.key) : field;
  });
}

/** An update replaces a key of `data` as a whole, so the first part of a path decides. */
function dataField(key: string): string {
  return `data.${key.split(".")[0] ?? key}`;
}
