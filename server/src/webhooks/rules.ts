// Decides when a webhook is retried, which projects get free connections, and how a response is read. Pure.
import { LIMITS } from "@postloft/contract/limits/limits.ts";

/** Waits between attempts (decisions §9). The attempt after the last wait is the last one. */
const WAITS_SECONDS = [5, 30, 2 * 60, 10 * 60, 45 * 60];

/** Returns the seconds until the next attempt, or more if the endpoint asks for more. Null after the last attempt. */
export function waitAfter(tries: number, askedSeconds: number | null): number | null {
  const wait = WAITS_SECONDS[tries - 1];
  return wait === undefined ? null : Math.max(wait, askedSeconds ?? 0);
}

/** Returns the seconds that `Retry-After` asks for (RFC 9110 §10.2.3), limited to `longest`. Null if it is missing or invalid. */
export function parseRetryAfter(
  header: string | undefined,
  nowMs: number,
  longest: number = LIMITS.webhookLongestWait.value,
): number | null {
  if (header === undefined) return null;
  const seconds = /^\d{1,9}$/.test(header) ? Number(header) : (Date.parse(header) - nowMs) / 1000;
  return Number.isNaN(seconds) ? null : Math.min(longest, Math.max(0, seconds));
}

export interface PlaceRules {
  /** Limit per project, including running calls. */
  most: number;
  /** Connections reserved for projects without running calls, so that slow endpoints of a few projects cannot use them all. */
  kept: number;
}

/**
 * Shares free connections among projects, in the given order. Each one goes to the project with the fewest running calls.
 *
 * @returns the number of calls to start, by project
 */
export function sharePlaces(
  free: number,
  projects: ReadonlyArray<{ projectId: string; running: number }>,
  { most, kept }: PlaceRules,
): Map<string, number> {
  const shares = new Map<string, number>();
  let left = free;
  for (let level = 0; level < most; level++)
    for (const { projectId, running } of projects) {
      if (left <= (level === 0 ? 0 : kept)) return shares;
      if (running > level) continue;
      shares.set(projectId, (shares.get(projectId) ?? 0) + 1);
      left -= 1;
    }
  return shares;
}

/** Returns a response as JSON if it is valid and storable, or else as text. */
export function readResponse(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    return isStorable(value, LIMITS.jsonDepth.value) ? value : text;
  } catch {
    return text;
  }
}

/** PostgreSQL's jsonb rejects NUL and lone surrogates, and deep nesting exhausts its stack. */
function isStorable(value: unknown, depthLeft: number): boolean {
  if (typeof value === "string") return !value.includes("\u0000") && value.isWellFormed();
  if (typeof value !== "object" || value === null) return true;
  if (depthLeft === 0) return false;
  return Object.entries(value).every(
    ([key, inner]) => isStorable(key, 0) && isStorable(inner, depthLeft - 1),
  );
}
