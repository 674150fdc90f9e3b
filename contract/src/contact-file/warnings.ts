// Warnings about an import, in addition to failed rows, by code.
import { z } from "zod";
import { fillIn, type AdviceValues } from "../advice.ts";

/** Sentences by code, with `{names}` as placeholders for values. */
export const IMPORT_WARNINGS = {
  "status.unused":
    "The column {column} looks like a subscription status ({words}) and is not used. Map it to the target status, unless it means something else.",
  "status.unknown":
    "The column {column} contains unknown subscription statuses: {words}. Rows with these words are not imported. Define their meaning in the mapping.",
  "status.contradiction":
    "{count} rows have contradictory subscription columns. The stricter one was used. The first is row {row}.",
  "date.ambiguous":
    "Dates such as {example} in the column {column} are ambiguous and stay text. Choose a dateFormat.",
  "value.other":
    "{count} values in the column {column} do not have the type {type} and stay text. The first is in row {row}.",
  "column.unnamed": "Column {position} has no header. Its values go to {key}.",
  "header.none": "The file has no header row.",
  "rows.above": "Rows above the header are not imported: {count}.",
  "encoding.guessed":
    "The file is not UTF-8 and was read as Windows-1252. Check names with accents before you import it.",
  "archive.joined": "The archive contains {files}. Rows are counted in this order, as in one file.",
  "segment.gone": "The segment was deleted while the import ran. {count} contacts were not added to it.",
} as const;
export type ImportWarningCode = keyof typeof IMPORT_WARNINGS;

export const importWarning = z.object({
  code: z.enum(Object.keys(IMPORT_WARNINGS) as [ImportWarningCode, ...ImportWarningCode[]]),
  column: z.string().optional().describe("The header of the column."),
  position: z.int().optional().describe("The position of the column, counted from 1."),
  values: z
    .record(z.string(), z.union([z.string(), z.number()]))
    .describe("The values in the sentence, by name."),
  message: z.string().describe("The sentence in English."),
});
export type ImportWarning = z.output<typeof importWarning>;

/** Returns a warning with its sentence; `of` is the affected column. */
export function warnOf(
  code: ImportWarningCode,
  values: AdviceValues,
  of?: { name: string; position: number },
): ImportWarning {
  const all = of === undefined ? values : { column: of.name, ...values };
  return {
    code,
    ...(of === undefined ? {} : { column: of.name, position: of.position }),
    values: all,
    message: fillIn(IMPORT_WARNINGS[code], all),
  };
}
