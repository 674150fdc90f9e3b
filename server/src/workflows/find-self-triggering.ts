// Checks whether a workflow would trigger itself, given the other workflows of the project.
import { isReservedEventName, segmentEventName } from "@postloft/contract/event-names.ts";
import { readField } from "@postloft/contract/filter-fields.ts";
import { causesOf, conditionsOf, type Filter } from "@postloft/contract/filters.ts";
import type { Database } from "../platform/database/database.ts";
import { findLoop, type ReenteredWorkflow, type SegmentDependencies } from "./self-triggering.ts";
import { listReenteredWorkflows, listSegmentFilters, type SegmentRow } from "./self-triggering-queries.ts";

/** Returns whether steps of any workflow can cause the event that starts this one. */
function mayCloseLoop(workflow: { allowReentry: boolean; trigger: { event: string | null } }): boolean {
  const { event } = workflow.trigger;
  return workflow.allowReentry && event !== null && isReservedEventName(event);
}

/**
 * Returns the names of the workflows in the loop that enabling a workflow would close, this workflow first. Returns null if there is no
 * loop.
 * Only workflows with re-entry and an event of the service or a date can be in a loop. Steps cause no other events, and without re-entry a contact
 * enters once.
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

/** Returns the filters of a segment and of the segments it refers to, each once. */
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

/** An update replaces a whole key of `data`, so only the first part of a path matters. */
function dataField(key: string): string {
  return `data.${key.split(".")[0] ?? key}`;
}
