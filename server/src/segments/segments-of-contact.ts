// Lists the segments that one contact is in.
import type { SegmentType } from "@postloft/contract/segments.ts";
import { getContact } from "../contacts/contacts.ts";
import { isAmong } from "../contacts/matching-contacts.ts";
import type { Database } from "../platform/database/database.ts";
import { toPage, type Page, type PageRequest } from "../platform/http/page.ts";
import { AppError } from "../platform/app-error.ts";
import { membershipOf } from "./filters/compile-filter.ts";
import { loadSegments } from "./filters/load-segments.ts";
import { listSegmentNames, type SegmentName } from "./queries.ts";

export interface SegmentOfContact {
  id: string;
  name: string;
  type: SegmentType;
  isMember: boolean | null;
}

const LIST = "segments";

/**
 * Returns a page of a project's segments with the contact's current membership. Each segment takes a separate statement, because filters
 * can be large and one combined statement would block the serving thread and the planner.
 * @throws AppError CONTACT_NOT_FOUND, also for a contact of another project
 */
export async function listSegmentsOfContact(
  database: Database,
  projectId: string,
  contactId: string,
  request: PageRequest,
): Promise<Page<SegmentOfContact>> {
  const { id } = await getContact(database, projectId, contactId);
  const { data, ...page } = toPage(
    LIST,
    request,
    await listSegmentNames(database, projectId, request),
    (row) => row,
  );
  const segments = await loadSegments(database, projectId);
  const isMember = async (segment: SegmentName) => {
    try {
      const members = await membershipOf(database, segment.id, { projectId, segments, fewContacts: true });
      return await isAmong(database, projectId, members, id);
    } catch (error) {
      if (error instanceof AppError && error.code === "VALIDATION_ERROR") return null;
      throw error;
    }
  };
  const found: SegmentOfContact[] = [];
  for (const segment of data) found.push({ ...segment, isMember: await isMember(segment) });
  return { ...page, data: found };
}
