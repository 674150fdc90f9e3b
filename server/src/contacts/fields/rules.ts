// What a field is called and which one a name means. Pure.
import type { FieldType } from "../rules.ts";

/** The fields every contact has. */
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

/** Reads a name as a path has it: with `data.` it is a custom field whatever follows; without, a standard one goes first. */
export function readFieldName(name: string): FieldName {
  if (name.startsWith(PREFIX)) return { key: name.slice(PREFIX.length) };
  return Object.hasOwn(STANDARD_FIELDS, name) ? { standard: name as StandardField } : { key: name };
}

/** The name as answers carry it. */
export function writeFieldName(name: FieldName): string {
  return "key" in name ? `${PREFIX}${name.key}` : name.standard;
}
