// What is hashed of the consent log: each row to a digest, the digests of some rows and the seal before to a seal. Pure.
import { createHash } from "node:crypto";

/** A row of the consent log as it is hashed. */
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

/** That rows went with their contacts. */
export interface HashedErasure {
  kind: "erasure";
  projectId: string;
  position: number;
  positions: number[];
  at: string;
}

export type HashedEntry = HashedChange | HashedErasure;

export const DIGEST_BYTES = 32;
/** The hash that the first seal of a project follows. */
export const FIRST_HASH: Buffer = Buffer.alloc(DIGEST_BYTES);

/** Of what a row says. Its ids are random, so nobody who has the digest alone finds out what it was made of. */
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

/** Rows from before the log named emails have the digests they had. */
function emailOf({ emailId }: HashedChange): string[] {
  return emailId === null ? [] : [emailId];
}

export interface SealedRows {
  projectId: string;
  number: number;
  at: Date;
  completeTo: Date | null;
  positions: number[];
  digests: Buffer;
}

export function hashSeal(previous: Buffer, seal: SealedRows): Buffer {
  const line = JSON.stringify([
    seal.projectId,
    seal.number,
    seal.at.toISOString(),
    seal.completeTo?.toISOString() ?? null,
    seal.positions,
  ]);
  return createHash("sha256").update(previous).update(line).update(seal.digests).digest();
}
