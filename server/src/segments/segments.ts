// Segments as records: create, read, list, change, delete; who is in one, and why.
// Before it: routes.ts. After it: compute-segment.ts keeps the members of tracked ones; campaigns/ will send to them.
import { groupedFilter, type Filter } from "@postloft/contract/filters.ts";
import { LIMITS } from "@postloft/contract/limits.ts";
import type { SegmentType } from "@postloft/contract/segments.ts";
import type { RawBuilder, SqlBool } from "kysely";
import type { Database, Tx } from "../platform/database.ts";
import { isId, newId } from "../platform/ids.ts";
import { fittingLimit, toPage, type Page, type PageRequest } from "../platform/page.ts";
import { invalidField, Refusal } from "../platform/refusal.ts";
import { subscribeToEvents } from "../reactions/reactions.ts";
import { membershipForAll, restrictionForAll, restrictionOf } from "./filters/compile-filter.ts";
import { loadSegments, type SegmentSource } from "./filters/load-segments.ts";
import { countMatching } from "../contacts/matching-contacts.ts";
import { countStoredMembers } from "./member-queries.ts";
import {
  countSegments,
  deleteSegmentRow,
  findSegment,
  findSegmentForUpdate,
  insertSegment,
  listSegmentRows,
  listSlugsLike,
  listTrackedCauses,
  lockDefinitions,
  updateComputeDue,
  updateMemberCount,
  updateSegmentRow,
  type SegmentChanges,
  type SegmentRow,
} from "./queries.ts";
import {
  allCauses,
  freeSlug,
  segmentsOver,
  segmentsUnder,
  slugOf,
  type Node,
  type SegmentUse,
} from "./rules.ts";

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

export interface SegmentToCreate {
  name: string;
  description?: string | null | undefined;
  type?: "DYNAMIC" | "STATIC" | undefined;
  filters?: Filter | undefined;
  condition?: Filter | undefined;
  trackMembership?: boolean | undefined;
}

/** @throws Refusal VALIDATION_ERROR for a filter that does not fit the kind, or that names a segment that is none. */
export async function createSegment(tx: Tx, projectId: string, given: SegmentToCreate): Promise<SegmentView> {
  const field = given.filters === undefined && given.condition !== undefined ? "condition" : "filters";
  const filters = given.filters ?? given.condition ?? null;
  const type = given.type ?? (filters === null ? "STATIC" : "DYNAMIC");
  if (given.type === undefined && filters === null)
    throw invalidField("filters", "required", 'Required for a dynamic segment; or set `type` to "STATIC".');
  if (type === "DYNAMIC" && filters === null)
    throw invalidField("filters", "required", "Required for a dynamic segment.");
  if (type === "STATIC" && filters !== null)
    throw invalidField(field, "custom", "A static segment has no filter: its members are added by address.");
  if (type === "STATIC" && given.trackMembership === true)
    throw invalidField("trackMembership", "custom", "A static segment emits no events: leave it out.");
  const id = newId();
  await lockDefinitions(tx, projectId);
  const segments = await loadSegments(tx, projectId);
  if (filters !== null) checkSegments(field, id, filters, segments);
  const slug = slugOf(given.name);
  const taken = new Set(await listSlugsLike(tx, projectId, slug));
  await insertSegment(tx, {
    projectId,
    id,
    name: given.name,
    description: given.description ?? null,
    type,
    filters: filters === null ? null : JSON.stringify(filters),
    slug: freeSlug(slug, taken),
    trackMembership: given.trackMembership ?? false,
    ...(filters === null ? { causes: [], timeBased: false } : allCauses(filters, nodesOf(segments))),
    memberCount:
      filters === null
        ? 0
        : await countMatching(tx, projectId, await restrictionForAll(tx, filters, { projectId, segments })),
  });
  if (given.trackMembership === true) await subscribeSegments(tx, projectId);
  return getSegment(tx, projectId, id);
}

/** Tells events/ what the tracked segments of a project wait for. */
async function subscribeSegments(tx: Tx, projectId: string): Promise<void> {
  await subscribeToEvents(tx, { projectId, subscriber: "segments" }, () => listTrackedCauses(tx, projectId));
}

/** Conditions on segments name segments of this project, and never, through others, the segment itself. */
function checkSegments(
  field: string,
  id: string,
  filters: Filter,
  segments: ReadonlyMap<string, SegmentSource>,
): void {
  const under = segmentsUnder(filters, nodesOf(segments));
  if (under.has(id)) throw invalidField(field, "custom", "The segment would stand on itself.");
  for (const one of under)
    if (!segments.has(one)) throw invalidField(field, "custom", `There is no segment ${one}.`);
}

function nodesOf(segments: ReadonlyMap<string, SegmentSource>): Map<string, Node> {
  return new Map([...segments].map(([id, source]) => [id, { id, filters: source.filters }]));
}

export interface SegmentEdit {
  name?: string | undefined;
  description?: string | null | undefined;
  filters?: Filter | undefined;
  condition?: Filter | undefined;
  trackMembership?: boolean | undefined;
}

/** Changes what is given; with other filters the members of this segment and of those that stand on it are computed anew. */
export async function updateSegment(
  tx: Tx,
  projectId: string,
  id: string,
  edit: SegmentEdit,
): Promise<SegmentView> {
  await lockDefinitions(tx, projectId);
  const row = isId(id) ? await findSegmentForUpdate(tx, projectId, id) : undefined;
  if (row === undefined) throw new Refusal("SEGMENT_NOT_FOUND");
  const field = edit.filters === undefined ? "condition" : "filters";
  const filters = edit.filters ?? edit.condition;
  if (row.type === "STATIC" && filters !== undefined)
    throw invalidField(field, "custom", "A static segment has no filter: its members are added by address.");
  if (row.type === "STATIC" && edit.trackMembership === true)
    throw invalidField("trackMembership", "custom", "A static segment emits no events: leave it out.");
  const changes: SegmentChanges = {
    ...(edit.name === undefined ? {} : { name: edit.name }),
    ...(edit.description === undefined ? {} : { description: edit.description }),
    ...(edit.trackMembership === undefined ? {} : { trackMembership: edit.trackMembership }),
  };
  const isTrackingChanged = (edit.trackMembership ?? row.trackMembership) !== row.trackMembership;
  if (filters !== undefined) await changeFilters(tx, projectId, row, field, filters, changes);
  else if (Object.keys(changes).length > 0) await updateSegmentRow(tx, projectId, row.id, changes);
  if (isTrackingChanged) await updateComputeDue(tx, projectId, [row.id]);
  if (isTrackingChanged || filters !== undefined) await subscribeSegments(tx, projectId);
  return getSegment(tx, projectId, row.id);
}

async function changeFilters(
  tx: Tx,
  projectId: string,
  row: SegmentRow,
  field: string,
  filters: Filter,
  others: SegmentChanges,
): Promise<void> {
  const segments = await loadSegments(tx, projectId);
  checkSegments(field, row.id, filters, segments);
  const nodes = nodesOf(segments).set(row.id, { id: row.id, filters });
  const { causes, timeBased } = allCauses(filters, nodes);
  const changes = { ...others, filters: JSON.stringify(filters), causes, timeBased };
  await updateSegmentRow(tx, projectId, row.id, changes);
  const over = segmentsOver(row.id, nodes);
  for (const id of over) {
    const inner = nodes.get(id)?.filters ?? null;
    if (inner === null) continue;
    const all = allCauses(inner, nodes);
    await updateSegmentRow(tx, projectId, id, { causes: all.causes, timeBased: all.timeBased });
  }
  await updateComputeDue(tx, projectId, [row.id, ...over]);
  await count(tx, projectId, { ...row, filters });
}

/** @throws Refusal SEGMENT_NOT_FOUND; CONFLICT while another segment or a workflow stands on it, or a campaign goes to it. */
export async function deleteSegment(tx: Tx, projectId: string, id: string, use: SegmentUse): Promise<void> {
  await lockDefinitions(tx, projectId);
  const row = isId(id) ? await findSegmentForUpdate(tx, projectId, id) : undefined;
  if (row === undefined) throw new Refusal("SEGMENT_NOT_FOUND");
  const segments = await loadSegments(tx, projectId);
  const [over] = segmentsOver(row.id, nodesOf(segments));
  if (over !== undefined) {
    const { name } = await getSegmentRow(tx, projectId, over);
    throw new Refusal("CONFLICT", { message: `The segment "${name}" stands on this one: change it first.` });
  }
  const campaign = await use.campaignOfSegment(tx, projectId, row.id);
  if (campaign !== undefined)
    throw new Refusal("CONFLICT", {
      message: `The campaign "${campaign}" goes to this segment: cancel it first.`,
    });
  // Who makes a workflow stand on it locks it first (for key share), and we hold its lock.
  const workflow = await use.workflowOfSegment(tx, projectId, row.id);
  if (workflow !== undefined)
    throw new Refusal("CONFLICT", {
      message: `The workflow "${workflow}" uses this segment: disable or change it first.`,
    });
  await deleteSegmentRow(tx, projectId, row.id);
  if (row.trackMembership) await subscribeSegments(tx, projectId);
}

/** Counts who is in a segment now and keeps the count. */
export async function refreshSegment(
  tx: Tx,
  projectId: string,
  id: string,
): Promise<{ memberCount: number }> {
  return { memberCount: await count(tx, projectId, await getSegmentRow(tx, projectId, id)) };
}

async function count(tx: Tx, projectId: string, row: SegmentRow): Promise<number> {
  const memberCount =
    (await countStoredMembers(tx, projectId, row.id)) ??
    (await countMatching(tx, projectId, await segmentRestriction(tx, projectId, "id", row.id)));
  await updateMemberCount(tx, projectId, row.id, memberCount);
  return memberCount;
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
