// Pure rules of segments: event slugs, dependencies between segments, and the causes of membership changes.
import { segmentEventName } from "@postloft/contract/event-names.ts";
import { causesOf, type Filter } from "@postloft/contract/filters.ts";
import type { Database, Tx } from "../platform/database/database.ts";
import { ANY_CHANGE } from "../reactions/reactions.ts";
import type { EventNames } from "./member-queries.ts";

const MAX_SLUG_LENGTH = 60;

/** Returns the name in lower case with hyphens for everything except letters and digits (decisions §5). Never empty. */
export function slugOf(name: string): string {
  const slug = name
    .normalize("NFKC")
    .toLowerCase()
    .replace(/[^\p{L}\p{Nd}]+/gu, "-")
    .replace(/^-|-$/g, "");
  return slug.slice(0, MAX_SLUG_LENGTH).replace(/-$/, "") || "segment";
}

/** Returns the slug, or its first free number. Two segments never share event names, not even with a deleted segment. */
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

/** Returns the name of the first match. */
type NameOfUser = (database: Database, projectId: string, segmentId: string) => Promise<string | undefined>;

/** Checks for uses of a segment in later folders, provided through api.ts. */
export interface SegmentUse {
  /** A scheduled or running campaign. */
  campaignOfSegment: NameOfUser;
  /** An enabled workflow. */
  workflowOfSegment: NameOfUser;
  /** An enabled workflow that starts when contacts enter or leave the segment. */
  workflowStartedBy: NameOfUser;
  /** Detaches the campaigns that have ended or are drafts from a segment that the transaction deletes. */
  detachCampaigns: (tx: Tx, projectId: string, segmentId: string) => Promise<void>;
}

/** The properties of a segment that matter for dependencies. */
export interface Node {
  id: string;
  filters: Filter | null;
}

/** Returns all segments that these filters use, directly or indirectly, including unknown ids. */
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

/** Returns the segments that use this one, directly or indirectly. */
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
 * Returns the causes of membership changes of a dynamic segment, including its dependencies. Members added to or removed from a static
 * segment count as changed contacts.
 */
export function allCauses(filters: Filter, nodes: ReadonlyMap<string, Node>): Causes {
  const inner = [...segmentsUnder(filters, nodes)].flatMap((id) => nodes.get(id) ?? []);
  const all = [filters, ...inner.flatMap((node) => node.filters ?? [])].map(causesOf);
  const isOnStatic = inner.some((node) => node.filters === null);
  const names = all.flatMap((one) => [...one.events, ...one.emails, ...(one.contact ? [ANY_CHANGE] : [])]);
  if (isOnStatic) names.push(ANY_CHANGE);
  return { causes: [...new Set(names)].toSorted(), timeBased: all.some((one) => one.timeBased) };
}

/** Returns whether an event can move a contact. A null cause is a change of the contact without an event. */
export function canMove(causes: readonly string[], cause: string | null): boolean {
  if (cause === null || causes.includes(cause)) return true;
  return causes.includes(ANY_CHANGE) && !/^(email|segment)\./.test(cause);
}
