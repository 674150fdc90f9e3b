// Counts of an import so far, and the result built from them.
import type { ImportResult } from "@postloft/contract/contact-import.ts";
import { cleanAddress } from "@postloft/contract/contact-file/clean-address.ts";
import type { ImportStatus } from "@postloft/contract/contact-file/mapping.ts";
import type { PersonNote } from "@postloft/contract/contact-file/read-person.ts";
import { warnOf, type ImportWarning } from "@postloft/contract/contact-file/warnings.ts";
import { LIMITS } from "@postloft/contract/limits/limits.ts";
import type { JobError } from "../../platform/background/jobs.ts";
import type { ImportInput } from "./import-input.ts";

/** Number of notes of one kind about one column, with the first row. Contradictions involve several columns and use position 0. */
export interface Tally {
  code: PersonNote["code"];
  position: number;
  count: number;
  row: number;
}

export interface ImportCounts {
  created: number;
  updated: number;
  failed: number;
  subscribed: number;
  unsubscribed: number;
  suppressed: number;
  skipped: number;
  keptUnsubscribed: number;
  segmentAdded: number;
  /** Contacts not added because the segment was deleted. */
  segmentMissed: number;
  noteCount: number;
  notes: NonNullable<ImportResult["notes"]>;
  tallies: Tally[];
}

export const NO_COUNTS: ImportCounts = {
  created: 0,
  updated: 0,
  failed: 0,
  subscribed: 0,
  unsubscribed: 0,
  suppressed: 0,
  skipped: 0,
  keptUnsubscribed: 0,
  segmentAdded: 0,
  segmentMissed: 0,
  noteCount: 0,
  notes: [],
  tallies: [],
};

/** Adds the counts of one part of the file. */
export function addCounts(before: ImportCounts, more: Partial<ImportCounts>): ImportCounts {
  const sum = { ...before };
  for (const [key, value] of Object.entries(more))
    if (typeof value === "number") sum[key as "created"] = before[key as "created"] + value;
  sum.notes = [...before.notes, ...(more.notes ?? [])].slice(0, LIMITS.importNotes.value);
  sum.tallies = mergeTallies(before.tallies, more.tallies ?? []);
  return sum;
}

function mergeTallies(before: readonly Tally[], more: readonly Tally[]): Tally[] {
  const merged = before.map((tally) => ({ ...tally }));
  for (const tally of more) {
    const same = merged.find(({ code, position }) => code === tally.code && position === tally.position);
    if (same === undefined) merged.push({ ...tally });
    else same.count += tally.count;
  }
  return merged;
}

/** Counts the status of an imported row. A row without a status counts as subscribed. */
export function countStatus(counts: ImportCounts, status: ImportStatus | undefined): void {
  if (status === "unsubscribed") counts.unsubscribed++;
  else if (status === "suppressed") counts.suppressed++;
  else counts.subscribed++;
}

const SHOWN_CHARS = 254;

/** Records the notes about a row. Cleaned addresses are listed, and all other notes are counted per column. */
export function keepNotes(
  counts: ImportCounts,
  input: ImportInput,
  row: number,
  notes: readonly PersonNote[],
): void {
  for (const { code, position, cell } of notes) {
    if (code === "address.cleaned") {
      counts.noteCount++;
      if (counts.notes.length >= LIMITS.importNotes.value) continue;
      const cleaned = cleanAddress(cell);
      const column = input.columns[position - 1]?.name ?? "";
      const value = "email" in cleaned ? cleaned.email : "";
      counts.notes.push({ row, column, code, cell: cell.slice(0, SHOWN_CHARS), value });
      continue;
    }
    const at = code === "status.contradiction" ? 0 : position;
    const tally = counts.tallies.find((one) => one.code === code && one.position === at);
    if (tally === undefined) counts.tallies.push({ code, position: at, count: 1, row });
    else tally.count++;
  }
}

function warningsOf(input: ImportInput, counts: ImportCounts): ImportWarning[] {
  const tallied = counts.tallies.flatMap(({ code, position, count, row }) => {
    if (code === "status.contradiction") return [warnOf(code, { count, row })];
    const column = input.columns[position - 1];
    return column === undefined ? [] : [warnOf("value.other", { count, row, type: column.type }, column)];
  });
  const missed = counts.segmentMissed;
  return [
    ...input.warnings,
    ...tallied,
    ...(missed === 0 ? [] : [warnOf("segment.gone", { count: missed })]),
  ];
}

/** Returns the result of an import. `errors` are the first ones. */
export function resultOf(
  input: ImportInput,
  counts: ImportCounts,
  errors: readonly JobError[],
): ImportResult {
  const { created, updated, failed, skipped } = counts;
  return {
    totalRows: created + updated + failed + skipped,
    successCount: created + updated,
    createdCount: created,
    updatedCount: updated,
    failureCount: failed,
    subscribedCount: counts.subscribed,
    unsubscribedCount: counts.unsubscribed,
    suppressedCount: counts.suppressed,
    skippedCount: skipped,
    keptUnsubscribedCount: counts.keptUnsubscribed,
    segmentAddedCount: counts.segmentAdded,
    errors: errors.map(({ row, subject, error, parts }) => ({
      row,
      email: subject,
      error,
      ...(parts === null
        ? {}
        : { errorParts: parts as NonNullable<ImportResult["errors"][number]["errorParts"]> }),
    })),
    ignoredColumns: input.columns.flatMap(({ target, name }) => (target === "ignore" ? [name] : [])),
    mapping: input.columns,
    warnings: warningsOf(input, counts),
    noteCount: counts.noteCount,
    notes: counts.notes,
    dryRun: input.dryRun,
  };
}
