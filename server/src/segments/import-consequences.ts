// Provides the suppression list and static segments to contact imports.
import type { Database, Tx } from "../platform/database/database.ts";
import { isId } from "../platform/ids.ts";
import { AppError } from "../platform/app-error.ts";
import { enqueueContactEvents } from "../reactions/reactions.ts";
import type { ImportConsequences } from "../contacts/import/import-contacts.ts";
import { addSuppressions } from "../suppressions/suppressions.ts";
import { insertMembers, listMembersAmong } from "./member-queries.ts";
import { findSegment, findSegmentForUpdate } from "./queries.ts";

/** @throws AppError SEGMENT_NOT_FOUND */
export async function isStaticSegment(database: Database, projectId: string, id: string): Promise<boolean> {
  const row = isId(id) ? await findSegment(database, projectId, id) : undefined;
  if (row === undefined) throw new AppError("SEGMENT_NOT_FOUND");
  return row.type === "STATIC";
}

export const importConsequences: ImportConsequences = {
  async suppress(tx: Tx, projectId, emails, actor) {
    await addSuppressions(
      tx,
      emails.map((email) => ({ projectId, email, reason: "IMPORT", emailId: null, actor })),
    );
  },
  async lockSegment(tx, projectId, segmentId) {
    return (await findSegmentForUpdate(tx, projectId, segmentId))?.type === "STATIC";
  },
  async addToSegment(tx, projectId, segmentId, emails) {
    const added = await insertMembers(tx, projectId, segmentId, emails);
    await enqueueContactEvents(
      tx,
      added.map((contactId) => ({ projectId, contactId })),
    );
    return added;
  },
  findMembers: listMembersAmong,
};
