// What the folders before this one ask of segments: who is in one, and which use a field or an event.
import type { Filter } from "@postloft/contract/filters.ts";
import type { RawBuilder, SqlBool } from "kysely";
import type { Database } from "../platform/database/database.ts";
import { Refusal } from "../platform/refusal.ts";
import type { Dependents } from "../contacts/contacts.ts";
import { membershipOf } from "./filters/compile-filter.ts";
import { loadSegmentsFor } from "./filters/load-segments.ts";
import { deleteMembershipsOf, lockSegmentsOf } from "./member-queries.ts";
import { listSegmentsByCause } from "./queries.ts";
import { isStaticSegment } from "./import-consequences.ts";
import { segmentRestriction } from "./segment-restriction.ts";
import { listSegmentsNaming, listSegmentsOfContact } from "./usage-queries.ts";

export { namesField } from "./usage-queries.ts";

/** The members of a segment now, as a condition on `contacts c`. @throws Refusal SEGMENT_NOT_FOUND. */
async function membersOf(
  database: Database,
  projectId: string,
  segmentId: string,
): Promise<RawBuilder<SqlBool>> {
  const inSegment: Filter = {
    operator: "AND",
    conditions: [{ field: `segment.${segmentId}`, operator: "memberOfSegment" }],
  };
  const segments = await loadSegmentsFor(database, projectId, [inSegment]);
  if (!segments.has(segmentId)) throw new Refusal("SEGMENT_NOT_FOUND");
  return membershipOf(database, segmentId, { projectId, segments });
}

/** Who is meant by a segment or by conditions, and which segment an import may add to, for contacts/. */
export const whoIsMeant = { membersOf, matchesOf: segmentRestriction, isStaticSegment };

/** The memberships of contacts that are deleted, for contacts/. */
export const memberships: Dependents = { lock: lockSegmentsOf, end: deleteMembershipsOf };

/** The segments in which a contact stands: static ones, and dynamic ones whose members are tracked. */
export async function segmentsOfContact(
  database: Database,
  projectId: string,
  contactId: string,
): Promise<Array<{ id: string; name: string; createdAt: Date }>> {
  return listSegmentsOfContact(database, projectId, contactId);
}

/** Segments with a condition on a field (`data.plan`, `email`). */
export async function segmentsNamingField(
  database: Database,
  projectId: string,
  field: string,
): Promise<Array<{ id: string; name: string }>> {
  return listSegmentsNaming(database, projectId, field);
}

/** Segments whose members an event can move, those that stand on others that use it among them. */
export async function listSegmentsWithEvent(database: Database, projectId: string, eventName: string) {
  return listSegmentsByCause(database, projectId, eventName);
}
