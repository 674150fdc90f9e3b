// The job `suppressions.import`: what the rows of a file mean for the suppression list.
// Before it: contacts/import/import-step.ts reads the rows. After it: suppressions.ts lists the addresses.
import { parseAddress } from "@postloft/contract/address.ts";
import { readTextCell } from "@postloft/contract/cell.ts";
import { stepOfImport } from "../contacts/import/import-step.ts";
import { addSuppressions, findSuppressed } from "./suppressions.ts";

export const SUPPRESSION_IMPORT = "suppressions.import";

export const suppressionImportStep = stepOfImport<{ email: string }>({
  readRow(_columns, cells) {
    const address = parseAddress(readTextCell(cells[0] ?? ""));
    return address.ok ? { email: address.address } : address.fault;
  },
  apply: (tx, { projectId, actor }, changes) =>
    addSuppressions(
      tx,
      changes.map(({ email }) => ({ projectId, email, reason: "IMPORT", emailId: null, actor })),
    ),
  async findKnown(tx, projectId, emails) {
    const found = await findSuppressed(
      tx,
      emails.map((email) => ({ projectId, email })),
    );
    return new Set(emails.filter((email) => found.has(`${projectId} ${email}`)));
  },
  explain: () => undefined,
});
