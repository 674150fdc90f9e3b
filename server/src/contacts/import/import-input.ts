// The input of an import job: file layout, column mapping, and the caller's options.
import type { MappedColumn } from "@postloft/contract/contact-file/mapping.ts";
import type { DecimalSign } from "@postloft/contract/contact-file/read-value.ts";
import type { ImportWarning } from "@postloft/contract/contact-file/warnings.ts";

/** Options set by the caller. */
export interface ImportOptions {
  dryRun: boolean;
  /** The id of a user, or `key`. */
  actor: string;
  decimal: DecimalSign;
  /** Whether a row may resubscribe a contact that unsubscribed. */
  resubscribe: boolean;
  /** The static segment that the contacts join, or null. */
  segmentId: string | null;
}

export const PLAIN_IMPORT: Omit<ImportOptions, "dryRun" | "actor"> = {
  decimal: "point",
  resubscribe: false,
  segmentId: null,
};

/** Stored with the job. The rows below the header are stored separately, as UTF-8. */
export interface ImportInput extends ImportOptions {
  separator: string;
  columns: MappedColumn[];
  /** The row number of the first stored row. */
  firstRow: number;
  sizeBytes: number;
  /** Whether the changes are recorded, so that the import can be undone. */
  isRecorded?: boolean;
  /** Warnings known before the first row is read. */
  warnings: ImportWarning[];
}

/** A column in the job format of an earlier version, without the first column, which was the address. */
type LegacyColumn =
  | { kind: "subscribed" }
  | { kind: "data"; key: string }
  | { kind: "ignored"; name: string };

/** Reads the input of a job, including jobs queued by an earlier version before an upgrade. */
export function readInput(stored: unknown): ImportInput {
  const input = stored as ImportInput | (Omit<ImportInput, "columns"> & { columns: LegacyColumn[] });
  if ("warnings" in input) return input as ImportInput;
  const former = input as Omit<ImportInput, "columns"> & { columns: LegacyColumn[] };
  const email: MappedColumn = { ...NO_DETAILS, position: 1, name: "email", target: "email" };
  const columns = former.columns.map((column, at) => legacyColumn(column, at + 2));
  return { ...PLAIN_IMPORT, ...former, columns: [email, ...columns], warnings: [] };
}

const NO_DETAILS = { field: null, type: "auto", dateFormat: null, values: null, why: "name" } as const;

function legacyColumn(column: LegacyColumn, position: number): MappedColumn {
  if (column.kind === "data")
    return { ...NO_DETAILS, position, name: column.key, target: "field", field: column.key };
  if (column.kind === "ignored") return { ...NO_DETAILS, position, name: column.name, target: "ignore" };
  return { ...NO_DETAILS, position, name: "subscribed", target: "status" };
}
