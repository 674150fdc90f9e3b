// Adds people to a project: an account with a confirmed address joins immediately, others get an invitation link.
import type * as contract from "@postloft/contract/members.ts";
import { LIMITS } from "@postloft/contract/limits/limits.ts";
import type { Role } from "@postloft/contract/roles.ts";
import type { z } from "zod";
import { withValues } from "@postloft/contract/translation.ts";
import { randomText, sha256 } from "../../platform/crypto.ts";
import type { Database, Tx } from "../../platform/database/database.ts";
import { isId, newId } from "../../platform/ids.ts";
import { AppError } from "../../platform/app-error.ts";
import { mailLanguageOf, type MailLanguage } from "../../emails/platform-email/mail-language.ts";
import { recordAudit, type Actor } from "../../audit/audit-log.ts";
import { proveAddress } from "../../users/account.ts";
import { createUser, findProvenUser, notifiedOf, type User } from "../../users/users.ts";
import {
  isMemberAlready,
  joinProject,
  lockAsAdmin,
  readMembersToChange,
  requireAdmin,
  type MemberView,
} from "./members.ts";
import {
  deleteExpiredInvitations,
  deleteInvitation,
  findInvitationByToken,
  findLiveInvitation,
  listInvitationRows,
  upsertInvitation,
  type InvitationRow,
} from "./queries.ts";

const TOKEN_LENGTH = 43;
const TOKEN = /^[A-Za-z0-9]{43}$/;

export type InvitationView = z.output<typeof contract.invitation>;

function present(row: InvitationRow): InvitationView {
  return {
    id: row.id,
    email: row.email,
    role: row.role as Role,
    createdAt: row.createdAt.toISOString(),
    expiresAt: row.expiresAt.toISOString(),
  };
}

export type Addition =
  | { status: "ADDED"; member: MemberView; projectName: string; language: MailLanguage }
  | {
      status: "INVITED";
      invitation: InvitationView;
      token: string;
      projectName: string;
      language: MailLanguage;
    };

/**
 * Adds the account with this confirmed address, or sends an invitation.
 * @throws AppError CONFLICT for a member, or over the limits; FORBIDDEN if the actor is no longer an admin
 */
export async function addMember(
  tx: Tx,
  { projectId, email, role, actor }: { projectId: string; email: string; role: Role; actor: Actor },
): Promise<Addition> {
  const { members, projectName, projectLanguage } = await readMembersToChange(tx, projectId);
  requireAdmin(members, actor);
  const user = await findProvenUser(tx, email);
  if (user === undefined) {
    if (members.some((member) => member.email === email)) throw isMemberAlready(email);
    // The invited person's language is unknown, so the project's is the best guess.
    const language = mailLanguageOf(projectLanguage);
    return { ...(await invite(tx, { projectId, email, role, actor })), projectName, language };
  }
  await joinProject(tx, members, { projectId, userId: user.id, email, role });
  await recordAudit(tx, [
    { projectId, actor, action: "member.added", target: { id: user.id, name: email }, details: { role } },
  ]);
  const member = (await readMembersToChange(tx, projectId)).members.find(({ userId }) => userId === user.id);
  if (member === undefined) throw new Error("The added member is missing.");
  const { language } = await notifiedOf(tx, user);
  return { status: "ADDED", member, projectName, language };
}

async function invite(
  tx: Tx,
  { projectId, email, role, actor }: { projectId: string; email: string; role: Role; actor: Actor },
) {
  const pending = await listInvitationRows(tx, projectId);
  if (
    pending.length >= LIMITS.pendingInvitations.value &&
    !pending.some((invitation) => invitation.email === email)
  )
    throw new AppError(
      "CONFLICT",
      withValues("A project can have up to {most} pending invitations. Revoke one first.", {
        most: LIMITS.pendingInvitations.value,
      }),
    );
  const token = randomText(TOKEN_LENGTH);
  const row = await upsertInvitation(tx, {
    projectId,
    id: newId(),
    email,
    role,
    tokenHash: sha256(token),
    invitedBy: actor.userId,
    days: LIMITS.invitationDays.value,
  });
  await recordAudit(tx, [
    { projectId, actor, action: "invitation.sent", target: { id: row.id, name: email }, details: { role } },
  ]);
  return { status: "INVITED" as const, invitation: present(row), token };
}

/** Returns the pending invitations, newest first. */
export async function listInvitations(database: Database, projectId: string): Promise<InvitationView[]> {
  return (await listInvitationRows(database, projectId)).map(present);
}

/**
 * Revokes an invitation.
 * @throws AppError INVITATION_NOT_FOUND; FORBIDDEN if the actor is no longer an admin
 */
export async function revokeInvitation(
  tx: Tx,
  { projectId, invitationId, actor }: { projectId: string; invitationId: string; actor: Actor },
): Promise<void> {
  await lockAsAdmin(tx, projectId, actor);
  const row = isId(invitationId) ? await deleteInvitation(tx, projectId, invitationId) : undefined;
  if (row === undefined) throw new AppError("INVITATION_NOT_FOUND");
  await recordAudit(tx, [
    { projectId, actor, action: "invitation.revoked", target: { id: row.id, name: row.email } },
  ]);
}

/** @throws AppError INVITATION_NOT_FOUND unless the token belongs to a pending invitation */
async function findInvitation(database: Database, token: string) {
  const row = TOKEN.test(token) ? await findInvitationByToken(database, sha256(token)) : undefined;
  if (row === undefined) throw new AppError("INVITATION_NOT_FOUND");
  return row;
}

/**
 * Returns the invitation of a link.
 * @throws AppError INVITATION_NOT_FOUND
 */
export async function readInvitation(database: Database, token: string) {
  const row = await findInvitation(database, token);
  const { email, role, expiresAt } = present(row);
  return { project: row.project, email, role, expiresAt, hasAccount: row.hasAccount };
}

/** Returns whether an address has a pending invitation to any project. */
export async function isInvited(database: Database, email: string): Promise<boolean> {
  return (await findLiveInvitation(database, email)) !== undefined;
}

interface Accepting {
  token: string;
  ip: string | null;
  /** Whether the link was sent only by email, so that its use confirms the address. Otherwise the inviter has seen the link. */
  isProof: boolean;
}

export interface Accepted {
  projectId: string;
  role: Role;
}

/**
 * Adds the invited account to the project.
 * @throws AppError INVITATION_NOT_FOUND; FORBIDDEN for an account with another address
 */
export async function acceptInvitation(
  tx: Tx,
  { token, user, ip, isProof }: Accepting & { user: User },
): Promise<Accepted> {
  const { projectId, id, email, role } = await findInvitation(tx, token);
  if (email !== user.email)
    throw new AppError("FORBIDDEN", { message: "This invitation is for a different email address." });
  const { members } = await readMembersToChange(tx, projectId);
  // Checked under the lock, because it may have been accepted or revoked in between.
  if ((await deleteInvitation(tx, projectId, id)) === undefined) throw new AppError("INVITATION_NOT_FOUND");
  await joinProject(tx, members, { projectId, userId: user.id, email, role: role as Role });
  if (isProof) await proveAddress(tx, user);
  await recordAudit(tx, [
    {
      projectId,
      actor: { kind: "person", userId: user.id, ip },
      action: "invitation.accepted",
      target: { id: user.id, name: email },
      details: { role },
    },
  ]);
  return { projectId, role: role as Role };
}

interface Newcomer extends Accepting {
  passwordHash: string;
  language: MailLanguage;
}

/**
 * Creates the account of an invited person and adds it to the project.
 * @throws AppError INVITATION_NOT_FOUND, CONFLICT
 */
export async function signUpInvited(
  tx: Tx,
  { passwordHash, language, ...accepting }: Newcomer,
): Promise<Accepted & { user: User }> {
  const { email } = await findInvitation(tx, accepting.token);
  const user = await createUser(tx, { email, passwordHash, isVerified: accepting.isProof, language });
  return { user, ...(await acceptInvitation(tx, { ...accepting, user })) };
}

/** Deletes expired invitations. */
export async function sweepInvitations(database: Database): Promise<void> {
  await deleteExpiredInvitations(database);
}
