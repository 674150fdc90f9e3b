// The wizard's decisions about a chosen file: the target of each column and what each status becomes. Pure.
import type {
  ColumnTarget,
  DateOrder,
  FileTable,
  GivenColumn,
  ImportStatus,
  MappedColumn,
  ValueType,
} from "@postloft/contract/contact-file/mapping.ts";
import type { FieldType } from "../../segments/condition-builder/condition-tree.ts";
import type { Survey } from "./survey-table.ts";

export interface ChosenFile {
  planned: PlannedTable;
  options: ImportOptions;
  /** The jobs that previewed exactly this plan, as the URL has them. */
  trial?: string;
  /** The jobs that imported the file. */
  job?: string;
}

/** A table with its plan. The files of a ZIP are joined into one. */
export interface PlannedTable {
  name: string;
  text: string;
  /** The files of a ZIP with their rows in the joined table. */
  files: string | null;
  /** Whether the encoding is a guess. */
  isGuessed: boolean;
  table: FileTable;
  survey: Survey;
  columns: ColumnPlan[];
}

export interface ImportOptions {
  /** The static segment that imported contacts are added to, or the name of one to create. */
  segment: { id: string } | { name: string } | null;
  resubscribes: boolean;
  decimal: "point" | "comma";
}

export const NO_OPTIONS: ImportOptions = { segment: null, resubscribes: false, decimal: "point" };

export interface ColumnPlan {
  /** Counted from 1. */
  position: number;
  name: string;
  target: ColumnTarget;
  /** The key of `data`. Kept while the column has another target. */
  field: string;
  type: ValueType;
  dateFormat: DateOrder | null;
  /** The status of each word. A word without an entry is undecided. */
  values: Record<string, ImportStatus>;
  /** Whether empty cells may be left without a status. The reader gives them one if the others have one. */
  isEmptyOpen: boolean;
  /** Whether the column looks like a subscription status. */
  isStatusLike: boolean;
  /** Whether the user confirmed that it isn't one. */
  isNoStatus: boolean;
  /** Whether its dates, such as 03/02/2024, can be read in two ways. */
  isAmbiguous: boolean;
}

export interface ColumnChange extends Partial<
  Pick<ColumnPlan, "target" | "field" | "type" | "dateFormat" | "isNoStatus">
> {
  /** Words that change. Null leaves a word without a status. */
  values?: Record<string, ImportStatus | null>;
}

/** The keys that the project's contacts have, with their types. */
export type KnownFields = ReadonlyMap<string, FieldType>;

/** Returns the type of a column for a field. Digits in a text field, such as phone numbers, stay text unless the user chose a type. */
export function typeFor(field: string | null, type: ValueType, known: KnownFields): ValueType {
  return field !== null && type === "auto" && known.get(field) === "string" ? "text" : type;
}

/** Returns the change with the type for the field that the column gets, if it gets one. */
export function keepTexts(change: ColumnChange, column: ColumnPlan, known: KnownFields): ColumnChange {
  if (change.field === undefined && change.target === undefined) return change;
  const { field, target, type } = { ...column, ...change };
  const kept = target === "field" ? typeFor(field.trim(), type, known) : type;
  return kept === type ? change : { ...change, type: kept };
}

/** Returns the table with one column changed. A new email column replaces the previous one. */
export function changeColumn(planned: PlannedTable, columnAt: number, change: ColumnChange): PlannedTable {
  const columns = planned.columns.map((column, at): ColumnPlan => {
    if (at === columnAt) return { ...column, ...change, values: changedValues(column.values, change.values) };
    if (change.target === "email" && column.target === "email") return { ...column, target: "ignore" };
    return withSameOrder(column, change.dateFormat);
  });
  return { ...planned, columns };
}

/** A file uses one date order, so one choice decides all undecided columns. */
function withSameOrder(column: ColumnPlan, order: DateOrder | null | undefined): ColumnPlan {
  const isOpen = column.isAmbiguous && column.type === "date" && column.dateFormat === null;
  return isOpen && order != null ? { ...column, dateFormat: order } : column;
}

function changedValues(values: ColumnPlan["values"], change: ColumnChange["values"]): ColumnPlan["values"] {
  const entries = Object.entries({ ...values, ...change });
  return Object.fromEntries(entries.filter((entry): entry is [string, ImportStatus] => entry[1] !== null));
}

/** Returns a column's plan in the format of the shared reader. */
export function mappedColumn(column: ColumnPlan): MappedColumn {
  const { position, name, target, field, type, dateFormat, values } = column;
  const isField = target === "field";
  return {
    position,
    name,
    target,
    field: isField ? field.trim() : null,
    type: isField ? type : "auto",
    dateFormat: isField && type === "date" ? dateFormat : null,
    values: target === "status" ? values : null,
    why: "given",
  };
}

/** Returns the mapping in the API's format. Every column is named by position, so that the server guesses nothing. */
export function mappingOf({ columns }: PlannedTable): GivenColumn[] {
  return columns.map((plan) => {
    const { position, target, field, type, dateFormat, values } = mappedColumn(plan);
    if (target === "status") return { column: position, target, values: values ?? {} };
    if (target !== "field") return { column: position, target };
    return {
      column: position,
      target,
      type,
      ...(field === null ? {} : { field }),
      ...(dateFormat === null ? {} : { dateFormat }),
    };
  });
}
