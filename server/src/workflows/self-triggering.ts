// Finds workflows that trigger themselves, directly or through other workflows. Such a loop would email a contact without end. Pure.
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

/** Events that follow an email without any action by a person. */
const EVENTS_OF_AN_EMAIL = [
  EMAIL_SENT,
  EMAIL_DELIVERY,
  EMAIL_BOUNCE,
  EMAIL_MACHINE_OPEN,
  EMAIL_MACHINE_CLICK,
  EMAIL_SKIPPED,
] as const;

/** Stands for a new date in a field, which starts a workflow with the trigger DATE. Names with `email.` are reserved, so no event has it. */
export const DATE_EVENT = "email.date:";

/** Returns what stands for a new date in the field of a trigger DATE, or null if it has none yet. */
export function dateEventOf({ dateField }: Readonly<Record<string, unknown>>): string | null {
  return typeof dateField === "string" ? `${DATE_EVENT}${dateField}` : null;
}

/** A workflow with re-entry. */
export interface ReenteredWorkflow {
  id: string;
  name: string;
  /** The event that starts it, or null. */
  triggerEvent: string | null;
  /** Only reachable steps. */
  steps: readonly GraphStep[];
}

/** The fields and events that a tracked segment depends on, including those of the segments it refers to. */
export interface SegmentDependencies {
  entryEvent: string;
  exitEvent: string;
  /** Fields of contacts: `data.<key>` with the first part of the path, `subscribed`, `updatedAt`. */
  fields: ReadonlySet<string>;
  /** Event names, including those of emails. */
  events: ReadonlySet<string>;
}

/**
 * Returns the shortest loop through a workflow, or null. The loop starts with this workflow, each workflow starts the next, and the last
 * starts the first.
 * `others` are enabled and have re-entry.
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

/** Returns the names of the events that steps cause by their effect on a contact. */
export function eventsCausedBy(
  steps: readonly GraphStep[],
  segments: readonly SegmentDependencies[],
): Set<string> {
  const events = new Set<string>();
  const fields = new Set<string>();
  for (const step of steps) {
    // An email to a custom address belongs to that contact, not to the one in the workflow.
    if (step.type === "SEND_EMAIL" && step.config.recipient?.type !== "CUSTOM")
      for (const event of EVENTS_OF_AN_EMAIL) events.add(event);
    if (step.type !== "UPDATE_CONTACT") continue;
    fields.add("updatedAt");
    for (const [key, value] of Object.entries(step.config.updates ?? {})) {
      fields.add(`data.${key.split(".")[0] ?? key}`);
      // A fixed date starts a workflow once.
      if (typeof value === "string" && value.includes("{{")) events.add(`${DATE_EVENT}data.${key}`);
    }
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
