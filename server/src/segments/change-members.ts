// Adds and removes members of static segments by address.
import type { Database, Tx } from "../platform/database/database.ts";
import { notify } from "../platform/notify.ts";
import { isId } from "../platform/ids.ts";
import { AppError } from "../platform/app-error.ts";
import { enqueueContactEvents } from "../reactions/reactions.ts";
import type { ChangeSource } from "../contacts/consent.ts";
import { lookUpContacts } from "../contacts/contacts.ts";
import { readDataPatch } from "../contacts/rules.ts";
import { upsertContacts } from "../contacts/upsert-contacts.ts";
import { deleteMembersByEmail, insertMembers } from "./member-queries.ts";
import { findSegment, findSegmentForUpdate, type SegmentRow } from "./queries.ts";

export interface MembersToAdd {
  emails: readonly string[];
  createMissing?: boolean | undefined;
  subscribed?: boolean | undefined;
}

/** @throws AppError SEGMENT_NOT_FOUND, or CONFLICT for a dynamic segment. */
export async function addMembers(
  tx: Tx,
  projectId: string,
  id: string,
  { emails, createMissing, subscribed }: MembersToAdd,
  via: ChangeSource,
): Promise<{ added: number; created: number; notFound: string[] }> {
  const segmentId = await lockStatic(tx, projectId, id);
  const { notFound } = await lookUpContacts(tx, projectId, [...new Set(emails)]);
  const missing = createMissing === true ? notFound : [];
  await upsertContacts(
    tx,
    missing.map((email) => ({
      projectId,
      email,
      subscribedIfNew: subscribed ?? true,
      isAskedIfNew: subscribed !== undefined,
      patch: readDataPatch(undefined),
      via,
    })),
  );
  const added = await insertMembers(tx, projectId, segmentId, emails);
  await enqueueContactEvents(
    tx,
    added.map((contactId) => ({ projectId, contactId })),
  );
  notify(tx, "segments");
  return {
    added: added.length,
    created: missing.length,
    notFound: createMissing === true ? [] : notFound,
  };
}

/** @throws AppError SEGMENT_NOT_FOUND, or CONFLICT for a dynamic segment. */
export async function removeMembers(
  tx: Tx,
  projectId: string,
  id: string,
  emails: readonly string[],
): Promise<{ removed: number }> {
  const segmentId = await lockStatic(tx, projectId, id);
  const removed = await deleteMembersByEmail(tx, projectId, segmentId, emails);
  await enqueueContactEvents(
    tx,
    removed.map((contactId) => ({ projectId, contactId })),
  );
  notify(tx, "segments");
  return { removed: removed.length };
}

/**
 * Returns the id of a segment that contacts can be added to.
 * @throws AppError SEGMENT_NOT_FOUND, or CONFLICT for a dynamic segment.
 */
export async function requireStatic(database: Database, projectId: string, id: string): Promise<string> {
  return staticIdOf(isId(id) ? await findSegment(database, projectId, id) : undefined);
}

/** Locks the segment first, because its count changes with its members. */
async function lockStatic(tx: Tx, projectId: string, id: string): Promise<string> {
  return staticIdOf(isId(id) ? await findSegmentForUpdate(tx, projectId, id) : undefined);
}

function staticIdOf(row: SegmentRow | undefined): string {
  if (row === undefined) throw new AppError("SEGMENT_NOT_FOUND");
  if (row.type !== "STATIC")
    throw new AppError("CONFLICT", {
      message: "The members of a dynamic segment depend on its filters, so you can't add or remove them.",
    });
  return row.id;
}
