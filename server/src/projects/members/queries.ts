// Statements on `memberships` and `invitations` after a project has its first owner.
import { sql } from "kysely";
import type { Database, Tx } from "../../platform/database/database.ts";
import type { Row } from "../../platform/database/row.ts";

export interface MemberRow extends Row<"memberships", "userId" | "role" | "knowsSecretKey" | "createdAt"> {
  email: string;
}

export async function listMemberRows(database: Database, projectId: string): Promise<MemberRow[]> {
  return database
    .selectFrom("memberships as m")
    .innerJoin("users as u", "u.id", "m.userId")
    .select(["m.userId", "u.email", "m.role", "m.knowsSecretKey", "m.createdAt"])
    .where("m.projectId", "=", projectId)
    .orderBy("m.createdAt")
    .orderBy("m.userId")
    .execute();
}

/** Returns false if the person is already a member. */
export async function insertMember(
  tx: Tx,
  member: { projectId: string; userId: string; role: string },
): Promise<boolean> {
  const result = await tx
    .insertInto("memberships")
    .values(member)
    .onConflict((conflict) => conflict.columns(["projectId", "userId"]).doNothing())
    .executeTakeFirst();
  return result.numInsertedOrUpdatedRows === 1n;
}

/** Changes a role. A member who could see the secret key in the former role still knows it. */
export async function updateMemberRole(
  tx: Tx,
  projectId: string,
  userId: string,
  role: string,
): Promise<void> {
  await tx
    .updateTable("memberships")
    .set({ role, knowsSecretKey: sql<boolean>`knows_secret_key or role <> 'MEMBER'` })
    .where("projectId", "=", projectId)
    .where("userId", "=", userId)
    .execute();
}

export async function deleteMember(tx: Tx, projectId: string, userId: string): Promise<void> {
  await tx
    .deleteFrom("memberships")
    .where("projectId", "=", projectId)
    .where("userId", "=", userId)
    .execute();
}

export type InvitationRow = Row<"invitations", (typeof COLUMNS)[number]>;

const COLUMNS = ["projectId", "id", "email", "role", "createdAt", "expiresAt"] as const;

/** Stores an invitation. Replaces the previous one of the same address, whose link becomes invalid. */
export async function upsertInvitation(
  tx: Tx,
  invitation: Omit<InvitationRow, "createdAt" | "expiresAt"> & {
    tokenHash: Buffer;
    days: number;
    invitedBy: string | null;
  },
): Promise<InvitationRow> {
  const { rows } = await sql<InvitationRow>`
    insert into invitations (project_id, id, email, role, token_hash, invited_by, expires_at)
    values (
      ${invitation.projectId}, ${invitation.id}, ${invitation.email}, ${invitation.role}, ${invitation.tokenHash},
      ${invitation.invitedBy}, now() + make_interval(days => ${invitation.days})
    )
    on conflict (project_id, email) do update set
      id = excluded.id, role = excluded.role, token_hash = excluded.token_hash, invited_by = excluded.invited_by,
      created_at = excluded.created_at, expires_at = excluded.expires_at
    returning project_id, id, email, role, created_at, expires_at`.execute(tx);
  const [row] = rows;
  if (row === undefined) throw new Error("The upsert returned no row.");
  return row;
}

export async function listInvitationRows(database: Database, projectId: string): Promise<InvitationRow[]> {
  return database
    .selectFrom("invitations")
    .select(COLUMNS)
    .where("projectId", "=", projectId)
    .where("expiresAt", ">", sql<Date>`now()`)
    .orderBy("id", "desc")
    .execute();
}

/** Returns a pending invitation with the name of its project and whether the address has an account. */
export async function findInvitationByToken(database: Database, tokenHash: Buffer) {
  const { rows } = await sql<InvitationRow & { project: string; hasAccount: boolean }>`
    select i.project_id, i.id, i.email, i.role, i.created_at, i.expires_at, p.name as project,
      exists (select 1 from users u where u.email = i.email) as has_account
    from invitations i join projects p on p.id = i.project_id
    where i.token_hash = ${tokenHash} and i.expires_at > now()`.execute(database);
  return rows[0];
}

export async function findLiveInvitation(database: Database, email: string) {
  const { rows } = await sql`
    select 1 from invitations where email = ${email} and expires_at > now() limit 1`.execute(database);
  return rows[0];
}

/** Returns the deleted invitation. Of several concurrent callers only one gets it. */
export async function deleteInvitation(
  tx: Tx,
  projectId: string,
  id: string,
): Promise<InvitationRow | undefined> {
  return tx
    .deleteFrom("invitations")
    .where("projectId", "=", projectId)
    .where("id", "=", id)
    .returning(COLUMNS)
    .executeTakeFirst();
}

export async function deleteInvitationsOf(tx: Tx, projectId: string, email: string): Promise<void> {
  await tx.deleteFrom("invitations").where("projectId", "=", projectId).where("email", "=", email).execute();
}

/** Deletes the invitations that a person sent, and returns them. */
export async function deleteInvitationsBy(
  tx: Tx,
  projectId: string,
  userId: string,
): Promise<Array<Pick<InvitationRow, "id" | "email">>> {
  return tx
    .deleteFrom("invitations")
    .where("projectId", "=", projectId)
    .where("invitedBy", "=", userId)
    .returning(["id", "email"])
    .execute();
}

export async function deleteExpiredInvitations(database: Database): Promise<void> {
  await sql`delete from invitations where expires_at <= now()`.execute(database);
}

export interface NoticeRow {
  email: string;
  language: string;
  project: string;
  /** The address of the person who did it. */
  by: string | null;
}

/** Returns one member, or all owners and admins, with the facts of a notice. */
export async function listNoticeRecipients(
  tx: Tx,
  projectId: string,
  { to, by }: { to: string | null; by: string | null },
): Promise<NoticeRow[]> {
  const { rows } = await sql<NoticeRow>`
    select u.email, u.language, p.name as project, (select a.email from users a where a.id = ${by}) as by
    from memberships m join users u on u.id = m.user_id join projects p on p.id = m.project_id
    where m.project_id = ${projectId}
      and case when ${to}::uuid is null then m.role in ('OWNER', 'ADMIN') else m.user_id = ${to} end
    order by m.created_at`.execute(tx);
  return rows;
}

/** Returns the memberships of a person. */
export async function listMembershipsOf(
  tx: Tx,
  userId: string,
): Promise<Array<{ projectId: string; role: string }>> {
  const { rows } = await sql<{ projectId: string; role: string }>`
    select project_id, role from memberships where user_id = ${userId} order by project_id`.execute(tx);
  return rows;
}

/** Returns the names of the projects without another owner. */
export async function listOnlyOwned(tx: Tx, userId: string): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`
    select p.name from memberships m join projects p on p.id = m.project_id
    where m.user_id = ${userId} and m.role = 'OWNER' and not exists (
      select 1 from memberships o
      where o.project_id = m.project_id and o.user_id <> m.user_id and o.role = 'OWNER')
    order by p.id`.execute(tx);
  return rows.map(({ name }) => name);
}

/** Moves memberships to another person, who keeps the higher role in common projects. */
export async function moveMemberships(tx: Tx, fromId: string, toId: string): Promise<void> {
  await sql`
    insert into memberships as m (project_id, user_id, role)
    select project_id, ${toId}::uuid, role from memberships where user_id = ${fromId}
    on conflict (project_id, user_id) do update set role = excluded.role
    where excluded.role = 'OWNER' or m.role = 'MEMBER'`.execute(tx);
  await sql`delete from memberships where user_id = ${fromId}`.execute(tx);
}
