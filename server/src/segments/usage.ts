// Provides segment members and the usage of fields and events to earlier folders.
import type { Filter } from "@postloft/contract/filters.ts";
import type { RawBuilder, SqlBool } from "kysely";
import type { Database } from "../platform/database/database.ts";
import { AppError } from "../platform/app-error.ts";
import type { Dependents } from "../contacts/contacts.ts";
import { requireStatic } from "./change-members.ts";
import { membershipOf } from "./filters/compile-filter.ts";
import { loadSegmentsFor } from "./filters/load-segments.ts";
import { deleteMembershipsOf, lockSegmentsOf } from "./member-queries.ts";
import { listSegmentsByCause } from "./queries.ts";
import { isStaticSegment } from "./import-consequences.ts";
import { segmentRestriction } from "./segment-restriction.ts";
import { listSegmentsNaming, listSegmentsOfContact } from "./usage-queries.ts";

export { namesField } from "./usage-queries.ts";

/**
 * Returns the current members of a segment as a condition on `contacts c`.
 * @throws AppError SEGMENT_NOT_FOUND.
 */
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
  if (!segments.has(segmentId)) throw new AppError("SEGMENT_NOT_FOUND");
  return membershipOf(database, segmentId, { projectId, segments });
}

/** Resolves segments and conditions, and the target segments of imports and bulk changes, for contacts/. */
export const findMeantContacts = {
  membersOf,
  matchesOf: segmentRestriction,
  isStaticSegment,
  requireStatic,
};

/** Memberships of deleted contacts, for contacts/. */
export const memberships: Dependents = { lock: lockSegmentsOf, end: deleteMembershipsOf };

/** Returns the static segments of a contact and its tracked dynamic segments. */
export async function segmentsOfContact(
  database: Database,
  projectId: string,
  contactId: string,
): Promise<Array<{ id: string; name: string; createdAt: Date }>> {
  return listSegmentsOfContact(database, projectId, contactId);
}

/** Returns segments with a condition on a field (`data.plan`, `email`). */
export async function segmentsNamingField(
  database: Database,
  projectId: string,
  field: string,
): Promise<Array<{ id: string; name: string }>> {
  return listSegmentsNaming(database, projectId, field);
}

/** Returns segments with members that an event can change, directly or through other segments. */
export async function listSegmentsWithEvent(database: Database, projectId: string, eventName: string) {
  return listSegmentsByCause(database, projectId, eventName);
}
