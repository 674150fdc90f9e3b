// Counts what each row of a file becomes by the current plan, with the reader that the import uses.
import { createPersonReader, type Person } from "@postloft/contract/contact-file/read-person.ts";
import type { ImportStatus, MappedColumn } from "@postloft/contract/contact-file/mapping.ts";
import { createCsvReader, isEmptyRow } from "@postloft/contract/read-csv.ts";
import type { RowFault } from "@postloft/contract/row-faults.ts";
import { mappedColumn, type ColumnPlan, type ImportOptions, type PlannedTable } from "./import-plan.ts";
import { createYield } from "./take-turns.ts";

export interface PeopleCount {
  /** Rows by what their status column says. */
  byStatus: Record<ImportStatus, number>;
  /** Rows with an empty or missing status column. */
  withoutStatus: number;
  failed: number;
  /** The first rows that can't be imported. */
  faults: Array<{ row: number; fault: RowFault }>;
  /** Rows with contradicting status columns. */
  contradictions: number;
  /** By the position of the column, the values that have another type than their column and stay text. */
  otherValues: Map<number, number>;
}

const FAULTS_SHOWN = 3;

/**
 * Reads all rows without blocking the page.
 * @throws the reason of the signal if the plan changes
 */
export async function countPeople(
  planned: PlannedTable,
  { decimal }: Pick<ImportOptions, "decimal">,
  signal: AbortSignal,
): Promise<PeopleCount> {
  const count: PeopleCount = {
    byStatus: { subscribed: 0, unsubscribed: 0, suppressed: 0, skip: 0 },
    withoutStatus: 0,
    failed: 0,
    faults: [],
    contradictions: 0,
    otherValues: new Map(),
  };
  const turn = createYield();
  const read = createPersonReader(planned.columns.map(countedColumn), { decimal });
  for (const { row, cells, fault } of rowsOf(planned)) {
    const person = fault ?? read(cells);
    if ("code" in person) {
      count.failed++;
      if (count.faults.length < FAULTS_SHOWN) count.faults.push({ row, fault: person });
    } else add(count, person);
    await turn();
    signal.throwIfAborted();
  }
  return count;
}

/** A field without a type accepts any value, so do not count it. */
function countedColumn(column: ColumnPlan): MappedColumn {
  const mapped = mappedColumn(column);
  return mapped.target === "field" && mapped.type === "auto"
    ? { ...mapped, target: "ignore", field: null }
    : mapped;
}

function add(count: PeopleCount, { status, notes }: Person): void {
  if (status === undefined) count.withoutStatus++;
  else count.byStatus[status]++;
  for (const { code, position } of notes) {
    if (code === "status.contradiction") count.contradictions++;
    if (code !== "value.other") continue;
    count.otherValues.set(position, (count.otherValues.get(position) ?? 0) + 1);
  }
}

type TableRow =
  | { row: number; cells: readonly string[]; fault: null }
  | { row: number; cells: readonly string[]; fault: RowFault };

const NO_CELLS: readonly string[] = [];

function* rowsOf({ text, table }: PlannedTable): Generator<TableRow> {
  const reader = createCsvReader(text.slice(table.start), table.separator, true);
  for (let next = reader.next(), row = table.firstRow; next !== null; next = reader.next(), row++) {
    if (next.kind === "fault") yield { row, cells: NO_CELLS, fault: next.fault };
    else if (!isEmptyRow(next.cells)) yield { row, cells: next.cells, fault: null };
  }
}
