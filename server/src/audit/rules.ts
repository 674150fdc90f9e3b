// Hashes an audit entry as one line of JSON together with the hash of the previous entry. Pure.
import { sha256 } from "../platform/crypto.ts";

/** The hashed fields of an entry. */
export interface HashedEntry {
  projectId: string;
  id: string;
  number: number;
  at: Date;
  actorKind: string;
  actorId: string | null;
  actorEmail: string | null;
  ip: string | null;
  action: string;
  targetId: string | null;
  targetName: string | null;
  details: unknown;
}

/** The previous hash of a project's first entry. */
export const FIRST_HASH: Buffer = Buffer.alloc(32);

/** Returns 32 bytes. */
export function hashEntry(previous: Buffer, entry: HashedEntry): Buffer {
  const line = JSON.stringify([
    entry.projectId,
    entry.id,
    entry.number,
    entry.at.toISOString(),
    entry.actorKind,
    entry.actorId,
    entry.actorEmail,
    entry.ip,
    entry.action,
    entry.targetId,
    entry.targetName,
    inOrder(entry.details),
  ]);
  return sha256(`${previous.toString("hex")} ${line}`);
}

/** Sorts the keys of objects, because `jsonb` does not keep their written order. */
function inOrder(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(inOrder);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .toSorted(([one], [other]) => (one < other ? -1 : 1))
      .map(([key, item]) => [key, inOrder(item)]),
  );
}
