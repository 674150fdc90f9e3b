// Segments as records: read and listed, counted; who is in one, as a condition on contacts.
// Before it: define-segment.ts. After it: compute-segment.ts keeps the members of tracked ones; campaigns/ sends to them.
import { groupedFilter, type Filter } from "@postloft/contract/filters.ts";
import { LIMITS } from "@postloft/contract/limits.ts";
import type { SegmentType } from "@postloft/contract/segments.ts";
import type { RawBuilder, SqlBool } from "kysely";
import type { Database, Tx } from "../platform/database.ts";
import { isId } from "../platform/ids.ts";
import { fittingLimit, toPage, type Page, type PageRequest } from "../platform/page.ts";
import { invalidField, Refusal } from "../platform/refusal.ts";
import { membershipForAll, restrictionForAll, restrictionOf } from "./filters/compile-filter.ts";
import { loadSegments, type SegmentSource } from "./filters/load-segments.ts";
import { countMatching } from "../contacts/matching-contacts.ts";
import { countStoredMembers } from "./member-queries.ts";
import {
  countSegments,
  findSegment,
  listSegmentRows,
  updateMemberCount,
  type SegmentRow,
} from "./queries.ts";
import { segmentsUnder } from "./rules.ts";

export interface SegmentView {
  id: string;
  name: string;
  description: string | null;
  type: SegmentType;
  filters: unknown;
  condition: unknown;
  slug: string;
  trackMembership: boolean;
  memberCount: number;
  createdAt: string;
  updatedAt: string;
}

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

/** @throws Refusal SEGMENT_NOT_FOUND, the same for an id of another project. */
export async function getSegmentRow(database: Database, projectId: string, id: string): Promise<SegmentRow> {
  const row = isId(id) ? await findSegment(database, projectId, id) : undefined;
  if (row === undefined) throw new Refusal("SEGMENT_NOT_FOUND");
  return row;
}

export async function getSegment(database: Database, projectId: string, id: string): Promise<SegmentView> {
  return present(await getSegmentRow(database, projectId, id));
}

const LIST = "segments";

/** All segments newest first, or a page of them when one is asked for. @throws Refusal VALIDATION_ERROR when all are too much. */
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
      `The segments of the project hold more than ${LIMITS.pageBytes.value} bytes: ask for pages of them.`,
    );
  if (request === null) return rows.map(present);
  const total = request.before === null ? await countSegments(database, projectId) : 0;
  return { ...toPage(LIST, { ...request, limit }, rows, present), total };
}

/** Conditions on segments name segments of this project, and never, through others, the segment itself. @throws Refusal VALIDATION_ERROR naming `field`. */
export function checkSegments(
  field: string,
  id: string,
  filters: Filter,
  segments: ReadonlyMap<string, SegmentSource>,
): void {
  const under = segmentsUnder(filters, segments);
  if (under.has(id)) throw invalidField(field, "custom", "The segment would stand on itself.");
  for (const one of under)
    if (!segments.has(one)) throw invalidField(field, "custom", `There is no segment ${one}.`);
}

/** Counts who is in a segment now and keeps the count. */
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

/**
 * The contacts of a segment, or of a filter that is not saved, as a condition on `contacts c`.
 * @param scope whether the statement names its contacts
 * @throws Refusal VALIDATION_ERROR naming `field` when a segment is none of the project's.
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
  if (!segments.has(which)) throw invalidField(field, "custom", `There is no segment ${which}.`);
  return membershipForAll(database, which, { projectId, segments });
}
