// Statements on `segments`, including due computations. member-queries.ts has the statements on members.
import type { SegmentType } from "@postloft/contract/segments.ts";
import { sql, type SqlBool } from "kysely";
import type { Database, Tx } from "../platform/database/database.ts";
import type { Row } from "../platform/database/row.ts";
import { limitToPageBytes, type PageRequest, type RowOfBytes } from "../platform/http/page.ts";

export type SegmentRow = Row<"segments", (typeof COLUMNS)[number]>;

const COLUMNS = [
  "id",
  "name",
  "description",
  "type",
  "filters",
  "slug",
  "trackMembership",
  "causes",
  "timeBased",
  "memberCount",
  "createdAt",
  "updatedAt",
] as const;

export interface NewSegment extends Row<
  "segments",
  | "projectId"
  | "id"
  | "name"
  | "description"
  | "slug"
  | "trackMembership"
  | "causes"
  | "timeBased"
  | "memberCount"
> {
  type: "DYNAMIC" | "STATIC";
  filters: string | null;
}

export async function insertSegment(tx: Tx, segment: NewSegment): Promise<void> {
  await sql`
    insert into segments (project_id, id, name, description, type, filters, slug, track_membership, causes, time_based,
      member_count, compute_due_at)
    values (${segment.projectId}, ${segment.id}, ${segment.name}, ${segment.description}, ${segment.type},
      ${segment.filters}::jsonb, ${segment.slug}, ${segment.trackMembership}, ${segment.causes}::text[], ${segment.timeBased},
      ${segment.memberCount}, case when ${segment.trackMembership} then now() end)`.execute(tx);
}

/** Returns slugs equal to this one, or with a number appended, of existing and deleted segments. */
export async function listSlugsLike(tx: Tx, projectId: string, slug: string): Promise<string[]> {
  const isLike = sql`project_id = ${projectId} and (slug = ${slug} or slug ~ ${`^${slug}-[0-9]+$`})`;
  const { rows } = await sql<{ slug: string }>`
    select slug from segments where ${isLike} union all select slug from retired_slugs where ${isLike}`.execute(
    tx,
  );
  return rows.map((row) => row.slug);
}

export async function findSegment(
  database: Database,
  projectId: string,
  id: string,
): Promise<SegmentRow | undefined> {
  return database
    .selectFrom("segments")
    .select(COLUMNS)
    .where("projectId", "=", projectId)
    .where("id", "=", id)
    .executeTakeFirst();
}

export async function findSegmentForUpdate(
  tx: Tx,
  projectId: string,
  id: string,
): Promise<SegmentRow | undefined> {
  return tx
    .selectFrom("segments")
    .select(COLUMNS)
    .where("projectId", "=", projectId)
    .where("id", "=", id)
    .forUpdate()
    .executeTakeFirst();
}

export async function listSegmentRows(
  database: Database,
  projectId: string,
  page: { limit: number; before: string | null } | null,
): Promise<Array<SegmentRow & RowOfBytes>> {
  const found = sql`
    select ${sql.join(COLUMNS.map((column) => sql.ref(column)))} from segments
    where project_id = ${projectId} and ${page === null || page.before === null ? sql`true` : sql`id < ${page.before}`}
    order by id desc ${page === null ? sql`` : sql`limit ${page.limit + 1}`}`;
  // A filter appears twice in the response, in each of its two forms.
  const fitting = { order: sql`order by id desc`, size: sql`2 * coalesce(octet_length(filters::text), 0)` };
  const { rows } = await sql<SegmentRow & RowOfBytes>`${limitToPageBytes(found, fitting)}`.execute(database);
  return rows;
}

export interface SegmentName {
  id: string;
  name: string;
  type: SegmentType;
}

/** Returns a page, newest first, with one extra row if there are more. */
export async function listSegmentNames(
  database: Database,
  projectId: string,
  { limit, before }: PageRequest,
): Promise<SegmentName[]> {
  const { rows } = await sql<SegmentName>`
    select id, name, type from segments
    where project_id = ${projectId} and ${before === null ? sql`true` : sql`id < ${before}`}
    order by id desc limit ${limit + 1}`.execute(database);
  return rows;
}

export async function countSegments(database: Database, projectId: string): Promise<number> {
  const row = await database
    .selectFrom("segments")
    .select((select) => select.fn.countAll<number>().as("count"))
    .where("projectId", "=", projectId)
    .executeTakeFirstOrThrow();
  return row.count;
}

export interface SegmentChanges {
  name?: string;
  description?: string | null;
  filters?: string;
  causes?: string[];
  timeBased?: boolean;
  trackMembership?: boolean;
}

export async function updateSegmentRow(
  tx: Tx,
  projectId: string,
  id: string,
  changes: SegmentChanges,
): Promise<void> {
  await tx
    .updateTable("segments")
    .set({ ...changes, updatedAt: sql`now()` })
    .where("projectId", "=", projectId)
    .where("id", "=", id)
    .execute();
}

/** Keeps `updatedAt`, because causes derived from other segments are not an edit of this one. */
export async function updateCauses(
  tx: Tx,
  projectId: string,
  id: string,
  { causes, timeBased }: Required<Pick<SegmentChanges, "causes" | "timeBased">>,
): Promise<void> {
  await tx
    .updateTable("segments")
    .set({ causes, timeBased })
    .where("projectId", "=", projectId)
    .where("id", "=", id)
    .execute();
}

export async function updateMemberCount(
  database: Database,
  projectId: string,
  id: string,
  memberCount: number,
): Promise<void> {
  await sql`update segments set member_count = ${memberCount}
    where project_id = ${projectId} and id = ${id} and member_count <> ${memberCount}`.execute(database);
}

/** Deletes a segment. Its slug is never reused, because events and filters may still name it. */
export async function deleteSegmentRow(tx: Tx, projectId: string, id: string): Promise<void> {
  await sql`
    with gone as (delete from segments where project_id = ${projectId} and id = ${id} returning project_id, slug)
    insert into retired_slugs (project_id, slug) select project_id, slug from gone`.execute(tx);
}

/** Requests a computation of the members. */
export async function updateComputeDue(database: Database, projectId: string, ids: readonly string[]) {
  await sql`update segments set compute_due_at = now()
    where project_id = ${projectId} and id = any(${ids}::uuid[]) and type = 'DYNAMIC'`.execute(database);
}

/** Returns segments with members to compute, or to delete because tracking ended. */
export async function listDueSegments(database: Database) {
  const { rows } = await sql<{ projectId: string; id: string }>`
    select project_id, id from segments where compute_due_at <= now() order by compute_due_at limit 1000`.execute(
    database,
  );
  return rows;
}

/** Locks a due segment, unless another process works on it. */
export async function lockDueSegment(tx: Tx, projectId: string, id: string): Promise<SegmentRow | undefined> {
  return tx
    .selectFrom("segments")
    .select(COLUMNS)
    .where("projectId", "=", projectId)
    .where("id", "=", id)
    .where(sql<SqlBool>`compute_due_at <= now()`)
    .forUpdate()
    .skipLocked()
    .executeTakeFirst();
}

/** Locks the tracked segments of a project, except the ones locked by another process. */
export async function lockTrackedSegments(tx: Tx, projectId: string): Promise<SegmentRow[]> {
  return tx
    .selectFrom("segments")
    .select(COLUMNS)
    .where("projectId", "=", projectId)
    .where("trackMembership", "=", true)
    .where("type", "=", "DYNAMIC")
    .orderBy("id")
    .forUpdate()
    .skipLocked()
    .execute();
}

export async function countTrackedSegments(database: Database, projectId: string): Promise<number> {
  const row = await database
    .selectFrom("segments")
    .select((select) => select.fn.countAll<number>().as("count"))
    .where("projectId", "=", projectId)
    .where("trackMembership", "=", true)
    .where("type", "=", "DYNAMIC")
    .executeTakeFirstOrThrow();
  return row.count;
}

/** Schedules tracked segments with time conditions. */
export async function updateTimeBasedDue(database: Database, everyMs: number): Promise<void> {
  await sql`update segments set compute_due_at = now() + make_interval(secs => ${everyMs / 1000})
    where track_membership and type = 'DYNAMIC' and time_based and compute_due_at is null`.execute(database);
}

/** Requests a full computation of the tracked segments of these projects. */
export async function updateAllDue(tx: Tx, projectIds: readonly string[]): Promise<void> {
  await sql`update segments set compute_due_at = now()
    where project_id = any(${projectIds}::uuid[]) and track_membership and type = 'DYNAMIC'
      and (compute_due_at is null or compute_due_at > now())`.execute(tx);
}

/** Marks the members as computed. Later changes are recorded as outbox events. */
export async function updateComputed(tx: Tx, projectId: string, id: string): Promise<void> {
  await sql`update segments set compute_due_at = null where project_id = ${projectId} and id = ${id}`.execute(
    tx,
  );
}

/** Returns the events and changes that can move a contact in or out of any tracked segment of a project. */
export async function listTrackedCauses(database: Database, projectId: string): Promise<string[]> {
  const { rows } = await sql<{ cause: string }>`
    select distinct cause from segments s, unnest(s.causes) as cause
    where s.project_id = ${projectId} and s.track_membership and s.type = 'DYNAMIC'`.execute(database);
  return rows.map((row) => row.cause);
}

export async function listSegmentsByCause(database: Database, projectId: string, cause: string) {
  const { rows } = await sql<{ id: string; name: string }>`
    select s.id, s.name from segments s where s.project_id = ${projectId} and ${cause} = any(s.causes)
    order by s.id`.execute(database);
  return rows;
}
