// Reads, lists and counts segments.
import type * as contract from "@postloft/contract/segments.ts";
import { groupedFilter, type Filter } from "@postloft/contract/filters.ts";
import { LIMITS } from "@postloft/contract/limits/limits.ts";
import type { SegmentType } from "@postloft/contract/segments.ts";
import type { z } from "zod";
import { withValues } from "@postloft/contract/translation.ts";
import type { Database, Tx } from "../platform/database/database.ts";
import { isId } from "../platform/ids.ts";
import { fittingLimit, toPage, type Page, type PageRequest } from "../platform/http/page.ts";
import { invalidField, AppError } from "../platform/app-error.ts";
import { countMatching } from "../contacts/matching-contacts.ts";
import { countStoredMembers } from "./member-queries.ts";
import {
  countSegments,
  findSegment,
  listSegmentRows,
  updateMemberCount,
  type SegmentRow,
} from "./queries.ts";
import { segmentRestriction } from "./segment-restriction.ts";

export type SegmentView = z.output<typeof contract.segment>;

function present(row: SegmentRow): SegmentView {
  return {
    id: row.id,
    name: row.name,
    description: row.description,
    type: row.type as SegmentType,
    filters: row.filters,
    condition: row.filters === null ? null : groupedFilter(row.filters as Filter),
    slug: row.slug,
    trackMembership: row.trackMembership,
    memberCount: row.memberCount,
    createdAt: row.createdAt.toISOString(),
    updatedAt: row.updatedAt.toISOString(),
  };
}

/** @throws AppError SEGMENT_NOT_FOUND, also for a segment of another project. */
export async function getSegmentRow(database: Database, projectId: string, id: string): Promise<SegmentRow> {
  const row = isId(id) ? await findSegment(database, projectId, id) : undefined;
  if (row === undefined) throw new AppError("SEGMENT_NOT_FOUND");
  return row;
}

export async function getSegment(database: Database, projectId: string, id: string): Promise<SegmentView> {
  return present(await getSegmentRow(database, projectId, id));
}

const LIST = "segments";

/**
 * Returns all segments, newest first, or a page if requested.
 * @throws AppError VALIDATION_ERROR if all segments together are too large.
 */
export async function listSegments(
  database: Database,
  projectId: string,
  request: PageRequest | null,
): Promise<SegmentView[] | (Page<SegmentView> & { total: number })> {
  const rows = await listSegmentRows(database, projectId, request);
  const limit = fittingLimit(request?.limit ?? rows.length, rows);
  if (request === null && limit < rows.length)
    throw invalidField(
      "limit",
      "required",
      withValues("The segments of the project have more than {most} bytes. Request them in pages.", {
        most: LIMITS.pageBytes.value,
      }),
    );
  if (request === null) return rows.map(present);
  const total = request.before === null ? await countSegments(database, projectId) : 0;
  return { ...toPage(LIST, { ...request, limit }, rows, present), total };
}

/** Counts the current members of a segment and stores the count. */
export async function refreshSegment(
  tx: Tx,
  projectId: string,
  id: string,
): Promise<{ memberCount: number }> {
  const row = await getSegmentRow(tx, projectId, id);
  const memberCount =
    (await countStoredMembers(tx, projectId, row.id)) ??
    (await countMatching(tx, projectId, await segmentRestriction(tx, projectId, "id", row.id)));
  await updateMemberCount(tx, projectId, row.id, memberCount);
  return { memberCount };
}
