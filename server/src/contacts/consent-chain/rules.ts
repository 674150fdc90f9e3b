// Hashes the consent log. Each row gets a digest, and each checkpoint hashes the digests of its rows with the previous checkpoint. Pure.
import { createHash } from "node:crypto";

/** A row of the consent log in its hashed form. */
export interface HashedChange {
  kind: "change";
  projectId: string;
  position: number;
  contactId: string;
  id: string;
  subscribed: boolean;
  source: string;
  actor: string | null;
  ip: string | null;
  emailId: string | null;
  /** With microseconds, in UTC. */
  at: string;
}

/** Records that rows were deleted together with their contacts. */
export interface HashedErasure {
  kind: "erasure";
  projectId: string;
  position: number;
  positions: number[];
  at: string;
}

export type HashedEntry = HashedChange | HashedErasure;

export const DIGEST_BYTES = 32;
/** The previous hash of a project's first checkpoint. */
export const FIRST_HASH: Buffer = Buffer.alloc(DIGEST_BYTES);

/** Returns the digest of a row. The ids are random, so the digest alone does not reveal the row's content. */
export function digestOf(entry: HashedEntry): Buffer {
  const { kind, projectId, position, at } = entry;
  const said =
    entry.kind === "change"
      ? [entry.contactId, entry.id, entry.subscribed, entry.source, entry.actor, entry.ip, ...emailOf(entry)]
      : [entry.positions];
  return createHash("sha256")
    .update(JSON.stringify([kind, projectId, position, at, ...said]))
    .digest();
}

/** Rows without an email id keep the digests they had before the log stored email ids. */
function emailOf({ emailId }: HashedChange): string[] {
  return emailId === null ? [] : [emailId];
}

export interface CheckpointedRows {
  projectId: string;
  number: number;
  at: Date;
  completeTo: Date | null;
  positions: number[];
  digests: Buffer;
}

export function hashCheckpoint(previous: Buffer, checkpoint: CheckpointedRows): Buffer {
  const line = JSON.stringify([
    checkpoint.projectId,
    checkpoint.number,
    checkpoint.at.toISOString(),
    checkpoint.completeTo?.toISOString() ?? null,
    checkpoint.positions,
  ]);
  return createHash("sha256").update(previous).update(line).update(checkpoint.digests).digest();
}
