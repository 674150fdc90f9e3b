// Append-only audit log of projects with actor, time and IP address. Each entry commits together with its change.
import type * as contract from "@postloft/contract/audit.ts";
import type { ActorKind, AuditAction } from "@postloft/contract/audit.ts";
import type { z } from "zod";
import { now } from "../platform/clock.ts";
import type { Database, Tx } from "../platform/database/database.ts";
import { newId, NO_ID } from "../platform/ids.ts";
import { toPage, type Page, type PageRequest } from "../platform/http/page.ts";
import {
  countEntries,
  findAddresses,
  findHead,
  insertEntries,
  listChain,
  listEntryRows,
  listLoggedProjects,
  lockHeads,
  updateHeads,
  type AuditFilter,
  type EntryRow,
} from "./queries.ts";
import { FIRST_HASH, hashEntry } from "./rules.ts";

/** The actor of a change. */
export interface Actor {
  kind: ActorKind;
  userId: string | null;
  /** The IP address of the request. */
  ip: string | null;
}

/** The actor of automatic changes by the service. */
export const SERVICE: Actor = { kind: "service", userId: null, ip: null };

/** Returns the actor of a call, a user or a secret key. */
export function actorOf({ userId, ip }: { userId: string | null; ip: string | undefined }): Actor {
  return { kind: userId === null ? "key" : "person", userId, ip: ip ?? null };
}

export interface AuditEntry {
  projectId: string;
  actor: Actor;
  action: AuditAction;
  /** The changed object, if it is not the project itself. */
  target?: { id: string; name: string | null };
  /** The changes as JSON. Must not contain secrets. */
  details?: Readonly<Record<string, unknown>>;
}

/**
 * Adds entries to the logs of their projects, in the transaction of the change. Locks the head of each log until the commit, so call it
 * after all other locks of the transaction.
 */
export async function recordAudit(tx: Tx, entries: readonly AuditEntry[]): Promise<void> {
  if (entries.length === 0) return;
  const projectIds = [...new Set(entries.map(({ projectId }) => projectId))];
  const heads = new Map((await lockHeads(tx, projectIds, FIRST_HASH)).map((head) => [head.projectId, head]));
  const addresses = await readAddresses(tx, entries);
  // Set under the lock, so that times follow the order of the entries.
  const at = now();
  const rows = entries.map((entry) => {
    const head = heads.get(entry.projectId) ?? { projectId: entry.projectId, number: 0, hash: FIRST_HASH };
    const row = rowOf(entry, head.number + 1, at, addresses);
    const hash = hashEntry(head.hash, row);
    heads.set(entry.projectId, { projectId: entry.projectId, number: row.number, hash });
    return { ...row, hash };
  });
  await insertEntries(tx, rows);
  await updateHeads(tx, [...heads.values()]);
}

async function readAddresses(tx: Tx, entries: readonly AuditEntry[]): Promise<Map<string, string>> {
  const userIds = new Set(entries.flatMap(({ actor }) => actor.userId ?? []));
  const rows = userIds.size === 0 ? [] : await findAddresses(tx, [...userIds]);
  return new Map(rows.map(({ id, email }) => [id, email]));
}

function rowOf(
  { projectId, actor, action, target, details = {} }: AuditEntry,
  number: number,
  at: Date,
  addresses: ReadonlyMap<string, string>,
): Omit<EntryRow, "hash"> {
  return {
    projectId,
    id: newId(),
    number,
    at,
    actorKind: actor.kind,
    actorId: actor.userId,
    actorEmail: addresses.get(actor.userId ?? "") ?? null,
    ip: actor.ip,
    action,
    targetId: target?.id ?? null,
    targetName: target?.name ?? null,
    details,
  };
}

export type AuditEntryView = z.output<typeof contract.auditEntry>;

/** Returns the entries of a project, newest first. */
export async function listAuditLog(
  database: Database,
  projectId: string,
  filter: AuditFilter,
  request: PageRequest,
): Promise<Page<AuditEntryView> & { total: number }> {
  const rows = await listEntryRows(database, projectId, filter, request);
  const page = toPage("audit", request, rows, (row) => ({
    id: row.id,
    number: row.number,
    at: row.at.toISOString(),
    actor: { kind: row.actorKind as ActorKind, userId: row.actorId, email: row.actorEmail, ip: row.ip },
    action: row.action as AuditAction,
    target: row.targetId === null ? null : { id: row.targetId, name: row.targetName },
    details: row.details as Record<string, unknown>,
    hash: row.hash.toString("hex"),
  }));
  return { ...page, total: request.before === null ? await countEntries(database, projectId, filter) : 0 };
}

const VERIFIED_AT_ONCE = 500;

export interface ChainFault {
  projectId: string;
  /** The first missing or changed entry. */
  number: number;
  what: "missing" | "changed";
}

/** Verifies the chain of a project from its first entry. Returns the first fault, or null. */
export async function verifyAuditLog(database: Database, projectId: string): Promise<ChainFault | null> {
  const head = await findHead(database, projectId);
  let number = 0;
  let hash = FIRST_HASH;
  for (;;) {
    const rows = await listChain(database, projectId, number, VERIFIED_AT_ONCE);
    for (const row of rows) {
      if (row.number !== number + 1) return { projectId, number: number + 1, what: "missing" };
      hash = hashEntry(hash, row);
      if (!hash.equals(row.hash)) return { projectId, number: row.number, what: "changed" };
      number = row.number;
    }
    if (rows.length < VERIFIED_AT_ONCE) break;
  }
  // Entries added after the head was read are not faults.
  if (head !== undefined && number < head.number) return { projectId, number: number + 1, what: "missing" };
  return head !== undefined && number === head.number && !hash.equals(head.hash)
    ? { projectId, number, what: "changed" }
    : null;
}

/** Verifies the chains of all projects, including deleted ones, and returns the first fault of each broken chain. */
export async function verifyAuditLogs(database: Database): Promise<ChainFault[]> {
  const faults: ChainFault[] = [];
  for (let last = NO_ID; ;) {
    const projectIds = await listLoggedProjects(database, last, VERIFIED_AT_ONCE);
    for (const projectId of projectIds)
      faults.push(...[await verifyAuditLog(database, projectId)].flatMap((fault) => fault ?? []));
    const end = projectIds.at(-1);
    if (end === undefined || projectIds.length < VERIFIED_AT_ONCE) return faults;
    last = end;
  }
}
