// Statements on `segment_members`. `matches` is a compiled filter over contacts `c`. No complete list of members passes through this
// process.
import { sql, type RawBuilder, type SqlBool } from "kysely";
import { plannedEachTime, type Database, type Tx } from "../platform/database/database.ts";
import { notify } from "../platform/notify.ts";
import { recordEventsFrom, sameEventFor } from "../events/events.ts";

/** SQL condition that a segment `s` stores its members and counts each change. */
const followsMembers = sql`(s.type = 'STATIC' or s.track_membership)`;

/** The contacts to move; `contactIds` null means all. */
export interface Among {
  contactIds: readonly string[] | null;
  /** Those that may move because of a call with a public key. */
  fromPublicKey: readonly string[];
}

/** What a segment is called in its events. */
export interface EventNames {
  entry: string;
  exit: string;
  data: Readonly<Record<string, unknown>>;
}

/**
 * Makes the stored members equal to the matches, for all contacts or only the given ones. One statement also records an event per contact
 * that entered or left, and updates the count. A full join finds the changes, because PostgreSQL always runs it by hashing or sorting. For
 * recently grown tables PostgreSQL assumes few rows and would otherwise compare every pair. A segment that is due for all contacts keeps its
 * count until then, because the count of a new or edited filter already includes contacts that are not stored yet.
 */
export async function syncMembers(
  tx: Tx,
  segment: { projectId: string; id: string },
  matches: RawBuilder<SqlBool>,
  events: EventNames,
  { contactIds, fromPublicKey }: Among,
): Promise<{ added: number; removed: number; total: number }> {
  const { projectId, id } = segment;
  const common = { projectId, data: events.data, contactsFromPublicKey: fromPublicKey };
  const among = (column: string) =>
    contactIds === null ? sql`` : sql` and ${sql.raw(column)} = any(${contactIds}::uuid[])`;
  const { rows } = await sql<{ added: number; removed: number; total: number }>`
    ${plannedEachTime} with matching as materialized (
      select c.id from contacts c where c.project_id = ${projectId}${among("c.id")} and ${matches}
    ), members as materialized (
      select m.contact_id from segment_members m
      where m.project_id = ${projectId} and m.segment_id = ${id}${among("m.contact_id")}
    ), moves as materialized (
      select coalesce(matching.id, members.contact_id) as contact_id, matching.id is null as leaves
      from matching full join members on members.contact_id = matching.id
      where matching.id is null or members.contact_id is null
    ), gone as (
      delete from segment_members m
      where m.project_id = ${projectId} and m.segment_id = ${id}
        and m.contact_id = any(array(select contact_id from moves where leaves))
      returning m.contact_id
    ), come as (
      insert into segment_members (project_id, segment_id, contact_id)
      select ${projectId}::uuid, ${id}::uuid, contact_id from moves where not leaves
      on conflict do nothing returning contact_id
    ), ${recordEventsFrom(sql`
      ${sameEventFor({ ...common, name: events.exit }, sql`select contact_id from gone`)} union all
      ${sameEventFor({ ...common, name: events.entry }, sql`select contact_id from come`)}`)}
    , changed as materialized (
      -- The instant is a column, because a cluster accepts no now() beside the columns of an update.
      select (select count(*) from come)::integer as added, (select count(*) from gone)::integer as removed, now() as at
    )
    update segments s set
      member_count = ${
        contactIds === null
          ? sql`(select count(*) from matching)`
          : sql`case when s.compute_due_at <= changed.at then s.member_count
              else s.member_count + changed.added - changed.removed end`
      }
    from changed where s.project_id = ${projectId} and s.id = ${id}
    returning changed.added, changed.removed, s.member_count as total`.execute(tx);
  const moved = rows[0] ?? { added: 0, removed: 0, total: 0 };
  if (moved.added + moved.removed > 0) notify(tx, "workflows");
  return moved;
}

/** Deletes up to `limit` stored members of a segment that is no longer tracked, and returns their number. */
export async function deleteMembers(
  tx: Tx,
  projectId: string,
  segmentId: string,
  limit: number,
): Promise<number> {
  const result = await sql`
    -- An array, because for a project with few estimated rows a join would compare every pair.
    delete from segment_members where project_id = ${projectId} and segment_id = ${segmentId} and contact_id = any (array(
      select contact_id from segment_members where project_id = ${projectId} and segment_id = ${segmentId} limit ${limit}))`.execute(
    tx,
  );
  return Number(result.numAffectedRows ?? 0);
}

/** Adds contacts to a static segment by address and returns the ids of the new members. */
export async function insertMembers(
  tx: Tx,
  projectId: string,
  segmentId: string,
  emails: readonly string[],
): Promise<string[]> {
  const { rows } = await sql<{ contactId: string }>`
    with come as (
      insert into segment_members (project_id, segment_id, contact_id)
      -- Skips contacts being deleted. Locks in the order of the deletion.
      select ${projectId}::uuid, ${segmentId}::uuid, c.id from contacts c
      where c.project_id = ${projectId} and c.email = any(${emails}::text[]) order by c.email for key share
      on conflict do nothing returning contact_id
    ), counted as (
      update segments set member_count = member_count + (select count(*) from come)::integer
      where project_id = ${projectId} and id = ${segmentId}
    ) select contact_id from come`.execute(tx);
  return rows.map((row) => row.contactId);
}

/** Returns the addresses of contacts that are members of a static segment. */
export async function listMembersAmong(
  tx: Tx,
  projectId: string,
  segmentId: string,
  emails: readonly string[],
): Promise<Set<string>> {
  const { rows } = await sql<{ email: string }>`
    select c.email from contacts c
    join segment_members m on m.project_id = c.project_id and m.contact_id = c.id and m.segment_id = ${segmentId}
    where c.project_id = ${projectId} and c.email = any(${emails}::text[])`.execute(tx);
  return new Set(rows.map((row) => row.email));
}

/** Removes contacts from a static segment by address and returns the ids of the removed members. */
export async function deleteMembersByEmail(
  tx: Tx,
  projectId: string,
  segmentId: string,
  emails: readonly string[],
): Promise<string[]> {
  const { rows } = await sql<{ contactId: string }>`
    with gone as (
      delete from segment_members m using contacts c
      where m.project_id = ${projectId} and m.segment_id = ${segmentId}
        and c.project_id = ${projectId} and c.id = m.contact_id and c.email = any(${emails}::text[])
      returning m.contact_id
    ), counted as (
      update segments set member_count = member_count - (select count(*) from gone)::integer
      where project_id = ${projectId} and id = ${segmentId}
    ) select contact_id from gone`.execute(tx);
  return rows.map((row) => row.contactId);
}

/**
 * Locks the segments that count these contacts, in one order. Until the contacts are locked, other transactions may still add them to more
 * segments.
 */
export async function lockSegmentsOf(
  tx: Tx,
  projectId: string,
  contactIds: readonly string[],
): Promise<void> {
  await sql`
    select 1 from segments s
    where s.project_id = ${projectId} and s.id in (
      select m.segment_id from segment_members m
      where m.project_id = ${projectId} and m.contact_id = any(${contactIds}::uuid[]))
    order by s.id for no key update`.execute(tx);
}

/** Deletes the memberships of deleted contacts. Segments that do not store members keep the count of their last refresh. */
export async function deleteMembershipsOf(
  tx: Tx,
  projectId: string,
  contactIds: readonly string[],
): Promise<void> {
  await sql`
    with gone as (
      delete from segment_members m
      where m.project_id = ${projectId} and m.contact_id = any(${contactIds}::uuid[]) returning m.segment_id
    ), counted as (select segment_id, count(*)::integer as count from gone group by segment_id)
    update segments s set member_count = greatest(0, s.member_count - counted.count)
    from counted where s.project_id = ${projectId} and s.id = counted.segment_id and ${followsMembers}`.execute(
    tx,
  );
}

/**
 * Counts contacts that are still in static segments since an import added them. `import_changes` lists contacts that existed before the
 * import.
 */
export async function countImportedMembers(
  database: Database,
  projectId: string,
  jobId: string,
): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*) as count from import_changes i cross join lateral unnest(i.contact_ids) as u (contact_id)
    join segment_members m on m.project_id = i.project_id and m.segment_id = i.segment_id and m.contact_id = u.contact_id
      and m.created_at = i.created_at
    where i.project_id = ${projectId} and i.job_id = ${jobId} and i.kind = 'MEMBER'`.execute(database);
  return rows[0]?.count ?? 0;
}

/** Deletes the memberships listed in a row of `import_changes`, unless they began at another time. Returns the ids of the contacts. */
export async function deleteImportedMembers(
  tx: Tx,
  projectId: string,
  segmentId: string,
  row: { jobId: string; number: number },
): Promise<string[]> {
  const { rows } = await sql<{ contactId: string }>`
    with gone as (
      delete from segment_members m
      using import_changes i
      where i.project_id = ${projectId} and i.job_id = ${row.jobId} and i.number = ${row.number}
        and m.project_id = ${projectId} and m.segment_id = ${segmentId} and m.contact_id = any(i.contact_ids)
        and m.created_at = i.created_at
      returning m.contact_id
    ), counted as (
      update segments set member_count = member_count - (select count(*) from gone)::integer
      where project_id = ${projectId} and id = ${segmentId}
    ) select contact_id from gone`.execute(tx);
  return rows.map((one) => one.contactId);
}

/**
 * Counts the stored members of a segment under a lock, so that no concurrent change is missed. Returns null if members are not stored or
 * about to be recomputed. The count then comes from the current matches.
 */
export async function countStoredMembers(tx: Tx, projectId: string, id: string): Promise<number | null> {
  const locked = await sql`
    select 1 from segments s
    where s.project_id = ${projectId} and s.id = ${id} and ${followsMembers} and (s.compute_due_at is null or s.compute_due_at > now())
    for no key update`.execute(tx);
  if (locked.rows.length === 0) return null;
  const { rows } = await sql<{ count: number }>`
    select count(*) as count from segment_members where project_id = ${projectId} and segment_id = ${id}`.execute(
    tx,
  );
  return rows[0]?.count ?? 0;
}
