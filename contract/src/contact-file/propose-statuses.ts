// Finds the columns of a file with subscription statuses, and the meaning of their words.
import { looksLikeAddress } from "./clean-address.ts";
import { EVERY_OTHER, type ImportStatus, type MappedColumn } from "./mapping.ts";
import { dateFormOf } from "./read-value.ts";
import {
  describeSubscriptions,
  isAboutBilling,
  isOtherChannel,
  mayNameStatus,
  statusOfWord,
  statusOfOtherWords,
  plainWord,
  statusKindOf,
  usualStatus,
  type StatusKind,
} from "./status-columns.ts";
import { plainName } from "./column-names.ts";
import { warnOf, type ImportWarning } from "./warnings.ts";

/** One column of the file with its first non-empty values. */
export interface SampledColumn {
  position: number;
  name: string;
  cells: string[];
}

/** The meaning of each word in a status column, and the reason why it is a status column. */
export interface ProposedStatus {
  values: Record<string, ImportStatus>;
  why: "name" | "values";
}

/** A status has few words, so a column with more is something else. */
const MOST_WORDS = 30;
const WORDS_SHOWN = 5;

/** Returns the status columns of a file by their position. */
export function proposeStatuses(
  columns: readonly SampledColumn[],
  sampleRows: ReadonlyArray<readonly string[]>,
): Map<number, ProposedStatus> {
  const suppression = suppressionFileOf(columns);
  if (suppression !== null) return suppression;
  const names = columns.map(({ name }) => name);
  const found = columns.flatMap((column) => {
    const kind = kindOf(column, names);
    return kind === null ? [] : [{ ...column, ...kind }];
  });
  return new Map(
    found.map(({ position, name, kind, why }) => {
      const values: Record<string, ImportStatus> = { ...statusOfOtherWords(kind) };
      const isTime = kind === "left" || kind === "gone";
      for (const { word, text } of isTime ? [] : wordsOf(sampleRows, position)) {
        const meaning = word === "" ? undefined : statusOfWord(kind, word);
        if (meaning !== undefined) values[text] = meaning;
      }
      // A contact without recorded consent has not consented, unless another column says more.
      if (found.length === 1 && needsConsent(kind, name)) values[""] = "unsubscribed";
      return [position, { values, why }] as const;
    }),
  );
}

/** An empty cell in the column `subscribed` has no meaning, as the API has always read it. */
function needsConsent(kind: StatusKind, name: string): boolean {
  return (kind === "consent" || kind === "status") && plainName(name) !== "subscribed";
}

function kindOf(
  column: SampledColumn,
  names: readonly string[],
): { kind: StatusKind; why: "name" | "values" } | null {
  const { name, cells } = column;
  const kind = statusKindOf(name);
  const words = [...new Set(cells.map(plainWord))];
  if (kind === "left" || kind === "gone") return { kind, why: "name" };
  const isOfDates = cells.length > 0 && cells.every((cell) => dateFormOf(cell) !== "none");
  if (isOfDates || cells.some(looksLikeAddress)) return null;
  if (
    kind !== null &&
    (words.length <= MOST_WORDS || words.some((word) => statusOfWord(kind, word) !== undefined))
  )
    return { kind, why: "name" };
  if (isOtherChannel(name) || words.length === 0 || words.length > MOST_WORDS) return null;
  const isKnown = words.some((word) => usualStatus(name, word) !== undefined);
  if (mayNameStatus(name) && isKnown && !isAboutBilling(names)) return { kind: "status", why: "name" };
  // Next to a column `subscribed`, as in our own exports, words alone do not make a status.
  const hasSubscribed = names.some((other) => plainName(other) === "subscribed");
  return !hasSubscribed && describeSubscriptions(words) ? { kind: "status", why: "values" } : null;
}

/** Returns the distinct words of a column in their first spelling. */
export function wordsOf(
  sampleRows: ReadonlyArray<readonly string[]>,
  position: number,
): Array<{ word: string; text: string; count: number }> {
  const words = new Map<string, { word: string; text: string; count: number }>();
  for (const row of sampleRows) {
    const text = (row[position - 1] ?? "").trim();
    const word = plainWord(text);
    const seen = words.get(word);
    if (seen === undefined) words.set(word, { word, text: word === "" ? "" : text, count: 1 });
    else seen.count++;
  }
  return [...words.values()];
}

const EPOCH = /^1[0-9]{9}(?:\.\d+)?$/;

/**
 * Recognizes the suppression files of SendGrid and Mailgun, which have no status because all their addresses left. Reasons and codes next
 * to an address are bounces. SendGrid's times are seconds since 1970.
 */
function suppressionFileOf(columns: readonly SampledColumn[]): Map<number, ProposedStatus> | null {
  const names = new Set(columns.map(({ name }) => plainName(name)));
  const only = (...allowed: string[]) => [...names].every((name) => allowed.includes(name));
  const time = columns.find(({ name }) => plainName(name) === "created" || plainName(name) === "createdat");
  if (time === undefined || time.cells.length === 0) return null;
  const isEpoch = time.cells.every((cell) => EPOCH.test(cell.trim()));
  const isSendGrid = isEpoch && only("created", "ip", "reason", "status");
  const isMailgunBounce = names.has("code") && names.has("error") && only("code", "error", "createdat");
  const isMailgunLeft = (names.has("tags") || names.has("tag")) && only("tags", "tag", "createdat");
  if (!isSendGrid && !isMailgunBounce && !isMailgunLeft) return null;
  const isBounce = isMailgunBounce || names.has("reason") || names.has("ip");
  const status = isBounce ? "suppressed" : "unsubscribed";
  return new Map([[time.position, { values: { [EVERY_OTHER]: status, "": status }, why: "values" }]]);
}

/** Returns a warning for each column that looks like a status but has another target. */
export function unusedStatuses(
  columns: readonly MappedColumn[],
  sampleRows: ReadonlyArray<readonly string[]>,
): ImportWarning[] {
  const names = columns.map(({ name }) => name);
  return columns.flatMap((column) => {
    const { target, name, position } = column;
    if (target !== "field" && target !== "ignore") return [];
    const words = wordsOf(sampleRows, position).filter(({ word }) => word !== "");
    const cells = words.map(({ text }) => text);
    const looksLikeOne =
      kindOf({ position, name, cells }, names) !== null ||
      (mayNameStatus(name) && words.some(({ word }) => usualStatus(name, word) !== undefined));
    if (!looksLikeOne || cells.length === 0) return [];
    return [warnOf("status.unused", { words: cells.slice(0, WORDS_SHOWN).join(", ") }, column)];
  });
}

/** Returns a warning for each status column with unknown words. */
export function unknownWords(
  columns: readonly MappedColumn[],
  sampleRows: ReadonlyArray<readonly string[]>,
): ImportWarning[] {
  return columns.flatMap((column) => {
    const { target, name, position, values } = column;
    if (target !== "status" || values?.[EVERY_OTHER] !== undefined) return [];
    const named = new Set(Object.keys(values ?? {}).map(plainWord));
    const unknown = wordsOf(sampleRows, position).filter(
      ({ word }) => word !== "" && !named.has(word) && usualStatus(name, word) === undefined,
    );
    if (unknown.length === 0) return [];
    const words = unknown.slice(0, WORDS_SHOWN).map(({ text }) => text);
    return [warnOf("status.unknown", { words: words.join(", ") }, column)];
  });
}
