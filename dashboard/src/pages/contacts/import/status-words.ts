// Maps the words of a status column with the reader that imports them. Pure.
import {
  EVERY_OTHER,
  type ImportStatus,
  type MappedColumn,
} from "@postloft/contract/contact-file/mapping.ts";
import { createPersonReader } from "@postloft/contract/contact-file/read-person.ts";
import { plainWord, statusKindOf } from "@postloft/contract/contact-file/status-columns.ts";
import type { ColumnSurvey } from "./survey-table.ts";

/** A line of the list of statuses. */
export interface StatusWord {
  /** The key in the values of a mapping: a word, `""` for empty cells, or `"*"` for every other word. */
  key: string;
  /** As written in the file. */
  text: string;
  rows: number;
}

type Values = Record<string, ImportStatus>;

/**
 * Returns the words of a column that can be decided individually, most frequent first and empty cells last. A column of times, such as
 * `UNSUB_TIME`, has one line for all values.
 */
export function statusWords(name: string, proposed: Values | null, survey: ColumnSurvey): StatusWord[] {
  const total = Object.values(survey.kinds).reduce((sum, count) => sum + count, 0);
  const words =
    survey.values === null || meansOneThing(name, proposed)
      ? [{ key: EVERY_OTHER, text: "", rows: total }]
      : distinctWords(survey.values);
  const empty = survey.empty + words.filter(({ key }) => key === "").reduce((sum, { rows }) => sum + rows, 0);
  return [
    ...words.filter(({ key, rows }) => key !== "" && rows > 0),
    ...(empty === 0 ? [] : [{ key: "", text: "", rows: empty }]),
  ];
}

function distinctWords(values: ReadonlyArray<readonly [string, number]>): StatusWord[] {
  const words = new Map<string, StatusWord>();
  for (const [text, rows] of values) {
    const key = plainWord(text);
    const word = words.get(key) ?? { key, text, rows: 0 };
    words.set(key, { ...word, rows: word.rows + rows });
  }
  return [...words.values()].toSorted((one, other) => other.rows - one.rows);
}

/** Returns whether all values have the same meaning, as in a column of unsubscribe times. */
function meansOneThing(name: string, proposed: Values | null): boolean {
  const kind = statusKindOf(name);
  if (kind === "left" || kind === "gone") return true;
  return proposed?.[EVERY_OTHER] !== undefined && kind === null;
}

const ADDRESS = "a@example.com";
const EMAIL: MappedColumn = {
  position: 1,
  name: "email",
  target: "email",
  field: null,
  type: "auto",
  dateFormat: null,
  values: null,
  why: "given",
};

/** Returns the status of each word. Omits words without a known meaning. */
export function meaningsOf(name: string, proposed: Values | null, words: readonly StatusWord[]): Values {
  const status: MappedColumn = { ...EMAIL, position: 2, name, target: "status", values: proposed };
  const read = createPersonReader([EMAIL, status], { decimal: "point" });
  const meanings = words.map(({ key, text }): [string, ImportStatus | undefined] => {
    if (key === EVERY_OTHER) return [key, proposed?.[EVERY_OTHER] ?? meaningOfTimes(name)];
    const person = read([ADDRESS, text]);
    return [key, "code" in person ? undefined : person.status];
  });
  return Object.fromEntries(
    meanings.filter((entry): entry is [string, ImportStatus] => entry[1] !== undefined),
  );
}

function meaningOfTimes(name: string): ImportStatus | undefined {
  const kind = statusKindOf(name);
  return kind === "left" ? "unsubscribed" : kind === "gone" ? "suppressed" : undefined;
}
