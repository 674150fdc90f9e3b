// What the doors ask of contacts before they change them.
import { sql } from "kysely";
import type { Tx } from "../platform/database.ts";

/** How contacts of many projects stand, by address; missing ones do not exist. */
export async function findSubscriptions(tx: Tx, keys: ReadonlyArray<{ projectId: string; email: string }>) {
  const { rows } = await sql<{ project_id: string; email: string; subscribed: boolean }>`
    select c.project_id, c.email, c.subscribed
    from unnest(${keys.map((key) => key.projectId)}::uuid[], ${keys.map((key) => key.email)}::text[]) as i (project_id, email)
    join contacts c on c.project_id = i.project_id and c.email = i.email`.execute(tx);
  return rows;
}
