// Statements on `contact_views`.
import { sql } from "kysely";
import type { Database, Tx } from "../../platform/database/database.ts";
import type { Row } from "../../platform/database/row.ts";
import { lockProject } from "../../projects/projects.ts";

export type ViewRow = Row<"contact_views", (typeof SHOWN)[number]>;

const SHOWN = ["id", "name", "query", "createdAt", "updatedAt"] as const;

export async function listViewRows(database: Database, projectId: string): Promise<ViewRow[]> {
  return database
    .selectFrom("contact_views")
    .select(SHOWN)
    .where("projectId", "=", projectId)
    .orderBy(sql`lower(name)`)
    .orderBy("id")
    .execute();
}

/** Returns the ids of all views by name. Locks the project, so that two concurrent requests cannot take the last place or the same name. */
export async function lockViewNames(tx: Tx, projectId: string): Promise<Map<string, string>> {
  await lockProject(tx, projectId);
  const rows = await tx
    .selectFrom("contact_views")
    .select(["id", "name"])
    .where("projectId", "=", projectId)
    .execute();
  return new Map(rows.map(({ id, name }) => [name, id]));
}

export async function insertViewRow(
  tx: Tx,
  view: { projectId: string; id: string; name: string; query: string },
): Promise<ViewRow> {
  return tx.insertInto("contact_views").values(view).returning(SHOWN).executeTakeFirstOrThrow();
}

export async function updateViewRow(
  tx: Tx,
  projectId: string,
  id: string,
  changes: { name?: string; query?: string },
): Promise<ViewRow> {
  return tx
    .updateTable("contact_views")
    .set({ ...changes, updatedAt: sql`now()` })
    .where("projectId", "=", projectId)
    .where("id", "=", id)
    .returning(SHOWN)
    .executeTakeFirstOrThrow();
}

/** Returns whether the view existed. */
export async function deleteViewRow(tx: Tx, projectId: string, id: string): Promise<boolean> {
  const { numDeletedRows } = await tx
    .deleteFrom("contact_views")
    .where("projectId", "=", projectId)
    .where("id", "=", id)
    .executeTakeFirst();
  return numDeletedRows > 0n;
}
