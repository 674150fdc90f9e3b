// Statements on what members want to be told, and on `told_members`.
// Before it: notifications.ts. After it: nothing.
import { sql } from "kysely";
import type { Database, Tx } from "../../platform/database.ts";

export async function findChoices(database: Database, projectId: string, userId: string) {
  const { rows } = await sql<{ notifications: Record<string, boolean> }>`
    select notifications from memberships where project_id = ${projectId} and user_id = ${userId}`.execute(
    database,
  );
  return rows[0]?.notifications;
}

export async function mergeChoices(
  tx: Tx,
  projectId: string,
  userId: string,
  choices: Readonly<Record<string, boolean | undefined>>,
) {
  const { rows } = await sql<{ notifications: Record<string, boolean> }>`
    update memberships set notifications = notifications || ${JSON.stringify(choices)}::jsonb
    where project_id = ${projectId} and user_id = ${userId} returning notifications`.execute(tx);
  return rows[0]?.notifications;
}

/** Addresses of those who chose it, or chose nothing where it is usual. */
export async function listListeners(
  tx: Tx,
  { projectId, kind, isUsual }: { projectId: string; kind: string; isUsual: boolean },
): Promise<string[]> {
  const { rows } = await sql<{ email: string }>`
    select u.email from memberships m join users u on u.id = m.user_id
    where m.project_id = ${projectId} and coalesce((m.notifications ->> ${kind})::boolean, ${isUsual})
    order by m.created_at`.execute(tx);
  return rows.map(({ email }) => email);
}

/** False where it was told since then. */
export async function markTold(
  tx: Tx,
  { projectId, kind, since }: { projectId: string; kind: string; since: Date },
): Promise<boolean> {
  // Looked at first: whoever waits for the row would hold up what it is told with.
  const { rows } = await sql`
    select 1 from told_members where project_id = ${projectId} and kind = ${kind} and told_at >= ${since}`.execute(
    tx,
  );
  if (rows.length > 0) return false;
  const { numAffectedRows } = await sql`
    insert into told_members as t (project_id, kind) values (${projectId}, ${kind})
    on conflict (project_id, kind) do update set told_at = excluded.told_at where t.told_at < ${since}`.execute(
    tx,
  );
  return numAffectedRows === 1n;
}

/** Projects of which somebody asked for this and nobody was told since then. */
export async function listDueProjects(database: Database, kind: string, since: Date, limit: number) {
  const { rows } = await sql<{ id: string; name: string }>`
    select p.id, p.name from projects p
    where exists (
        select 1 from memberships m where m.project_id = p.id and (m.notifications ->> ${kind})::boolean
      )
      and not exists (
        select 1 from told_members t where t.project_id = p.id and t.kind = ${kind} and t.told_at >= ${since}
      )
    order by p.id limit ${limit}`.execute(database);
  return rows;
}
