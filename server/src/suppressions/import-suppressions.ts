// The job `suppressions.import`, which adds the addresses of a file to the suppression list.
import { cleanAddress } from "@postloft/contract/contact-file/clean-address.ts";
import { stepOfImport } from "../contacts/import/import-step.ts";
import { addSuppressions } from "./suppressions.ts";

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
  rehearsal: null,
  explain: () => undefined,
});
