// The decisions that an import needs before it can start. Pure.
import { isOwnName } from "@postloft/contract/contact-file/field-names.ts";
import type { ColumnPlan, ImportOptions, PlannedTable } from "./import-plan.ts";
import { statusWords } from "./status-words.ts";

export type OpenQuestion =
  | { kind: "noEmail" }
  /** A column that looks like a status and isn't used. */
  | { kind: "unusedStatus"; column: string }
  | { kind: "undecidedWord"; column: string; word: string }
  | { kind: "dateOrder"; column: string }
  | { kind: "noField"; column: string }
  | { kind: "ownField"; field: string }
  | { kind: "sameField"; field: string }
  | { kind: "noSegmentName" };

/** Whether the user must still confirm that a column isn't a subscription status. */
function mustConfirm({ isStatusLike, isNoStatus, target }: ColumnPlan): boolean {
  return isStatusLike && !isNoStatus && target !== "status";
}

/** Returns the open decisions of an import, in the order of the screen. */
export function openQuestions(
  planned: PlannedTable,
  { segment }: Pick<ImportOptions, "segment"> = { segment: null },
): OpenQuestion[] {
  const { columns } = planned;
  const isNameless = segment !== null && "name" in segment && segment.name.trim() === "";
  return [
    ...(columns.some(({ target }) => target === "email") ? [] : [{ kind: "noEmail" } as const]),
    ...columns.flatMap((column, at) => questionsOf(planned, column, at)),
    ...sharedFields(columns).map((field) => ({ kind: "sameField", field }) as const),
    ...(isNameless ? [{ kind: "noSegmentName" } as const] : []),
  ];
}

function questionsOf({ survey }: PlannedTable, column: ColumnPlan, at: number): OpenQuestion[] {
  const { name, target, field, type, dateFormat, isAmbiguous } = column;
  const values = survey.columns[at];
  if (target === "status" && values !== undefined)
    return statusWords(name, column.values, values)
      .filter(({ key }) => key !== "" && column.values[key] === undefined)
      .map(({ text }) => ({ kind: "undecidedWord", column: name, word: text }));
  const isUndated = target === "field" && type === "date" && isAmbiguous && dateFormat === null;
  return [
    ...(mustConfirm(column) ? [{ kind: "unusedStatus", column: name } as const] : []),
    ...(isUndated ? [{ kind: "dateOrder", column: name } as const] : []),
    ...(target === "field" && field.trim() === "" ? [{ kind: "noField", column: name } as const] : []),
    ...(target === "field" && isOwnName(field.trim())
      ? [{ kind: "ownField", field: field.trim() } as const]
      : []),
  ];
}

/** The keys that several columns would write. */
function sharedFields(columns: readonly ColumnPlan[]): string[] {
  const keys = columns
    .filter(({ target, field }) => target === "field" && field.trim() !== "")
    .map(({ field }) => field.trim());
  return [...new Set(keys.filter((key, at) => keys.indexOf(key) !== at))];
}
