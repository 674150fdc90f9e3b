// Reads values from other systems. Each result is either null or valid, bounded, and safe to store as text. Pure.

export function readObject(value: unknown): Record<string, unknown> | null {
  return typeof value === "object" && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : null;
}

/** Returns the list, or [] for other values. */
export function readList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** Returns a text without NUL and unpaired surrogates, cut to `maxLength`, or null if it is empty or not a string. */
export function readText(value: unknown, maxLength: number): string | null {
  if (typeof value !== "string") return null;
  const text = value.replaceAll("\u0000", "").slice(0, maxLength).toWellFormed().trim();
  return text === "" ? null : text;
}

const EARLIEST_MS = Date.UTC(2000, 0, 1);
const LATEST_MS = Date.UTC(2200, 0, 1);

/** Returns a time between 2000 and 2200, or null for other values. */
export function readInstant(value: unknown): Date | null {
  const ms = typeof value === "string" ? Date.parse(value.slice(0, 40)) : Number.NaN;
  return ms > EARLIEST_MS && ms < LATEST_MS ? new Date(ms) : null;
}
