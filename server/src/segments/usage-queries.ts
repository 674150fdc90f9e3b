// Statements about segments for other folders, used to delete a field or export a contact.
import { sql, type RawBuilder } from "kysely";
import type { Database } from "../platform/database/database.ts";

interface NamedRow {
  id: string;
  name: string;
}

/** Returns whether a filter has a condition on the field or on a nested key, at any depth. */
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

/** Returns the static segments of a contact and its tracked dynamic segments. */
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
