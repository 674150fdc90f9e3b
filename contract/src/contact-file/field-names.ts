// Which field of `data` each column of a file becomes.
import { readTextCell } from "../cell.ts";
import { camelCase, emailRank, plainName, sharedKey, TEMPLATE_KEY, weakKey } from "./column-names.ts";
import { mayNameStatus, statusKindOf } from "./status-columns.ts";

const PREFIX = "data.";
const HAS_LETTER = /\p{L}/u;
/** Keys that the service fills in itself: dropped without an error, nothing is stored (spec §2.2, rule 6). */
export const RESERVED_KEYS: ReadonlySet<string> = new Set([
  "id",
  "svc_id",
  "svc_email",
  "email",
  "unsubscribeUrl",
  "subscribeUrl",
  "manageUrl",
]);
/** Columns of an export that are neither data nor changed by a file. */
const OWN_COLUMNS: ReadonlySet<string> = new Set(["createdAt", "updatedAt"]);
/** Written by `errors.csv` behind the columns of the file, so that a corrected file can be imported as it is. */
export const ERROR_COLUMNS = ["import_row", "import_error"] as const;

/** Whether a column is the service's own, and is not imported. */
export function isOwnName(name: string): boolean {
  const key = name.startsWith(PREFIX) ? name.slice(PREFIX.length) : name;
  return RESERVED_KEYS.has(key) || OWN_COLUMNS.has(name) || ERROR_COLUMNS.some((own) => own === name);
}

export interface KeyOptions {
  /**
   * `exact` keeps a header that works in a template as it is, as the API does; `readable` gives all services the same keys, as the
   * dashboard proposes them.
   */
  keys: "exact" | "readable";
  /** Keys that the project has: a header that is one of them stays as it is. */
  known?: ReadonlySet<string> | undefined;
}

/** The key of a header that stays as it is; null for one that gets a key of ours. */
export function exactKey(name: string, { keys, known }: KeyOptions): string | null {
  const text = readTextCell(name);
  if (text.startsWith(PREFIX)) return text.slice(PREFIX.length);
  // A field of this name beside the status would mislead whoever reads it.
  if (plainName(text) === "subscribed") return null;
  return known?.has(text) === true || (keys === "exact" && TEMPLATE_KEY.test(text)) ? text : null;
}

/** The header under which an export writes a key, so that an import reads the same key of it. */
export function headerOf(key: string): string {
  const isRead = exactKey(key, { keys: "exact" }) === key && !isOwnName(key);
  const isOther = emailRank(key) !== null || statusKindOf(key) !== null || mayNameStatus(key);
  return isRead && !isOther ? key : `${PREFIX}${key}`;
}

/** The ways to a key, the clearest first. Each is tried for all columns before the next one. */
export const KEY_WAYS: ReadonlyArray<(name: string) => string | null> = [sharedKey, weakKey];

/** A key for any other header, with a number where the key is taken. Names in other alphabets stay as they are. */
export function ownKey(name: string, position: number, taken: ReadonlySet<string>): string {
  const text = readTextCell(name);
  const camel = camelCase(text);
  const key = camel !== "" ? camel : HAS_LETTER.test(text) ? text : `column${position}`;
  return withNumber(key === "subscribed" ? "subscribedAt" : sourced(key), taken);
}

/** A key that the service fills in itself is that of another service. */
function sourced(key: string): string {
  return isOwnName(key) ? `source${key.charAt(0).toUpperCase()}${key.slice(1)}` : key;
}

function withNumber(key: string, taken: ReadonlySet<string>): string {
  let free = key;
  for (let number = 2; taken.has(free); number++) free = `${key}${number}`;
  return free;
}
