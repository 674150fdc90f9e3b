// Registers the types of new keys of contact data.
import { sql } from "kysely";
import type { Tx } from "../platform/database/database.ts";
import type { FieldType } from "./rules.ts";

export interface ContactField {
  projectId: string;
  field: string;
  type: FieldType;
}

/** Registers the types of new keys. An existing type is kept. */
export async function insertFields(tx: Tx, fields: readonly ContactField[]): Promise<void> {
  await fieldInsert(fields).execute(tx);
}

/**
 * Counts the existing fields of a project once. Rows are inserted in descending order, so that a number above the limit fails the statement
 * first. Otherwise a thousand rejected names would leave a thousand dead rows.
 */
export function fieldInsert(fields: readonly ContactField[]) {
  return sql`
    with named as materialized (
      select * from unnest(
        -- A subquery hides the length of the array from the planner. Otherwise each short batch would be planned again.
        (select ${fields.map((field) => field.projectId)}::uuid[]),
        ${fields.map((field) => field.field)}::text[],
        ${fields.map((field) => field.type)}::text[]
      ) as i (project_id, field, type)
    ), known as materialized (
      select f.project_id, f.field from named n
      join contact_fields f on f.project_id = n.project_id and f.field = n.field
    ), unknown as materialized (
      select * from named n where ((n.project_id, n.field) in (select project_id, field from known)) is not true
    ), counted as materialized (
      select f.project_id, count(*) as count from contact_fields f
      where f.project_id in (select project_id from unknown) group by f.project_id
    )
    insert into contact_fields (project_id, field, type, number)
    select u.project_id, u.field, u.type,
           coalesce(c.count, 0) + row_number() over (partition by u.project_id order by u.field)
    from unknown u left join counted c on c.project_id = u.project_id
    order by u.project_id desc, u.field desc
    on conflict do nothing`;
}
