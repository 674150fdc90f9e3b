// The hash of an entry: over the entry as one line of JSON and the hash of the one before. Pure.
import { sha256 } from "../platform/crypto.ts";

/** What is hashed of an entry. */
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

/** The hash that the first entry of a project follows. */
export const FIRST_HASH: Buffer = Buffer.alloc(32);

/** 32 bytes. */
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

/** With the keys of objects in one order: `jsonb` keeps another than they were written in. */
function inOrder(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(inOrder);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .toSorted(([one], [other]) => (one < other ? -1 : 1))
      .map(([key, item]) => [key, inOrder(item)]),
  );
}
