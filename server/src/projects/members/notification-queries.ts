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

/** Those that were not told since then; from now on they were. Who was is left alone, so that nobody waits for its row. */
export async function markTold(
  tx: Tx,
  { projectIds, kind, since }: { projectIds: readonly string[]; kind: string; since: Date },
): Promise<string[]> {
  const { rows } = await sql<{ project_id: string }>`
    insert into told_members as t (project_id, kind)
    select id, ${kind} from unnest(${projectIds}::uuid[]) id
    where not exists (
      select 1 from told_members o where o.project_id = id and o.kind = ${kind} and o.told_at >= ${since}
    )
    order by id
    on conflict (project_id, kind) do update set told_at = excluded.told_at where t.told_at < ${since}
    returning t.project_id`.execute(tx);
  return rows.map((row) => row.project_id);
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
