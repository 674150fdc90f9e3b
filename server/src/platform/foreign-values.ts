// Reads values somebody else wrote: each is what it should be or null, bounded, and text that the database takes. Pure.

export function readObject(value: unknown): Record<string, unknown> | null {
  return typeof value === "object" && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : null;
}

/** [] for what is none. */
export function readList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** A text without NUL and halves of characters, cut to `maxLength`; null for what is none, or empty. */
export function readText(value: unknown, maxLength: number): string | null {
  if (typeof value !== "string") return null;
  const text = value.replaceAll("\u0000", "").slice(0, maxLength).toWellFormed().trim();
  return text === "" ? null : text;
}

const EARLIEST_MS = Date.UTC(2000, 0, 1);
const LATEST_MS = Date.UTC(2200, 0, 1);

/** An instant of this age; null for anything else. */
export function readInstant(value: unknown): Date | null {
  const ms = typeof value === "string" ? Date.parse(value.slice(0, 40)) : Number.NaN;
  return ms > EARLIEST_MS && ms < LATEST_MS ? new Date(ms) : null;
}
