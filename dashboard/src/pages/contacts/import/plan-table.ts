// Proposes a plan for a table with the shared reader. Pure.
import { sharedKey } from "@postloft/contract/contact-file/column-names.ts";
import { ownKey } from "@postloft/contract/contact-file/field-names.ts";
import type { FileTable, MappedColumn } from "@postloft/contract/contact-file/mapping.ts";
import { proposeMapping } from "@postloft/contract/contact-file/propose-mapping.ts";
import { typeFor, type ColumnPlan, type KnownFields } from "./import-plan.ts";
import { meaningsOf, statusWords } from "./status-words.ts";
import type { ColumnSurvey, Survey } from "./survey-table.ts";

/** Returns a plan for each column in order. */
export function planColumns(
  table: FileTable,
  survey: Survey,
  sampleRows: ReadonlyArray<readonly string[]>,
  known: KnownFields,
): ColumnPlan[] {
  const { columns, warnings } = proposeMapping(table, sampleRows, {
    keys: "readable",
    known: new Set(known.keys()),
  });
  const warned = (code: string, at: number) =>
    warnings.some((warning) => warning.code === code && warning.position === at);
  return columns.map((column, at) => {
    const { position } = column;
    const isAmbiguous = warned("date.ambiguous", position);
    return {
      ...planOf(column, survey.columns[at], known),
      isStatusLike: column.target === "status" || warned("status.unused", position),
      isAmbiguous,
      // The user chooses the order or keeps the dates as text.
      ...(isAmbiguous ? { type: "date" as const, dateFormat: null } : {}),
    };
  });
}

function planOf(column: MappedColumn, survey: ColumnSurvey | undefined, known: KnownFields) {
  const { position, name, target, field, type, dateFormat, values } = column;
  const words = survey === undefined ? [] : statusWords(name, values, survey);
  return {
    position,
    name,
    target,
    field: field ?? sharedKey(name) ?? ownKey(name, position, new Set()),
    type: typeFor(field, type, known),
    dateFormat,
    values: meaningsOf(name, values, words),
    isEmptyOpen: values?.[""] === undefined,
    isNoStatus: false,
  };
}
