// The job `suppressions.import`, which adds the addresses of a file to the suppression list.
import { cleanAddress } from "@postloft/contract/contact-file/clean-address.ts";
import { stepOfImport } from "../contacts/import/import-step.ts";
import { addSuppressions, findSuppressed } from "./suppressions.ts";

export const SUPPRESSION_IMPORT = "suppressions.import";

export const suppressionImportStep = stepOfImport<{ email: string; status: "suppressed" }>({
  createReader({ columns }) {
    const emailAt = columns.findIndex(({ target }) => target === "email");
    return (cells) => {
      const address = cleanAddress(cells[emailAt] ?? "");
      return "code" in address ? address : { email: address.email, status: "suppressed" };
    };
  },
  async apply(tx, { projectId, input: { actor } }, changes) {
    const created = await addSuppressions(
      tx,
      changes.map(({ email }) => ({ projectId, email, reason: "IMPORT", emailId: null, actor })),
    );
    return { created };
  },
  async rehearse(tx, { projectId }, changes, known) {
    const unseen = [...new Set(changes.map(({ email }) => email))].filter((email) => !known.has(email));
    const found = await findSuppressed(
      tx,
      unseen.map((email) => ({ projectId, email })),
    );
    for (const email of unseen) known.set(email, true);
    return { created: unseen.filter((email) => !found.has(`${projectId} ${email}`)).length };
  },
  explain: () => undefined,
});
