// What is typed over what is stored: whether it is the same, and what of it is not stored yet.
import { hashKey } from "@tanstack/react-query";

/** Whether two values say the same. The database keeps the names of an object in an order of its own. */
export function isSame(one: unknown, other: unknown): boolean {
  return one === other || (typeof one === "object" && hashKey([one]) === hashKey([other]));
}

/** What was typed since it was sent. */
export function withoutSaved<Fields extends object>(
  typed: Partial<Fields>,
  saved: Partial<Fields>,
): Partial<Fields> {
  const names = Object.keys(typed) as Array<keyof Fields>;
  const left = names.filter((name) => typed[name] !== saved[name]).map((name) => [name, typed[name]]);
  return Object.fromEntries(left) as Partial<Fields>;
}
