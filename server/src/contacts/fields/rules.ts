// Reads and writes field names. Pure.
import type { FieldType } from "../rules.ts";

/** Fields of every contact. */
export const STANDARD_FIELDS = {
  email: "string",
  subscribed: "boolean",
  createdAt: "date",
  updatedAt: "date",
} as const satisfies Record<string, FieldType>;

export type StandardField = keyof typeof STANDARD_FIELDS;

const PREFIX = "data.";

/** A standard field, or the key of a custom one. */
export type FieldName = { standard: StandardField } | { key: string };

/** Reads a name from a path. A name with `data.` is always a custom field. Otherwise standard fields take precedence. */
export function readFieldName(name: string): FieldName {
  if (name.startsWith(PREFIX)) return { key: name.slice(PREFIX.length) };
  return Object.hasOwn(STANDARD_FIELDS, name) ? { standard: name as StandardField } : { key: name };
}

/** Returns the name as it appears in responses. */
export function writeFieldName(name: FieldName): string {
  return "key" in name ? `${PREFIX}${name.key}` : name.standard;
}
