// What a person should know of an import beside the rows that failed, by code.
import { z } from "zod";
import { fillIn, type AdviceValues } from "../advice.ts";

/** By code, with `{names}` of what is filled in. */
export const IMPORT_WARNINGS = {
  "status.unused":
    "The column {column} looks like a subscription status ({words}) and isn't used. Map it to the target status, unless it means something else.",
  "status.unknown":
    "The column {column} has words that are no known subscription status: {words}. Rows with them are not imported. Say what they mean in the mapping.",
  "status.contradiction":
    "{count} rows have columns that contradict each other about the subscription. The stricter one was used. The first is row {row}.",
  "date.ambiguous":
    "Dates such as {example} in the column {column} can be read in two ways and stay text. Choose a dateFormat.",
  "value.other":
    "{count} values in the column {column} are no {type} and stay text. The first is in row {row}.",
  "column.unnamed": "Column {position} has no header. Its values go to {key}.",
  "header.none": "The file has no header row.",
  "rows.above": "Rows above the header are not imported: {count}.",
  "encoding.guessed":
    "The file is not UTF-8 and was read as Windows-1252. Check names with accents before you import it.",
  "archive.joined": "The archive has {files}. The rows are counted in this order, as one file.",
  "segment.gone": "The segment was deleted while the import ran. {count} contacts were not added to it.",
} as const;
export type ImportWarningCode = keyof typeof IMPORT_WARNINGS;

export const importWarning = z.object({
  code: z.enum(Object.keys(IMPORT_WARNINGS) as [ImportWarningCode, ...ImportWarningCode[]]),
  column: z.string().optional().describe("The header of the column."),
  position: z.int().optional().describe("The position of the column, counted from 1."),
  values: z
    .record(z.string(), z.union([z.string(), z.number()]))
    .describe("What the sentence names, by name."),
  message: z.string().describe("The sentence in English."),
});
export type ImportWarning = z.output<typeof importWarning>;

/** A warning with its sentence; `of` is the column that it is about. */
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
