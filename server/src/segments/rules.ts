// Pure rules of segments: the slug in their events, which other segments they stand on, what can move a contact in or out.
import { segmentEventName } from "@postloft/contract/event-names.ts";
import { causesOf, type Filter } from "@postloft/contract/filters.ts";
import type { Database } from "../platform/database/database.ts";
import { ANY_CHANGE } from "../reactions/reactions.ts";
import type { EventNames } from "./member-queries.ts";

const MAX_SLUG_LENGTH = 60;

/** The name in lower case, everything but letters and digits as one hyphen (decisions §5); never empty. */
export function slugOf(name: string): string {
  const slug = name
    .normalize("NFKC")
    .toLowerCase()
    .replace(/[^\p{L}\p{Nd}]+/gu, "-")
    .replace(/^-|-$/g, "");
  return slug.slice(0, MAX_SLUG_LENGTH).replace(/-$/, "") || "segment";
}

/** The slug, or the first free one with a number: two segments never share the names of their events, also not with one that was deleted. */
export function freeSlug(slug: string, taken: ReadonlySet<string>): string {
  if (!taken.has(slug)) return slug;
  for (let number = 2; ; number++) if (!taken.has(`${slug}-${number}`)) return `${slug}-${number}`;
}

export function eventNamesOf(segment: { id: string; name: string; slug: string }): EventNames {
  return {
    entry: segmentEventName(segment.slug, "entry"),
    exit: segmentEventName(segment.slug, "exit"),
    data: { segmentId: segment.id, segmentName: segment.name },
  };
}

/** The name of the first that there is. */
type NameOfUser = (database: Database, projectId: string, segmentId: string) => Promise<string | undefined>;

/** Who of the folders after this one stands on a segment; handed in by api.ts. */
export interface SegmentUse {
  /** A campaign that is scheduled or under way. */
  campaignOfSegment: NameOfUser;
  /** An enabled workflow. */
  workflowOfSegment: NameOfUser;
  /** An enabled workflow that starts where contacts enter or leave it. */
  workflowStartedBy: NameOfUser;
}

/** A segment as far as others can stand on it. */
export interface Node {
  id: string;
  filters: Filter | null;
}

/** Every segment these filters stand on, through others too; ids that are none are among them. */
export function segmentsUnder(filters: Filter, nodes: ReadonlyMap<string, Node>): Set<string> {
  const found = new Set<string>();
  const waiting = causesOf(filters).segments;
  for (let id = waiting.pop(); id !== undefined; id = waiting.pop()) {
    if (found.has(id)) continue;
    found.add(id);
    const inner = nodes.get(id)?.filters ?? null;
    if (inner !== null) waiting.push(...causesOf(inner).segments);
  }
  return found;
}

/** The segments that stand on this one, through others too. */
export function segmentsOver(id: string, nodes: ReadonlyMap<string, Node>): string[] {
  return [...nodes.values()]
    .filter((node) => node.filters !== null && segmentsUnder(node.filters, nodes).has(id))
    .map((node) => node.id);
}

export interface Causes {
  causes: string[];
  timeBased: boolean;
}

/**
 * What can move a contact in or out of a dynamic segment, the segments it stands on included. Whoever is added to a static one or
 * removed from it is noted as changed.
 */
export function allCauses(filters: Filter, nodes: ReadonlyMap<string, Node>): Causes {
  const inner = [...segmentsUnder(filters, nodes)].flatMap((id) => nodes.get(id) ?? []);
  const all = [filters, ...inner.flatMap((node) => node.filters ?? [])].map(causesOf);
  const isOnStatic = inner.some((node) => node.filters === null);
  const names = all.flatMap((one) => [...one.events, ...one.emails, ...(one.contact ? [ANY_CHANGE] : [])]);
  if (isOnStatic) names.push(ANY_CHANGE);
  return { causes: [...new Set(names)].toSorted(), timeBased: all.some((one) => one.timeBased) };
}

/** Whether what happened to a contact can move it; a cause of null is a change of the contact without an event. */
export function canMove(causes: readonly string[], cause: string | null): boolean {
  if (cause === null || causes.includes(cause)) return true;
  return causes.includes(ANY_CHANGE) && !/^(email|segment)\./.test(cause);
}
