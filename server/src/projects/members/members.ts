// Lists, adds, promotes and removes the members of a project, which always has an owner.
import type * as contract from "@postloft/contract/members.ts";
import { LIMITS } from "@postloft/contract/limits/limits.ts";
import { addMember } from "@postloft/contract/members.ts";
import { reaches, seesSecretKey, type Role } from "@postloft/contract/roles.ts";
import type { z } from "zod";
import { withValues } from "@postloft/contract/translation.ts";
import type { Sealer } from "../../platform/crypto.ts";
import type { Database, Tx } from "../../platform/database/database.ts";
import { AppError } from "../../platform/app-error.ts";
import { recordAudit, type Actor, type AuditEntry } from "../../audit/audit-log.ts";
import { lockProject } from "../queries.ts";
import { makeKeyPair, replaceKeys, type KeyPair } from "../keys.ts";
import { revokeKeysOf, shrinkKeysOf } from "../scoped-keys/scoped-keys.ts";
import { sendNotice } from "./project-notices.ts";
import {
  deleteInvitationsBy,
  deleteInvitationsOf,
  deleteMember,
  insertMember,
  listMemberRows,
  listOnlyOwned,
  moveMemberships,
  updateMemberRole,
  type MemberRow,
} from "./queries.ts";

export type MemberView = z.output<typeof contract.member>;

function present(row: MemberRow): MemberView {
  const role = row.role as Role;
  return {
    userId: row.userId,
    email: row.email,
    role,
    couldSeeSecretKey: row.knowsSecretKey || seesSecretKey(role),
    createdAt: row.createdAt.toISOString(),
  };
}

/** Returns the members, oldest first. */
export async function listMembers(database: Database, projectId: string): Promise<MemberView[]> {
  return (await listMemberRows(database, projectId)).map(present);
}

interface OfMember {
  projectId: string;
  userId: string;
  actor: Actor;
}

/** Locks a project until the commit and returns its members. */
export async function readMembersToChange(
  tx: Tx,
  projectId: string,
): Promise<{ projectName: string; projectLanguage: string; members: MemberView[] }> {
  const project = await lockProject(tx, projectId);
  if (project === undefined) throw new AppError("PROJECT_NOT_FOUND");
  const members = await listMembers(tx, projectId);
  return { projectName: project.name, projectLanguage: project.language, members };
}

/**
 * Locks the project and returns one member with all members.
 * @throws AppError MEMBER_NOT_FOUND
 */
async function readMemberToChange(tx: Tx, projectId: string, userId: string) {
  const { members } = await readMembersToChange(tx, projectId);
  const member = members.find((one) => one.userId === userId);
  if (member === undefined) throw new AppError("MEMBER_NOT_FOUND");
  return { member, members };
}

/**
 * Adds an account to the project. Call it under the lock of `readMembersToChange`.
 * @throws AppError CONFLICT
 */
export async function joinProject(
  tx: Tx,
  members: readonly MemberView[],
  joining: { projectId: string; userId: string; email: string; role: Role },
): Promise<void> {
  if (members.length >= LIMITS.members.value)
    throw new AppError(
      "CONFLICT",
      withValues("A project can have up to {most} members.", { most: LIMITS.members.value }),
    );
  const { projectId, userId, role } = joining;
  const isNew = await insertMember(tx, { projectId, userId, role });
  if (!isNew) throw isMemberAlready(joining.email);
  await deleteInvitationsOf(tx, projectId, joining.email);
}

export function isMemberAlready(email: string): AppError {
  return new AppError("CONFLICT", withValues("{email} is already a member.", { email }));
}

/**
 * Returns the actor's current role. Called under the project's lock, so that a removed or demoted admin's pending request changes nothing.
 *
 * @throws AppError FORBIDDEN
 */
export function requireAdmin(members: readonly MemberView[], { userId }: Actor): Role {
  const role = members.find((one) => one.userId === userId)?.role;
  if (role === undefined || !mayInvite(role))
    throw new AppError("FORBIDDEN", { message: "You are no longer an admin of this project." });
  return role;
}

/**
 * Locks the project and checks that the actor is still an admin. An instance admin need not be a member.
 * @throws AppError FORBIDDEN
 */
export async function lockAsAdmin(tx: Tx, projectId: string, actor: Actor): Promise<void> {
  const { members } = await readMembersToChange(tx, projectId);
  if (actor.kind !== "service") requireAdmin(members, actor);
}

/**
 * Changes a member's role.
 * @throws AppError MEMBER_NOT_FOUND; FORBIDDEN if an admin changes an owner or makes one; CONFLICT for the last owner
 */
export async function changeRole(
  tx: Tx,
  { projectId, userId, actor, role }: OfMember & { role: Role },
): Promise<MemberView> {
  const { member, members } = await readMemberToChange(tx, projectId, userId);
  if (requireAdmin(members, actor) !== "OWNER" && (role === "OWNER" || member.role === "OWNER"))
    throw new AppError("FORBIDDEN", { message: "Only an owner can grant or remove the role OWNER." });
  if (member.role === role) return member;
  if (member.role === "OWNER") requireAnotherOwner(members, member);
  await updateMemberRole(tx, projectId, member.userId, role);
  if (!seesSecretKey(role)) await shrinkKeysOf(tx, projectId, member.userId);
  await sendNotice(tx, { projectId, notice: "roleChanged", actor, to: member.userId, role });
  await recordAudit(tx, [
    {
      projectId,
      actor,
      action: "member.roleChanged",
      target: targetOf(member),
      details: { from: member.role, to: role },
    },
    ...(mayInvite(role) ? [] : await withdrawInvitations(tx, { projectId, userId: member.userId, actor })),
  ]);
  return { ...member, role, couldSeeSecretKey: member.couldSeeSecretKey || seesSecretKey(role) };
}

const mayInvite = (role: Role) => reaches(role, addMember.leastRole);

/**
 * Revokes the open invitations of a person who may no longer invite.
 * @returns the audit entries to record
 */
export async function withdrawInvitations(
  tx: Tx,
  { projectId, userId, actor }: OfMember,
): Promise<AuditEntry[]> {
  const rows = await deleteInvitationsBy(tx, projectId, userId);
  return rows.map(({ id, email }) => ({
    projectId,
    actor,
    action: "invitation.revoked",
    target: { id, name: email },
  }));
}

export interface Removal {
  /** Whether the member could see the secret key that was valid until the removal. */
  couldSeeSecretKey: boolean;
  /** The new keys if both were replaced. */
  keys: KeyPair | null;
}

/**
 * Removes a member with their open invitations and their scoped keys. Members may remove themselves.
 *
 * @param rotateWith seals new keys for the project; null keeps the current ones
 * @throws AppError MEMBER_NOT_FOUND, FORBIDDEN, CONFLICT for an owner
 */
export async function removeMember(
  tx: Tx,
  { projectId, userId, actor }: OfMember,
  rotateWith: Sealer | null = null,
): Promise<Removal> {
  const { member, members } = await readMemberToChange(tx, projectId, userId);
  if (actor.userId !== member.userId) requireAdmin(members, actor);
  if (member.role === "OWNER")
    throw new AppError("CONFLICT", {
      message: "An owner can't be removed. Change the role or transfer the ownership first.",
    });
  const { couldSeeSecretKey } = member;
  if (actor.userId !== member.userId)
    await sendNotice(tx, { projectId, notice: "removed", actor, to: member.userId });
  const of = { projectId, userId: member.userId, actor };
  const gone = [...(await withdrawInvitations(tx, of)), ...(await revokeKeysOf(tx, of))];
  await deleteMember(tx, projectId, member.userId);
  const keys = rotateWith === null ? null : makeKeyPair();
  if (rotateWith !== null && keys !== null) {
    await replaceKeys(tx, rotateWith, projectId, keys);
    await sendNotice(tx, { projectId, notice: "keysRotated", actor });
  }
  await recordAudit(tx, [
    {
      projectId,
      actor,
      action: actor.userId === member.userId ? "member.left" : "member.removed",
      target: targetOf(member),
      details: { role: member.role, couldSeeSecretKey },
    },
    ...gone,
    ...(keys === null ? [] : [{ projectId, actor, action: "keys.regenerated" } as const]),
  ]);
  return { couldSeeSecretKey, keys };
}

/**
 * Transfers the ownership from the caller to another member.
 * @throws AppError MEMBER_NOT_FOUND, CONFLICT, FORBIDDEN
 */
export async function transferOwnership(
  tx: Tx,
  { projectId, userId, actor, ownerId }: OfMember & { ownerId: string },
): Promise<MemberView[]> {
  const { member, members } = await readMemberToChange(tx, projectId, userId);
  // Read again under the lock, because a concurrent transfer may have come first.
  const owner = members.find((one) => one.userId === ownerId && one.role === "OWNER");
  if (owner === undefined) throw new AppError("FORBIDDEN", { message: "You are no longer an owner." });
  if (member.role === "OWNER")
    throw new AppError("CONFLICT", withValues("{email} is already an owner.", { email: member.email }));
  await updateMemberRole(tx, projectId, member.userId, "OWNER");
  await updateMemberRole(tx, projectId, owner.userId, "ADMIN");
  await sendNotice(tx, { projectId, notice: "ownershipTransferred", actor, owner: member.email });
  await recordAudit(tx, [
    {
      projectId,
      actor,
      action: "ownership.transferred",
      target: targetOf(member),
      details: { from: owner.email, to: member.email },
    },
  ]);
  return listMembers(tx, projectId);
}

/** Returns the names of the projects that a person is the only owner of. */
export async function onlyOwnedBy(tx: Tx, userId: string): Promise<string[]> {
  return listOnlyOwned(tx, userId);
}

/** Moves an account's memberships to another account, for the instance admin. */
export async function giveMemberships(tx: Tx, fromId: string, toId: string): Promise<void> {
  await moveMemberships(tx, fromId, toId);
}

function requireAnotherOwner(members: readonly MemberView[], owner: MemberView): void {
  const isLast = !members.some(({ role, userId }) => role === "OWNER" && userId !== owner.userId);
  if (isLast)
    throw new AppError("CONFLICT", {
      message: "A project needs an owner. Make someone else an owner or transfer the ownership first.",
    });
}

function targetOf({ userId, email }: MemberView) {
  return { id: userId, name: email };
}
