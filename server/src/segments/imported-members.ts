// Counts and removes members that contact imports added to static segments, for the undo of an import.
import type { Tx } from "../platform/database/database.ts";
import { enqueueContactEvents } from "../reactions/reactions.ts";
import type { ImportedMembers } from "../contacts/import/undo-import.ts";
import { countImportedMembers, deleteImportedMembers } from "./member-queries.ts";
import { findSegmentForUpdate } from "./queries.ts";

/** Provided to contacts/, which comes before this folder in the reading order. */
export const importedMembers: ImportedMembers = {
  count: (database, { projectId, id }) => countImportedMembers(database, projectId, id),
  async remove(tx, { projectId, id }, { number, segmentId }) {
    // Locks the segment first, because its count changes with its members.
    if ((await findSegmentForUpdate(tx, projectId, segmentId)) === undefined) return 0;
    const gone = await deleteImportedMembers(tx, projectId, segmentId, { jobId: id, number });
    await note(tx, projectId, gone);
    return gone.length;
  },
};

async function note(tx: Tx, projectId: string, contactIds: readonly string[]): Promise<void> {
  await enqueueContactEvents(
    tx,
    contactIds.map((contactId) => ({ projectId, contactId })),
  );
}
