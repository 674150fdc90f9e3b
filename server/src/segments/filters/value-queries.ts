// The value of a key or path in a contact's data, in SQL.
import { sql } from "kysely";

/** Returns the value as JSON. It is SQL null if a key is missing or a value on the path is not an object. */
export function valueAt(keys: readonly string[]) {
  const [key = "", ...more] = keys;
  return more.length === 0
    ? sql`c.data -> ${key}::text`
    : sql`jsonb_path_query_first(c.data, ${jsonPath(keys)}::jsonpath, silent => true)`;
}

/** Returns the value as text, a string without its quotes. */
export function textAt(keys: readonly string[]) {
  const [key = "", ...more] = keys;
  return more.length === 0 ? sql`(c.data ->> ${key}::text)` : sql`(${valueAt(keys)} #>> '{}')`;
}

/** In strict mode arrays are ordinary values, and a missing key ends the search. */
export function jsonPath(keys: readonly string[]): string {
  return `strict $${keys.map((key) => `.${JSON.stringify(key)}`).join("")}`;
}
