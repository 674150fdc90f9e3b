// Loads the segments that a filter uses, before the filter is planned.
import { causesOf, type Filter } from "@postloft/contract/filters.ts";
import { LIMITS } from "@postloft/contract/limits/limits.ts";
import type { Database } from "../../platform/database/database.ts";
import { findSegmentSources, listSegmentSources } from "./queries.ts";
import type { SegmentSource } from "./rules.ts";

export type { SegmentSource, SegmentSources } from "./rules.ts";

/** Returns all segments of a project. */
export async function loadSegments(
  database: Database,
  projectId: string,
): Promise<Map<string, SegmentSource>> {
  const rows = await listSegmentSources(database, projectId);
  return new Map(rows.map((row) => [row.id, row]));
}

/** Returns the segments that these filters use, directly or through other segments. Filters without segment conditions cost no query. */
export async function loadSegmentsFor(
  database: Database,
  projectId: string,
  filters: readonly Filter[],
): Promise<Map<string, SegmentSource>> {
  const segments = new Map<string, SegmentSource>();
  let wanted = new Set(filters.flatMap((one) => causesOf(one).segments));
  // Loads one level more than allowed, to distinguish too deep from deleted.
  for (let depth = 0; wanted.size > 0 && depth <= LIMITS.filterDepth.value; depth++) {
    const rows = await findSegmentSources(database, projectId, [...wanted]);
    for (const row of rows) segments.set(row.id, row);
    const inner = rows.flatMap((row) => (row.filters === null ? [] : causesOf(row.filters).segments));
    wanted = new Set(inner.filter((id) => !segments.has(id)));
  }
  return segments;
}
