// Compares edited values with stored ones.
import { hashKey } from "@tanstack/react-query";

/** Returns whether two values are equal, ignoring key order because the database reorders object keys. */
export function isSame(one: unknown, other: unknown): boolean {
  return one === other || (typeof one === "object" && hashKey([one]) === hashKey([other]));
}

/** Returns the fields that were edited after the last save was sent. */
export function withoutSaved<Fields extends object>(
  typed: Partial<Fields>,
  saved: Partial<Fields>,
): Partial<Fields> {
  const names = Object.keys(typed) as Array<keyof Fields>;
  const left = names.filter((name) => typed[name] !== saved[name]).map((name) => [name, typed[name]]);
  return Object.fromEntries(left) as Partial<Fields>;
}
