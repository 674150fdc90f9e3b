// Lists and counts the current members of a segment or the matches of an unsaved filter.
import { LIMITS } from "@postloft/contract/limits/limits.ts";
import type { Filter } from "@postloft/contract/filters.ts";
import { withValues } from "@postloft/contract/translation.ts";
import type { Database } from "../platform/database/database.ts";
import { invalidField } from "../platform/app-error.ts";
import type { ContactView } from "../contacts/contacts.ts";
import { inTime } from "../contacts/list-contacts.ts";
import { countMatching, listMatching } from "../contacts/matching-contacts.ts";
import { segmentRestriction } from "./segment-restriction.ts";
import { getSegmentRow } from "./segments.ts";

export interface NumberedPage {
  data: ContactView[];
  total: number;
  page: number;
  pageSize: number;
  totalPages: number;
}

/**
 * Returns the current members of a segment, newest contact first.
 * @throws AppError VALIDATION_ERROR if the page would be too large.
 */
export async function listSegmentContacts(
  database: Database,
  projectId: string,
  id: string,
  { page, pageSize }: { page: number; pageSize: number },
): Promise<NumberedPage> {
  const row = await getSegmentRow(database, projectId, id);
  const matches = await segmentRestriction(database, projectId, "id", row.id);
  const total = await countMatching(database, projectId, matches);
  const found = { limit: pageSize, offset: (page - 1) * pageSize };
  const { contacts: data, isWhole } = await listMatching(database, projectId, matches, found);
  // Numbered pages cannot end early, because the omitted contacts would appear on no page.
  if (!isWhole)
    throw invalidField(
      "pageSize",
      "too_big",
      withValues("These contacts have more than {most} bytes. Request fewer per page.", {
        most: LIMITS.pageBytes.value,
      }),
    );
  return { data, total, page, pageSize, totalPages: Math.ceil(total / pageSize) };
}

const SAMPLE_SIZE = 5;

/** Returns the number of matches of an unsaved filter and the newest few. */
export async function previewFilter(
  database: Database,
  projectId: string,
  filters: Filter,
): Promise<{ count: number; sample: ContactView[] }> {
  const matches = await segmentRestriction(database, projectId, "filters", filters);
  return {
    count: await inTime(countMatching(database, projectId, matches)),
    sample: (await inTime(listMatching(database, projectId, matches, { limit: SAMPLE_SIZE, offset: 0 })))
      .contacts,
  };
}
