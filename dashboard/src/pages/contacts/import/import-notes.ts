// Texts shown next to an import's counts: warnings that ask for a change, and notes on the result.
import type { ImportWarning, ImportWarningCode } from "@postloft/contract/contact-file/warnings.ts";
import type { ImportResult } from "@postloft/contract/contact-import.ts";
import { translateParts } from "../../../text/say-all.ts";
import { plural, t } from "../../../text/t.ts";

type Values = Record<string, string | number>;
const numberIn = (values: Values, name: string) => Number(values[name] ?? 0);
const textIn = (values: Values, name: string) => String(values[name] ?? "");
const columnIn = (values: Values) => textIn(values, "column");

const SENTENCES: Record<ImportWarningCode, (values: Values) => string> = {
  "status.unused": (values) =>
    t("“{column}” looks like a subscription status ({words}) and wasn't used.", {
      column: columnIn(values),
      words: textIn(values, "words"),
    }),
  "status.unknown": (values) =>
    t("“{column}” has unknown statuses: {words}. Rows with them were rejected.", {
      column: columnIn(values),
      words: textIn(values, "words"),
    }),
  "status.contradiction": (values) =>
    plural(
      numberIn(values, "count"),
      "Status columns of {n} row contradict each other. The stricter one counts.",
      "Status columns of {n} rows contradict each other. The stricter one counts.",
    ),
  "date.ambiguous": (values) =>
    t("Dates such as {example} in “{column}” can be read in two ways and stay text.", {
      example: textIn(values, "example"),
      column: columnIn(values),
    }),
  "value.other": (values) =>
    plural(
      numberIn(values, "count"),
      "{n} value in “{column}” doesn't fit its type and stays text. The first is in row {row}.",
      "{n} values in “{column}” don't fit their type and stay text. The first is in row {row}.",
      { column: columnIn(values), row: textIn(values, "row") },
    ),
  "column.unnamed": (values) =>
    t("Column {position} has no header. Its values go to “{key}”.", {
      position: textIn(values, "position"),
      key: textIn(values, "key"),
    }),
  "header.none": () => t("The file has no header row."),
  "rows.above": (values) =>
    plural(
      numberIn(values, "count"),
      "{n} row above the header wasn't imported.",
      "{n} rows above the header weren't imported.",
    ),
  "encoding.guessed": () => t("The file isn't UTF-8 and was read as Windows-1252."),
  "archive.joined": (values) => t("Files in the ZIP: {files}.", { files: textIn(values, "files") }),
  "segment.gone": (values) =>
    plural(
      numberIn(values, "count"),
      "The segment was deleted while the import ran. {n} contact wasn't added.",
      "The segment was deleted while the import ran. {n} contacts weren't added.",
    ),
};

/** The wizard showed these before the import, or the user confirmed them. */
const KNOWN: readonly ImportWarningCode[] = [
  "status.unused",
  "header.none",
  "rows.above",
  "column.unnamed",
  "archive.joined",
];
/** Notes that require no action. */
const NOTES: readonly ImportWarningCode[] = ["status.contradiction", "segment.gone"];

const warningText = ({ code, values, message }: ImportWarning) =>
  translateParts(SENTENCES, [{ code, values, text: message }]);

/** Returns the texts next to the report's counts. */
export function importNotes(
  result: ImportResult,
  isDryRun: boolean,
): { warnings: string[]; notes: string[] } {
  const {
    keptUnsubscribedCount = 0,
    segmentAddedCount = 0,
    noteCount = 0,
    notes = [],
    warnings = [],
  } = result;
  const kept = () =>
    plural(
      keptUnsubscribedCount,
      "{n} existing contact had unsubscribed and stays unsubscribed.",
      "{n} existing contacts had unsubscribed and stay unsubscribed.",
    );
  const added = () =>
    plural(segmentAddedCount, "{n} contact added to the segment.", "{n} contacts added to the segment.");
  const [first] = notes;
  const cleaned = () =>
    plural(
      noteCount,
      "{n} address was cleaned: {cell} became {value}.",
      "{n} addresses were cleaned, such as {cell}, which became {value}.",
      { cell: first?.cell ?? "", value: first?.value ?? "" },
    );
  return {
    warnings: warnings.filter(({ code }) => !KNOWN.includes(code) && !NOTES.includes(code)).map(warningText),
    notes: [
      ...warnings.filter(({ code }) => NOTES.includes(code)).map(warningText),
      ...(keptUnsubscribedCount > 0 ? [kept()] : []),
      ...(segmentAddedCount > 0 && !isDryRun ? [added()] : []),
      ...(noteCount > 0 ? [cleaned()] : []),
    ],
  };
}
