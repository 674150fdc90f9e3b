// Accepts fields under other names and in other spellings (`reply_to`, `Cc`, `variables`). Pure.
import { plainName } from "./closest-name.ts";

export interface Spellings {
  /** The fields as they are spelled here. */
  fields: readonly string[];
  /** Other names by their plain form (`plainName`). */
  aliases: Readonly<Record<string, string>>;
}

/**
 * Returns the object with other spellings of its fields replaced by ours. A field that is there already under its own name wins:
 * the other spelling stays and counts as unknown. Everything but an object is returned as it is.
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
