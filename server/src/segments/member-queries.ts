// Statements on `segment_members`. `matches` is a compiled filter over contacts `c`; no list of members passes through here whole.
import { sql, type RawBuilder, type SqlBool } from "kysely";
import { plannedEachTime, type Tx } from "../platform/database.ts";
import { recordEventsFrom, sameEventFor } from "../events/events.ts";

/** What a segment is called in its events. */
export interface EventNames {
  entry: string;
  exit: string;
  data: Readonly<Record<string, unknown>>;
}

/**
 * Makes the stored members equal to who matches, all of them or only these contacts, with one event for each who really
 * came or left, and moves the count along; all in one statement. Who moves is found by a full join, which is always made by
 * hashing or sorting: of tables that grew lately PostgreSQL believes that they are empty, and would compare each with each.
 */
export async function syncMembers(
  tx: Tx,
  segment: { projectId: string; id: string },
  matches: RawBuilder<SqlBool>,
  events: EventNames,
  contactIds: readonly string[] | null,
): Promise<{ added: number; removed: number; total: number }> {
  const { projectId, id } = segment;
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
      ${sameEventFor({ projectId, name: events.exit, data: events.data }, sql`select contact_id from gone`)} union all
      ${sameEventFor({ projectId, name: events.entry, data: events.data }, sql`select contact_id from come`)}`)}
    , changed as (
      select (select count(*) from come)::integer as added, (select count(*) from gone)::integer as removed
    )
    update segments s set
      member_count = ${
        contactIds === null
          ? sql`(select count(*) from matching)`
          : sql`s.member_count + changed.added - changed.removed`
      }
    from changed where s.project_id = ${projectId} and s.id = ${id}
    returning changed.added, changed.removed, s.member_count as total`.execute(tx);
  return rows[0] ?? { added: 0, removed: 0, total: 0 };
}

/** Removes up to `limit` stored members of a segment that is not tracked any more; answers how many. */
export async function deleteMembers(
  tx: Tx,
  projectId: string,
  segmentId: string,
  limit: number,
): Promise<number> {
  const result = await sql`
    -- As an array: where PostgreSQL takes a project to have few rows, a join compares each with each.
    delete from segment_members where project_id = ${projectId} and segment_id = ${segmentId} and contact_id = any (array(
      select contact_id from segment_members where project_id = ${projectId} and segment_id = ${segmentId} limit ${limit}))`.execute(
    tx,
  );
  return Number(result.numAffectedRows ?? 0);
}

/** Adds contacts to a static segment by address; answers those that were not in it. */
export async function insertMembers(
  tx: Tx,
  projectId: string,
  segmentId: string,
  emails: readonly string[],
): Promise<string[]> {
  const { rows } = await sql<{ contactId: string }>`
    with come as (
      insert into segment_members (project_id, segment_id, contact_id)
      select ${projectId}::uuid, ${segmentId}::uuid, c.id from contacts c
      where c.project_id = ${projectId} and c.email = any(${emails}::text[]) order by c.id
      on conflict do nothing returning contact_id
    ), counted as (
      update segments set member_count = member_count + (select count(*) from come)::integer
      where project_id = ${projectId} and id = ${segmentId}
    ) select contact_id from come`.execute(tx);
  return rows.map((row) => row.contactId);
}

/** Removes contacts from a static segment by address; answers those that were in it. */
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
