// Builds SQL conditions for the contacts of a segment or a filter, and validates the segments in a filter.
import type { Filter } from "@postloft/contract/filters.ts";
import { withValues } from "@postloft/contract/translation.ts";
import type { RawBuilder, SqlBool } from "kysely";
import type { Database } from "../platform/database/database.ts";
import { invalidField } from "../platform/app-error.ts";
import { membershipForAll, restrictionForAll, restrictionOf } from "./filters/compile-filter.ts";
import { loadSegments, type SegmentSource } from "./filters/load-segments.ts";
import { segmentsUnder } from "./rules.ts";

/**
 * Requires that all segments in the filters exist in the project and do not lead back to this segment.
 * @throws AppError VALIDATION_ERROR for `field`.
 */
export function checkSegments(
  field: string,
  id: string,
  filters: Filter,
  segments: ReadonlyMap<string, SegmentSource>,
): void {
  const under = segmentsUnder(filters, segments);
  if (under.has(id)) throw invalidField(field, "custom", "The segment can't refer to itself.");
  for (const one of under)
    if (!segments.has(one))
      throw invalidField(field, "custom", withValues("Segment {id} not found.", { id: one }));
}

/**
 * Returns the contacts of a segment or an unsaved filter as a condition on `contacts c`.
 * @param scope `few` if the statement names its contacts
 * @throws AppError VALIDATION_ERROR for `field` if a segment does not belong to the project.
 */
export async function segmentRestriction(
  database: Database,
  projectId: string,
  field: string,
  which: string | Filter | null,
  scope: "few" | "all" = "all",
): Promise<RawBuilder<SqlBool>> {
  const segments = await loadSegments(database, projectId);
  if (which === null) throw invalidField(field, "required", "Required.");
  if (typeof which !== "string") {
    checkSegments(field, "", which, segments);
    return scope === "few"
      ? restrictionOf(database, which, { projectId, segments, fewContacts: true })
      : restrictionForAll(database, which, { projectId, segments });
  }
  if (!segments.has(which))
    throw invalidField(field, "custom", withValues("Segment {id} not found.", { id: which }));
  return membershipForAll(database, which, { projectId, segments });
}
