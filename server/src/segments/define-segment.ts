// Creates, changes and deletes segments, and updates the segments that use them.
import type { Filter } from "@postloft/contract/filters.ts";
import { withValues } from "@postloft/contract/translation.ts";
import type { Tx } from "../platform/database/database.ts";
import { notify } from "../platform/notify.ts";
import { isId, newId } from "../platform/ids.ts";
import { invalidField, AppError, requireUnchanged } from "../platform/app-error.ts";
import { lockProject } from "../projects/projects.ts";
import { subscribeToEvents } from "../reactions/reactions.ts";
import { restrictionForAll } from "./filters/compile-filter.ts";
import { loadSegments, type SegmentSource } from "./filters/load-segments.ts";
import { planFilter } from "./filters/plan-filter.ts";
import { countMatching } from "../contacts/matching-contacts.ts";
import {
  deleteSegmentRow,
  findSegmentForUpdate,
  insertSegment,
  listSlugsLike,
  listTrackedCauses,
  updateCauses,
  updateComputeDue,
  updateSegmentRow,
  type SegmentChanges,
  type SegmentRow,
} from "./queries.ts";
import { allCauses, freeSlug, segmentsOver, slugOf, type SegmentUse } from "./rules.ts";
import { checkSegments } from "./segment-restriction.ts";
import { getSegment, getSegmentRow, refreshSegment, type SegmentView } from "./segments.ts";

export interface SegmentToCreate {
  name: string;
  description?: string | null | undefined;
  type?: "DYNAMIC" | "STATIC" | undefined;
  /** null means no filter, as returned for static segments. */
  filters?: Filter | null | undefined;
  condition?: Filter | null | undefined;
  trackMembership?: boolean | undefined;
}

/** @throws AppError VALIDATION_ERROR for a filter that does not fit the type or names an unknown segment. */
export async function createSegment(tx: Tx, projectId: string, input: SegmentToCreate): Promise<SegmentView> {
  const field =
    (input.filters ?? null) === null && (input.condition ?? null) !== null ? "condition" : "filters";
  const filters = input.filters ?? input.condition ?? null;
  const type = input.type ?? (filters === null ? "STATIC" : "DYNAMIC");
  if (input.type === undefined && filters === null)
    throw invalidField(
      "filters",
      "required",
      'Required for a dynamic segment. For a static one, set `type` to "STATIC".',
    );
  if (type === "DYNAMIC" && filters === null)
    throw invalidField("filters", "required", "Required for a dynamic segment.");
  if (type === "STATIC" && filters !== null)
    throw invalidField(
      field,
      "custom",
      "A static segment has no filter, because its members are added by address.",
    );
  if (type === "STATIC" && input.trackMembership === true)
    throw invalidField("trackMembership", "custom", "A static segment emits no events. Remove this field.");
  const id = newId();
  await lockProject(tx, projectId);
  const segments = await loadSegments(tx, projectId);
  if (filters !== null) checkSegments(field, id, filters, segments);
  const slug = slugOf(input.name);
  const taken = new Set(await listSlugsLike(tx, projectId, slug));
  await insertSegment(tx, {
    projectId,
    id,
    name: input.name,
    description: input.description ?? null,
    type,
    filters: filters === null ? null : JSON.stringify(filters),
    slug: freeSlug(slug, taken),
    trackMembership: input.trackMembership ?? false,
    ...(filters === null ? { causes: [], timeBased: false } : allCauses(filters, segments)),
    memberCount:
      filters === null
        ? 0
        : await countMatching(tx, projectId, await restrictionForAll(tx, filters, { projectId, segments })),
  });
  if (input.trackMembership === true) await subscribeSegments(tx, projectId);
  notify(tx, "segments");
  return getSegment(tx, projectId, id);
}

export interface SegmentEdit {
  name?: string | undefined;
  description?: string | null | undefined;
  /** null means no filter, as returned for static segments. */
  filters?: Filter | null | undefined;
  condition?: Filter | null | undefined;
  trackMembership?: boolean | undefined;
}

/** An edit with the `updatedAt` of the version it is based on. */
export type SegmentChange = SegmentEdit & { expectedUpdatedAt?: string | undefined };

/**
 * Changes only the given fields. New filters trigger a recomputation of this segment and of the segments that use it.
 * @throws AppError SEGMENT_NOT_FOUND, VALIDATION_ERROR as in creation, CHANGED_MEANWHILE if the segment changed since it was read, or
 * CONFLICT if tracking would end while an enabled workflow starts from the segment.
 */
export async function updateSegment(
  tx: Tx,
  projectId: string,
  id: string,
  edit: SegmentChange,
  use: SegmentUse,
): Promise<SegmentView> {
  await lockProject(tx, projectId);
  const row = isId(id) ? await findSegmentForUpdate(tx, projectId, id) : undefined;
  if (row === undefined) throw new AppError("SEGMENT_NOT_FOUND");
  requireUnchanged(row, edit.expectedUpdatedAt);
  const field = (edit.filters ?? null) === null && edit.condition !== undefined ? "condition" : "filters";
  const filters = edit.filters ?? edit.condition ?? undefined;
  if (row.type === "DYNAMIC" && filters === undefined && edit[field] === null)
    throw invalidField(
      field,
      "invalid_type",
      "A dynamic segment needs a filter. Remove this field to keep the current one.",
    );
  if (row.type === "STATIC" && filters !== undefined)
    throw invalidField(
      field,
      "custom",
      "A static segment has no filter, because its members are added by address.",
    );
  if (row.type === "STATIC" && edit.trackMembership === true)
    throw invalidField("trackMembership", "custom", "A static segment emits no events. Remove this field.");
  const changes: SegmentChanges = {
    ...(edit.name === undefined ? {} : { name: edit.name }),
    ...(edit.description === undefined ? {} : { description: edit.description }),
    ...(edit.trackMembership === undefined ? {} : { trackMembership: edit.trackMembership }),
  };
  if (edit.trackMembership === false && row.trackMembership)
    await rejectStartingWorkflow(tx, projectId, row.id, use);
  const isTrackingChanged = (edit.trackMembership ?? row.trackMembership) !== row.trackMembership;
  if (filters !== undefined) await changeFilters(tx, projectId, row, field, filters, changes);
  else if (Object.keys(changes).length > 0) await updateSegmentRow(tx, projectId, row.id, changes);
  if (isTrackingChanged) await updateComputeDue(tx, projectId, [row.id]);
  if (isTrackingChanged || filters !== undefined) await subscribeSegments(tx, projectId);
  notify(tx, "segments");
  return getSegment(tx, projectId, row.id);
}

async function rejectStartingWorkflow(tx: Tx, projectId: string, id: string, use: SegmentUse): Promise<void> {
  const workflow = await use.workflowStartedBy(tx, projectId, id);
  if (workflow !== undefined)
    throw new AppError(
      "CONFLICT",
      withValues(
        'The workflow "{workflow}" starts when contacts enter or leave this segment. Disable or change it first.',
        { workflow },
      ),
    );
}

async function changeFilters(
  tx: Tx,
  projectId: string,
  row: SegmentRow,
  field: string,
  filters: Filter,
  others: SegmentChanges,
): Promise<void> {
  const before = await loadSegments(tx, projectId);
  checkSegments(field, row.id, filters, before);
  const own: SegmentSource = { id: row.id, type: "DYNAMIC", filters, trackMembership: row.trackMembership };
  const segments = new Map(before).set(row.id, own);
  const changes = { ...others, filters: JSON.stringify(filters), ...allCauses(filters, segments) };
  await updateSegmentRow(tx, projectId, row.id, changes);
  const over = segmentsOver(row.id, segments);
  for (const id of over) {
    const inner = segments.get(id)?.filters ?? null;
    if (inner === null) continue;
    await rejectTooLarge(tx, projectId, field, { id, filters: inner }, segments);
    await updateCauses(tx, projectId, id, allCauses(inner, segments));
  }
  await updateComputeDue(tx, projectId, [row.id, ...over]);
  await refreshSegment(tx, projectId, row.id);
}

/**
 * Rejects a change that would make a dependent segment too large to evaluate. Otherwise that segment would become empty without an
 * explanation.
 */
async function rejectTooLarge(
  tx: Tx,
  projectId: string,
  field: string,
  over: { id: string; filters: Filter },
  segments: ReadonlyMap<string, SegmentSource>,
): Promise<void> {
  try {
    planFilter(over.filters, { segments });
  } catch (error) {
    const refused = error instanceof AppError ? error.fields?.[0] : undefined;
    if (refused === undefined) throw error;
    const { name } = await getSegmentRow(tx, projectId, over.id);
    throw invalidField(
      field,
      refused.code,
      withValues('The segment "{name}" uses this one and would be too large. {why}', {
        name,
        why: refused.message,
      }),
    );
  }
}

/** @throws AppError SEGMENT_NOT_FOUND, or CONFLICT while a segment, workflow or campaign uses this segment. */
export async function deleteSegment(tx: Tx, projectId: string, id: string, use: SegmentUse): Promise<void> {
  await lockProject(tx, projectId);
  const row = isId(id) ? await findSegmentForUpdate(tx, projectId, id) : undefined;
  if (row === undefined) throw new AppError("SEGMENT_NOT_FOUND");
  const segments = await loadSegments(tx, projectId);
  const [over] = segmentsOver(row.id, segments);
  if (over !== undefined) {
    const { name } = await getSegmentRow(tx, projectId, over);
    throw new AppError(
      "CONFLICT",
      withValues('The segment "{name}" uses this one. Change it first.', { name }),
    );
  }
  const campaign = await use.campaignOfSegment(tx, projectId, row.id);
  if (campaign !== undefined)
    throw new AppError(
      "CONFLICT",
      withValues('The campaign "{campaign}" goes to this segment. Cancel it first.', { campaign }),
    );
  // A workflow that starts to use the segment locks it first (for key share), and this transaction holds the lock.
  const workflow = await use.workflowOfSegment(tx, projectId, row.id);
  if (workflow !== undefined)
    throw new AppError(
      "CONFLICT",
      withValues('The workflow "{workflow}" uses this segment. Disable or change it first.', { workflow }),
    );
  await use.detachCampaigns(tx, projectId, row.id);
  await deleteSegmentRow(tx, projectId, row.id);
  if (row.trackMembership) await subscribeSegments(tx, projectId);
}

/** Subscribes the tracked segments of a project to their events. */
async function subscribeSegments(tx: Tx, projectId: string): Promise<void> {
  await subscribeToEvents(tx, { projectId, subscriber: "segments" }, () => listTrackedCauses(tx, projectId));
}
