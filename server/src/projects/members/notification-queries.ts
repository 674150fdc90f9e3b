// Statements on members' notification settings and `told_members`.
import { sql } from "kysely";
import type { Database, Tx } from "../../platform/database/database.ts";

/** A member's settings: kinds by email, kinds by webhook, and the webhook URL. */
export interface ChoicesRow {
  notifications: Record<string, boolean>;
  webhookKinds: Record<string, boolean>;
  webhookUrl: string | null;
}

export async function findChoices(
  database: Database,
  projectId: string,
  userId: string,
): Promise<ChoicesRow | undefined> {
  const { rows } = await sql<ChoicesRow>`
    select notifications, webhook_kinds, webhook_url from memberships
    where project_id = ${projectId} and user_id = ${userId}`.execute(database);
  return rows[0];
}

type Chosen = Readonly<Record<string, boolean | undefined>>;

export async function mergeChoices(
  tx: Tx,
  { projectId, userId }: { projectId: string; userId: string },
  chosen: { byMail: Chosen; byWebhook: Chosen },
): Promise<ChoicesRow | undefined> {
  const { rows } = await sql<ChoicesRow>`
    update memberships set notifications = notifications || ${JSON.stringify(chosen.byMail)}::jsonb,
      webhook_kinds = webhook_kinds || ${JSON.stringify(chosen.byWebhook)}::jsonb
    where project_id = ${projectId} and user_id = ${userId}
    returning notifications, webhook_kinds, webhook_url`.execute(tx);
  return rows[0];
}

/** Returns whether the member exists. */
export async function updateWebhookUrl(
  tx: Tx,
  { projectId, userId }: { projectId: string; userId: string },
  url: string | null,
): Promise<boolean> {
  const { numAffectedRows } = await sql`
    update memberships set webhook_url = ${url} where project_id = ${projectId} and user_id = ${userId}`.execute(
    tx,
  );
  return numAffectedRows === 1n;
}

/** Returns the webhook URLs of these members, where they are set. */
export async function listWebhookUrls(
  database: Database,
  projectId: string,
  userIds: readonly string[],
): Promise<Array<{ userId: string; url: string }>> {
  const { rows } = await sql<{ userId: string; url: string }>`
    select user_id, webhook_url as url from memberships
    where project_id = ${projectId} and user_id = any(${userIds}::uuid[]) and webhook_url is not null
    order by user_id`.execute(database);
  return rows;
}

const wantsMail = (kind: string, isUsual: boolean) =>
  sql<boolean>`coalesce((m.notifications ->> ${kind})::boolean, ${isUsual})`;
const wantsCall = (kind: string) =>
  sql<boolean>`m.webhook_url is not null and coalesce((m.webhook_kinds ->> ${kind})::boolean, false)`;

interface Listener {
  userId: string;
  email: string;
  language: string;
  byMail: boolean;
  byWebhook: boolean;
}

/** Returns the members who get a notification, and how. Members without a choice get the default emails. */
export async function listListeners(
  tx: Tx,
  { projectId, kind, isUsual }: { projectId: string; kind: string; isUsual: boolean },
): Promise<Listener[]> {
  const { rows } = await sql<Listener>`
    select u.id as user_id, u.email, u.language, ${wantsMail(kind, isUsual)} as by_mail, ${wantsCall(kind)} as by_webhook
    from memberships m join users u on u.id = m.user_id
    where m.project_id = ${projectId} and (${wantsMail(kind, isUsual)} or ${wantsCall(kind)})
    order by m.created_at`.execute(tx);
  return rows;
}

/**
 * Marks projects as notified and returns those not notified since that time. Leaves the other rows untouched, so that no one waits for
 * their locks. The time in ON CONFLICT is a literal, because a cluster runs that part on its own, where the types of other parameters are
 * unknown.
 */
export async function markNotified(
  tx: Tx,
  { projectIds, kind, since }: { projectIds: readonly string[]; kind: string; since: Date },
): Promise<string[]> {
  const { rows } = await sql<{ projectId: string }>`
    insert into told_members as t (project_id, kind)
    select id, ${kind}::text from unnest(${projectIds}::uuid[]) id
    left join told_members o on o.project_id = id and o.kind = ${kind} and o.told_at >= ${since}
    where o.project_id is null
    order by id
    on conflict (project_id, kind) do update set told_at = excluded.told_at where t.told_at < ${sql.lit(since.toISOString())}
    returning t.project_id`.execute(tx);
  return rows.map((row) => row.projectId);
}

/** Returns projects with a subscriber to this kind that were not notified since that time. */
export async function listDueProjects(database: Database, kind: string, since: Date, limit: number) {
  const { rows } = await sql<{ id: string; name: string }>`
    select p.id, p.name from projects p
    where exists (
        select 1 from memberships m where m.project_id = p.id and (${wantsMail(kind, false)} or ${wantsCall(kind)})
      )
      and not exists (
        select 1 from told_members t where t.project_id = p.id and t.kind = ${kind} and t.told_at >= ${since}
      )
    order by p.id limit ${limit}`.execute(database);
  return rows;
}
