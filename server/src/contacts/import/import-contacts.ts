// The job `contacts.import`: what the rows of a file mean for contacts.
import { noteContacts } from "../../reactions/reactions.ts";
import { contactFault } from "../contacts.ts";
import { findEmails } from "../queries.ts";
import { stepOfImport } from "./import-step.ts";
import { upsertRecorded } from "./record-changes.ts";
import { readRow, type RowChange } from "./rules.ts";

export const IMPORT_KIND = "contacts.import";

export const importStep = stepOfImport<RowChange>({
  readRow,
  async apply(tx, job, changes) {
    const { projectId, actor } = job;
    const via = { source: "import" as const, actor, ip: null };
    const outcomes = await upsertRecorded(
      tx,
      job,
      changes.map((change) => ({ projectId, ...change, subscribedIfNew: true, resubscribes: false, via })),
    );
    const ids = new Set(outcomes.flatMap(({ contactId, isChanged }) => (isChanged ? [contactId] : [])));
    await noteContacts(
      tx,
      [...ids].map((contactId) => ({ projectId, contactId })),
    );
    return outcomes.filter(({ isNew }) => isNew).length;
  },
  findKnown: findEmails,
  explain: (error) => contactFault(error) ?? undefined,
});
