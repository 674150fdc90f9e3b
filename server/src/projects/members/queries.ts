// Statements on `memberships` and `invitations`, once a project has its first owner.
import { sql } from "kysely";
import type { Database, Tx } from "../../platform/database.ts";

/** Lines up changes of a project's members, so that two at once never leave it without an owner; other work goes on. */
export async function lockMembers(
  tx: Tx,
  projectId: string,
): Promise<{ name: string; language: string } | undefined> {
  const { rows } = await sql<{ name: string; language: string }>`
    select name, language from projects where id = ${projectId} for no key update`.execute(tx);
  return rows[0];
}

export interface MemberRow {
  user_id: string;
  email: string;
  role: string;
  created_at: Date;
}

export async function listMemberRows(database: Database, projectId: string): Promise<MemberRow[]> {
  return database
    .selectFrom("memberships as m")
    .innerJoin("users as u", "u.id", "m.user_id")
    .select(["m.user_id", "u.email", "m.role", "m.created_at"])
    .where("m.project_id", "=", projectId)
    .orderBy("m.created_at")
    .orderBy("m.user_id")
    .execute();
}

/** Whether they are new; false when they are a member already. */
export async function insertMember(
  tx: Tx,
  member: { project_id: string; user_id: string; role: string },
): Promise<boolean> {
  const result = await tx
    .insertInto("memberships")
    .values(member)
    .onConflict((conflict) => conflict.columns(["project_id", "user_id"]).doNothing())
    .executeTakeFirst();
  return result.numInsertedOrUpdatedRows === 1n;
}

export async function updateMemberRole(
  tx: Tx,
  projectId: string,
  userId: string,
  role: string,
): Promise<void> {
  await tx
    .updateTable("memberships")
    .set({ role })
    .where("project_id", "=", projectId)
    .where("user_id", "=", userId)
    .execute();
}

export async function deleteMember(tx: Tx, projectId: string, userId: string): Promise<void> {
  await tx
    .deleteFrom("memberships")
    .where("project_id", "=", projectId)
    .where("user_id", "=", userId)
    .execute();
}

export interface InvitationRow {
  project_id: string;
  id: string;
  email: string;
  role: string;
  created_at: Date;
  expires_at: Date;
}

const COLUMNS = ["project_id", "id", "email", "role", "created_at", "expires_at"] as const;

/** An invitation of the same address is replaced, and its link dead. */
export async function upsertInvitation(
  tx: Tx,
  invitation: Omit<InvitationRow, "created_at" | "expires_at"> & { token_hash: Buffer; days: number },
): Promise<InvitationRow> {
  const { rows } = await sql<InvitationRow>`
    insert into invitations (project_id, id, email, role, token_hash, expires_at)
    values (
      ${invitation.project_id}, ${invitation.id}, ${invitation.email}, ${invitation.role}, ${invitation.token_hash},
      now() + make_interval(days => ${invitation.days})
    )
    on conflict (project_id, email) do update set
      id = excluded.id, role = excluded.role, token_hash = excluded.token_hash,
      created_at = excluded.created_at, expires_at = excluded.expires_at
    returning project_id, id, email, role, created_at, expires_at`.execute(tx);
  const [row] = rows;
  if (row === undefined) throw new Error("An upsert answers its row.");
  return row;
}

export async function listInvitationRows(database: Database, projectId: string): Promise<InvitationRow[]> {
  return database
    .selectFrom("invitations")
    .select(COLUMNS)
    .where("project_id", "=", projectId)
    .where("expires_at", ">", sql<Date>`now()`)
    .orderBy("id", "desc")
    .execute();
}

/** With the name of its project, and whether the address has an account; nothing once it is over. */
export async function findInvitationByToken(database: Database, tokenHash: Buffer) {
  const { rows } = await sql<InvitationRow & { project: string; has_account: boolean }>`
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

/** The one that was deleted: of many at once, one gets it. */
export async function deleteInvitation(
  tx: Tx,
  projectId: string,
  id: string,
): Promise<InvitationRow | undefined> {
  return tx
    .deleteFrom("invitations")
    .where("project_id", "=", projectId)
    .where("id", "=", id)
    .returning(COLUMNS)
    .executeTakeFirst();
}

export async function deleteInvitationsOf(tx: Tx, projectId: string, email: string): Promise<void> {
  await tx.deleteFrom("invitations").where("project_id", "=", projectId).where("email", "=", email).execute();
}

export async function deleteExpiredInvitations(database: Database): Promise<void> {
  await sql`delete from invitations where expires_at <= now()`.execute(database);
}
