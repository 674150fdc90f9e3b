// Secret keys that open a part of the API of a project: made once in clear, kept as a hash (docs/decisions/0046-scoped-keys.md).
// Before it: routes.ts. After it: find-scoped-keys.ts finds them at each request.
import { createKey as createKeyEndpoint } from "@postloft/contract/keys.ts";
import { LIMITS } from "@postloft/contract/limits.ts";
import { reaches, type Role } from "@postloft/contract/roles.ts";
import { randomText, sha256 } from "../../platform/crypto.ts";
import { nowMs } from "../../platform/clock.ts";
import type { Database, Tx } from "../../platform/database.ts";
import { isId, newId } from "../../platform/ids.ts";
import { invalidField, Refusal } from "../../platform/refusal.ts";
import { recordAudit, type Actor, type AuditEntry } from "../../audit/audit-log.ts";
import { findMembershipRow } from "../queries.ts";
import { SCOPED_PREFIX } from "./find-scoped-keys.ts";
import {
  countKeyRows,
  deleteKeyRow,
  deleteKeyRowsBy,
  insertKeyRow,
  listKeyRows,
  type ScopedKeyRow,
} from "./queries.ts";

const SECRET_LENGTH = 48;

function present(row: ScopedKeyRow) {
  return {
    id: row.id,
    name: row.name,
    scopes: row.scopes,
    networks: row.networks,
    expiresAt: row.expiresAt?.toISOString() ?? null,
    lastUsedAt: row.lastUsedAt?.toISOString() ?? null,
    createdBy: row.createdBy,
    createdAt: row.createdAt.toISOString(),
  };
}

/** The keys of a project, newest first; never more than the limit of a project. */
export async function listKeys(database: Database, projectId: string) {
  return (await listKeyRows(database, projectId)).map(present);
}

/**
 * Makes a key; `key` is never seen again.
 *
 * @throws Refusal VALIDATION_ERROR for an end that has passed, CONFLICT when the project has as many as it may,
 * PROJECT_NOT_FOUND for who is no member any more, FORBIDDEN for who is an admin no longer.
 */
export async function createKey(
  tx: Tx,
  { projectId, userId, actor }: { projectId: string; userId: string; actor: Actor },
  given: { name: string; scopes: readonly string[]; networks: readonly string[]; expiresAt: string | null },
) {
  const expiresAt = given.expiresAt === null ? null : new Date(given.expiresAt);
  if (expiresAt !== null && expiresAt.getTime() <= nowMs())
    throw invalidField("expiresAt", "too_small", "Must be in the future.");
  if ((await countKeyRows(tx, projectId)) >= LIMITS.scopedKeys.value)
    throw new Refusal("CONFLICT", {
      message: `A project has at most ${LIMITS.scopedKeys.value} scoped keys: revoke one first.`,
    });
  // Under the lock: whoever has been removed meanwhile, or is an admin no longer, leaves no key behind.
  const membership = await findMembershipRow(tx, userId, projectId);
  if (membership === undefined) throw new Refusal("PROJECT_NOT_FOUND");
  if (!reaches(membership.role as Role, createKeyEndpoint.leastRole)) throw new Refusal("FORBIDDEN");
  const key = `${SCOPED_PREFIX}${randomText(SECRET_LENGTH)}`;
  const row = await insertKeyRow(tx, {
    projectId,
    id: newId(),
    hash: sha256(key),
    name: given.name,
    scopes: [...new Set(given.scopes)],
    networks: [...new Set(given.networks)],
    expiresAt,
    createdBy: userId,
  });
  const { name, scopes } = row;
  const entry = { projectId, actor, action: "key.created" as const, target: { id: row.id, name } };
  await recordAudit(tx, [{ ...entry, details: { scopes } }]);
  return { ...present(row), key };
}

/** With the commit the key is dead on every process. @throws Refusal KEY_NOT_FOUND, the same for a key of another project. */
export async function revokeKey(tx: Tx, projectId: string, id: string, actor: Actor): Promise<void> {
  const name = isId(id) ? await deleteKeyRow(tx, projectId, id) : undefined;
  if (name === undefined) throw new Refusal("KEY_NOT_FOUND");
  await recordAudit(tx, [{ projectId, actor, action: "key.revoked", target: { id, name } }]);
}

/** All that a person made: nobody else was shown them. @returns what is to be recorded */
export async function revokeKeysOf(
  tx: Tx,
  { projectId, userId, actor }: { projectId: string; userId: string; actor: Actor },
): Promise<AuditEntry[]> {
  const rows = await deleteKeyRowsBy(tx, projectId, userId);
  return rows.map((target) => ({ projectId, actor, action: "key.revoked", target }));
}
