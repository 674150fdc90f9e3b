// Manages scoped keys, which give access to a part of a project's API and are stored as a hash (docs/decisions/0046-scoped-keys.md).
import { LIMITS } from "@postloft/contract/limits/limits.ts";
import { reaches, type Role } from "@postloft/contract/roles.ts";
import { withValues } from "@postloft/contract/translation.ts";
import { randomText, sha256 } from "../../platform/crypto.ts";
import { nowMs } from "../../platform/clock.ts";
import type { Database, Tx } from "../../platform/database/database.ts";
import { isId, newId } from "../../platform/ids.ts";
import { invalidField, AppError } from "../../platform/app-error.ts";
import { recordAudit, type Actor, type AuditEntry } from "../../audit/audit-log.ts";
import { findMembershipRow, lockProject } from "../queries.ts";
import { SCOPED_PREFIX } from "./find-scoped-keys.ts";
import {
  countKeyRows,
  deleteKeyRow,
  deleteKeyRowsBy,
  insertKeyRow,
  listKeyRows,
  lowerKeyRowsBy,
  type ScopedKeyRow,
} from "./queries.ts";

const SECRET_LENGTH = 48;

type KeyRole = "ADMIN" | "MEMBER";

/** The member who acts. */
interface ByMember {
  projectId: string;
  userId: string;
  actor: Actor;
}

const isAdmin = (role: Role) => reaches(role, "ADMIN");

function present(row: ScopedKeyRow) {
  return {
    id: row.id,
    name: row.name,
    role: row.role as KeyRole,
    scopes: row.scopes,
    networks: row.networks,
    expiresAt: row.expiresAt?.toISOString() ?? null,
    lastUsedAt: row.lastUsedAt?.toISOString() ?? null,
    createdBy: row.createdBy,
    createdAt: row.createdAt.toISOString(),
  };
}

/** Returns the keys that a member may see, newest first: an admin sees all, another member only their own. */
export async function listKeys(
  database: Database,
  { projectId, userId, role }: { projectId: string; userId: string; role: Role },
) {
  return (await listKeyRows(database, projectId, isAdmin(role) ? null : userId)).map(present);
}

/**
 * Returns a person's role. The caller holds the project's lock.
 * @throws AppError PROJECT_NOT_FOUND for a former member
 */
async function readRole(tx: Tx, userId: string, projectId: string): Promise<Role> {
  const membership = await findMembershipRow(tx, userId, projectId);
  if (membership === undefined) throw new AppError("PROJECT_NOT_FOUND");
  return membership.role as Role;
}

/**
 * Creates a key with the role of its creator. `key` is never shown again.
 *
 * @throws AppError VALIDATION_ERROR for an end in the past, CONFLICT over the limit, PROJECT_NOT_FOUND for a former member
 */
export async function createKey(
  tx: Tx,
  { projectId, userId, actor }: ByMember,
  input: { name: string; scopes: readonly string[]; networks: readonly string[]; expiresAt: string | null },
) {
  const expiresAt = input.expiresAt === null ? null : new Date(input.expiresAt);
  if (expiresAt !== null && expiresAt.getTime() <= nowMs())
    throw invalidField("expiresAt", "too_small", "Must be in the future.");
  if ((await countKeyRows(tx, projectId)) >= LIMITS.scopedKeys.value)
    throw new AppError(
      "CONFLICT",
      withValues("A project can have up to {most} scoped keys. Revoke one first.", {
        most: LIMITS.scopedKeys.value,
      }),
    );
  const role = isAdmin(await readRole(tx, userId, projectId)) ? "ADMIN" : "MEMBER";
  const key = `${SCOPED_PREFIX}${randomText(SECRET_LENGTH)}`;
  const row = await insertKeyRow(tx, {
    projectId,
    id: newId(),
    hash: sha256(key),
    name: input.name,
    role,
    scopes: [...new Set(input.scopes)],
    networks: [...new Set(input.networks)],
    expiresAt,
    createdBy: userId,
  });
  const { name, scopes } = row;
  const entry = { projectId, actor, action: "key.created" as const, target: { id: row.id, name } };
  await recordAudit(tx, [{ ...entry, details: { scopes } }]);
  return { ...present(row), key };
}

/**
 * Revokes a key, which is invalid in every process with the commit.
 *
 * @throws AppError KEY_NOT_FOUND, also for another project's key and for another creator's if the caller is a MEMBER; PROJECT_NOT_FOUND for
 * a former member
 */
export async function revokeKey(tx: Tx, { projectId, userId, actor }: ByMember, id: string): Promise<void> {
  await lockProject(tx, projectId);
  const createdBy = isAdmin(await readRole(tx, userId, projectId)) ? null : userId;
  const name = isId(id) ? await deleteKeyRow(tx, { projectId, id, createdBy }) : undefined;
  if (name === undefined) throw new AppError("KEY_NOT_FOUND");
  await recordAudit(tx, [{ projectId, actor, action: "key.revoked", target: { id, name } }]);
}

/** Revokes the keys that a person created, because only they have seen them. Returns the audit entries to record. */
export async function revokeKeysOf(tx: Tx, { projectId, userId, actor }: ByMember): Promise<AuditEntry[]> {
  const rows = await deleteKeyRowsBy(tx, projectId, userId);
  return rows.map((target) => ({ projectId, actor, action: "key.revoked", target }));
}

/** Limits a person's keys to the role MEMBER. Call it in the transaction that takes the role ADMIN from them. */
export async function shrinkKeysOf(tx: Tx, projectId: string, userId: string): Promise<void> {
  await lowerKeyRowsBy(tx, projectId, userId);
}
