// Statements on segments that other folders ask for, before a field goes or a contact is exported.
import { sql, type RawBuilder } from "kysely";
import type { Database } from "../platform/database/database.ts";

interface NamedRow {
  id: string;
  name: string;
}

/** A filter, however deep, with a condition on the field, or on something inside its objects. */
export function namesField(filter: string, field: string): RawBuilder<unknown> {
  return sql`jsonb_path_exists(${sql.ref(filter)}, '$.**.field ? (@ == $name || @ starts with $inside)',
    jsonb_build_object('name', ${field}::text, 'inside', ${field}::text || '.'))`;
}

export async function listSegmentsNaming(
  database: Database,
  projectId: string,
  field: string,
): Promise<NamedRow[]> {
  const { rows } = await sql<NamedRow>`
    select id, name from segments where project_id = ${projectId} and ${namesField("filters", field)} order by id`.execute(
    database,
  );
  return rows;
}

/** The segments in which a contact stands: static ones, and dynamic ones whose members are tracked. */
export async function listSegmentsOfContact(database: Database, projectId: string, contactId: string) {
  return database
    .selectFrom("segment_members as m")
    .innerJoin("segments as s", (join) =>
      join.onRef("s.projectId", "=", "m.projectId").onRef("s.id", "=", "m.segmentId"),
    )
    .select(["s.id", "s.name", "m.createdAt"])
    .where("m.projectId", "=", projectId)
    .where("m.contactId", "=", contactId)
    .orderBy("m.createdAt")
    .orderBy("s.id")
    .execute();
}
