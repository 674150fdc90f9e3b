// Who is in a segment now, or would be by a filter that is not saved.
// Before it: routes.ts. After it: contacts/ counts and lists who matches.
import type { Filter } from "@postloft/contract/filters.ts";
import type { Database } from "../platform/database.ts";
import type { ContactView } from "../contacts/contacts.ts";
import { countMatching, listMatching } from "../contacts/matching-contacts.ts";
import { getSegmentRow, segmentRestriction } from "./segments.ts";

export interface NumberedPage {
  data: ContactView[];
  total: number;
  page: number;
  pageSize: number;
  totalPages: number;
}

/** Who is in a segment now, newest contact first. */
export async function listSegmentContacts(
  database: Database,
  projectId: string,
  id: string,
  { page, pageSize }: { page: number; pageSize: number },
): Promise<NumberedPage> {
  const row = await getSegmentRow(database, projectId, id);
  const matches = await segmentRestriction(database, projectId, "id", row.id);
  const total = await countMatching(database, projectId, matches);
  const data = await listMatching(database, projectId, matches, {
    limit: pageSize,
    offset: (page - 1) * pageSize,
  });
  return { data, total, page, pageSize, totalPages: Math.ceil(total / pageSize) };
}

const SAMPLE_SIZE = 5;

/** How many contacts match a filter that is not saved, and the newest few of them. */
export async function previewFilter(
  database: Database,
  projectId: string,
  filters: Filter,
): Promise<{ count: number; sample: ContactView[] }> {
  const matches = await segmentRestriction(database, projectId, "filters", filters);
  return {
    count: await countMatching(database, projectId, matches),
    sample: await listMatching(database, projectId, matches, { limit: SAMPLE_SIZE, offset: 0 }),
  };
}
