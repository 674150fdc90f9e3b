// Finds workflows that start themselves, directly or through other workflows: such a loop would email a contact without end. Pure.
import {
  CONTACT_SUBSCRIBED,
  CONTACT_UNSUBSCRIBED,
  EMAIL_BOUNCE,
  EMAIL_DELIVERY,
  EMAIL_MACHINE_CLICK,
  EMAIL_MACHINE_OPEN,
  EMAIL_SENT,
  EMAIL_SKIPPED,
} from "@postloft/contract/event-names.ts";
import type { GraphStep } from "@postloft/contract/workflows/graph.ts";

/** What follows from an email without any person doing anything. */
const EVENTS_OF_AN_EMAIL = [
  EMAIL_SENT,
  EMAIL_DELIVERY,
  EMAIL_BOUNCE,
  EMAIL_MACHINE_OPEN,
  EMAIL_MACHINE_CLICK,
  EMAIL_SKIPPED,
] as const;

/** A workflow that contacts may enter again and again. */
export interface ReenteredWorkflow {
  id: string;
  name: string;
  /** The event that starts it; null: none does. */
  triggerEvent: string | null;
  /** Only those that contacts can come to. */
  steps: readonly GraphStep[];
}

/** What a tracked segment depends on, through the segments it refers to as well. */
export interface SegmentDependencies {
  entryEvent: string;
  exitEvent: string;
  /** Fields of contacts: `data.<key>` with the first part of the path, `subscribed`, `updatedAt`. */
  fields: ReadonlySet<string>;
  /** Names of events, those of emails included. */
  events: ReadonlySet<string>;
}

/**
 * Returns the shortest loop that a workflow is part of: it first, then those that each one starts; the last one starts the first again.
 * Null where there is none. `others` are enabled and may be entered again.
 */
export function findLoop(
  workflow: ReenteredWorkflow,
  others: readonly ReenteredWorkflow[],
  segments: readonly SegmentDependencies[],
): ReenteredWorkflow[] | null {
  const all = [workflow, ...others.filter(({ id }) => id !== workflow.id)];
  const startedBy = new Map(all.map((one) => [one.id, eventsCausedBy(one.steps, segments)]));
  const cameFrom = new Map<string, ReenteredWorkflow | null>([[workflow.id, null]]);
  const waiting = [workflow];
  for (let one = waiting.shift(); one !== undefined; one = waiting.shift()) {
    const events = startedBy.get(one.id) ?? new Set();
    for (const next of all) {
      if (next.triggerEvent === null || !events.has(next.triggerEvent)) continue;
      if (next.id === workflow.id) return pathTo(one, cameFrom);
      if (cameFrom.has(next.id)) continue;
      cameFrom.set(next.id, one);
      waiting.push(next);
    }
  }
  return null;
}

function pathTo(
  last: ReenteredWorkflow,
  cameFrom: ReadonlyMap<string, ReenteredWorkflow | null>,
): ReenteredWorkflow[] {
  const path: ReenteredWorkflow[] = [];
  for (let one: ReenteredWorkflow | null = last; one !== null; one = cameFrom.get(one.id) ?? null)
    path.unshift(one);
  return path;
}

/** The names of the events that steps cause by what they do to a contact. */
export function eventsCausedBy(
  steps: readonly GraphStep[],
  segments: readonly SegmentDependencies[],
): Set<string> {
  const events = new Set<string>();
  const fields = new Set<string>();
  for (const step of steps) {
    // An email to another address happens to that contact, not to the one in the workflow.
    if (step.type === "SEND_EMAIL" && step.config.recipient?.type !== "CUSTOM")
      for (const event of EVENTS_OF_AN_EMAIL) events.add(event);
    if (step.type !== "UPDATE_CONTACT") continue;
    fields.add("updatedAt");
    for (const key of Object.keys(step.config.updates ?? {})) fields.add(`data.${key.split(".")[0] ?? key}`);
    const { subscriptionAction = "none" } = step.config;
    if (subscriptionAction === "none") continue;
    fields.add("subscribed");
    events.add(subscriptionAction === "subscribe" ? CONTACT_SUBSCRIBED : CONTACT_UNSUBSCRIBED);
  }
  for (const segment of segments) {
    if (!segment.fields.isDisjointFrom(fields) || !segment.events.isDisjointFrom(events)) {
      events.add(segment.entryEvent);
      events.add(segment.exitEvent);
    }
  }
  return events;
}
