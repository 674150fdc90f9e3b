// Helpers that compare values in conditions: `{{#if (and (eq plan "pro") (gt total 100))}}`. Pure.

interface Comparison {
  /** Minimum and maximum number of values. */
  least: number;
  most: number;
  run: (values: readonly unknown[]) => boolean;
}

const two = (run: (one: unknown, other: unknown) => boolean): Comparison => ({
  least: 2,
  most: 2,
  run: ([one, other]) => run(one, other),
});

/** By the name used in templates. */
export const COMPARISONS: ReadonlyMap<string, Comparison> = new Map([
  ["eq", two(isSame)],
  ["ne", two((one, other) => !isSame(one, other))],
  ["gt", two((one, other) => compared(one, other) > 0)],
  ["gte", two((one, other) => compared(one, other) >= 0)],
  ["lt", two((one, other) => compared(one, other) < 0)],
  ["lte", two((one, other) => compared(one, other) <= 0)],
  ["not", { least: 1, most: 1, run: ([value]) => !isTrue(value) }],
  ["and", { least: 2, most: Infinity, run: (values) => values.every(isTrue) }],
  ["or", { least: 2, most: Infinity, run: (values) => values.some(isTrue) }],
]);

/** Returns whether a value is true by the rules of `{{#if}}`. */
function isTrue(value: unknown): boolean {
  return Array.isArray(value) ? value.length > 0 : Boolean(value);
}

/**
 * Returns whether two values are equal. Numbers, strings and booleans that print the same are equal because imported data often has numbers
 * as text.
 */
function isSame(one: unknown, other: unknown): boolean {
  if (one === undefined || one === null) return other === undefined || other === null;
  return isPrintable(one) && isPrintable(other) ? String(one) === String(other) : one === other;
}

/** Returns a number below, at or above 0, or NaN if the values cannot be compared. Numeric text counts as a number. */
function compared(one: unknown, other: unknown): number {
  if (!isPrintable(one) || !isPrintable(other)) return Number.NaN;
  const [left, right] = [Number(one), Number(other)];
  const areNumbers = !Number.isNaN(left) && !Number.isNaN(right) && one !== "" && other !== "";
  if (areNumbers) return left - right;
  return String(one) < String(other) ? -1 : Number(String(one) > String(other));
}

function isPrintable(value: unknown): value is boolean | number | string {
  return typeof value === "string" || typeof value === "number" || typeof value === "boolean";
}
