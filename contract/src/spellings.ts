// Accepts fields under other names and in other spellings (`reply_to`, `Cc`, `variables`). Pure.
import { plainName } from "./closest-name.ts";

export interface Spellings {
  /** The canonical field names. */
  fields: readonly string[];
  /** Other names in plain form (`plainName`). */
  aliases: Readonly<Record<string, string>>;
}

/**
 * Returns the object with other spellings of its fields replaced by ours. If a field is already present under its own name, the other
 * spelling stays and counts as unknown. Returns anything but an object unchanged.
 */
export function respelled(input: unknown, { fields, aliases }: Spellings): unknown {
  if (typeof input !== "object" || input === null || Array.isArray(input)) return input;
  if (Object.keys(input).every((name) => fields.includes(name))) return input;
  const byPlainName = new Map(fields.map((field) => [plainName(field), field]));
  const taken = new Set(Object.keys(input));
  const entries = Object.entries(input).map(([name, value]: [string, unknown]) => {
    if (fields.includes(name)) return [name, value];
    const plain = plainName(name);
    const field = byPlainName.get(plain) ?? (Object.hasOwn(aliases, plain) ? aliases[plain] : undefined);
    if (field === undefined || taken.has(field)) return [name, value];
    taken.add(field);
    return [field, value];
  });
  return Object.fromEntries(entries);
}
