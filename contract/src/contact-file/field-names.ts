// Maps each column of a file to a field of `data`.
import { readTextCell } from "../cell.ts";
import { camelCase, emailRank, plainName, sharedKey, TEMPLATE_KEY, weakKey } from "./column-names.ts";
import { mayNameStatus, statusKindOf } from "./status-columns.ts";

const PREFIX = "data.";
const HAS_LETTER = /\p{L}/u;
/** Keys that the service fills in. Dropped without an error and not stored (spec §2.2, rule 6). */
export const RESERVED_KEYS: ReadonlySet<string> = new Set([
  "id",
  "svc_id",
  "svc_email",
  "email",
  "unsubscribeUrl",
  "subscribeUrl",
  "manageUrl",
]);
/** Columns of an export that are neither data nor changed by an import. */
const OWN_COLUMNS: ReadonlySet<string> = new Set(["createdAt", "updatedAt"]);
/** Added by `errors.csv` after the file's columns, so that a corrected file can be imported unchanged. */
export const ERROR_COLUMNS = ["import_row", "import_error"] as const;

/** Returns whether a column belongs to the service and is not imported. */
export function isOwnName(name: string): boolean {
  const key = name.startsWith(PREFIX) ? name.slice(PREFIX.length) : name;
  return RESERVED_KEYS.has(key) || OWN_COLUMNS.has(name) || ERROR_COLUMNS.some((own) => own === name);
}

export interface KeyOptions {
  /**
   * `exact` keeps a header that works in a template unchanged, as the API does. `readable` gives all services the same keys, as the
   * dashboard proposes.
   */
  keys: "exact" | "readable";
  /** Keys of the project. A header equal to one of them stays unchanged. */
  known?: ReadonlySet<string> | undefined;
}

/** Returns the key of a header that stays unchanged; null for a header that gets a new key. */
export function exactKey(name: string, { keys, known }: KeyOptions): string | null {
  const text = readTextCell(name);
  if (text.startsWith(PREFIX)) return text.slice(PREFIX.length);
  // A field with this name next to the status would be misleading.
  if (plainName(text) === "subscribed") return null;
  return known?.has(text) === true || (keys === "exact" && TEMPLATE_KEY.test(text)) ? text : null;
}

/** Returns the header under which an export writes a key, so that an import reads the same key back. */
export function headerOf(key: string): string {
  const isRead = exactKey(key, { keys: "exact" }) === key && !isOwnName(key);
  const isOther = emailRank(key) !== null || statusKindOf(key) !== null || mayNameStatus(key);
  return isRead && !isOther ? key : `${PREFIX}${key}`;
}

/** The ways to derive a key, clearest first. Each is tried for all columns before the next one. */
export const KEY_WAYS: ReadonlyArray<(name: string) => string | null> = [sharedKey, weakKey];

/** Returns a key for any other header, with a number if the key is taken. Names in other alphabets stay unchanged. */
export function ownKey(name: string, position: number, taken: ReadonlySet<string>): string {
  const text = readTextCell(name);
  const camel = camelCase(text);
  const key = camel !== "" ? camel : HAS_LETTER.test(text) ? text : `column${position}`;
  return withNumber(key === "subscribed" ? "subscribedAt" : sourced(key), taken);
}

/** Renames a key that the service fills in itself, because here it comes from another service. */
function sourced(key: string): string {
  return isOwnName(key) ? `source${key.charAt(0).toUpperCase()}${key.slice(1)}` : key;
}

function withNumber(key: string, taken: ReadonlySet<string>): string {
  let free = key;
  for (let number = 2; taken.has(free); number++) free = `${key}${number}`;
  return free;
}
