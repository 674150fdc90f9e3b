// When a webhook is tried again, who gets the free places, and what an answer says. Pure.
import { LIMITS } from "@postloft/contract/limits/limits.ts";

/** Between a try that failed and the next one (decisions §9); after the last there is none. */
const WAITS_SECONDS = [5, 30, 2 * 60, 10 * 60, 45 * 60];

/** Seconds until the next try after so many that failed, or as the endpoint asks where that is longer; null: it was the last. */
export function waitAfter(tries: number, askedSeconds: number | null): number | null {
  const wait = WAITS_SECONDS[tries - 1];
  return wait === undefined ? null : Math.max(wait, askedSeconds ?? 0);
}

/** What a `Retry-After` asks for (RFC 9110 §10.2.3), in seconds from `nowMs` on, at most the longest wait; null: nothing we understand. */
export function askedWait(header: string | undefined, nowMs: number): number | null {
  if (header === undefined) return null;
  const seconds = /^\d{1,9}$/.test(header) ? Number(header) : (Date.parse(header) - nowMs) / 1000;
  return Number.isNaN(seconds) ? null : Math.min(LIMITS.webhookLongestWait.value, Math.max(0, seconds));
}

export interface PlaceRules {
  /** No project gets more, with those it has. */
  most: number;
  /** So many are only for projects that have none: slow endpoints of some cannot take them all. */
  kept: number;
}

/**
 * Shares free places among projects, in the order given: each next one goes to whoever has fewest.
 *
 * @returns project → how many of its calls may begin
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

/** What an endpoint answered as a value: JSON where it is that and can be stored as such, else the text. */
export function readAnswer(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    return isStorable(value, LIMITS.jsonDepth.value) ? value : text;
  } catch {
    return text;
  }
}

/** PostgreSQL's jsonb knows neither NUL nor half a surrogate pair, and what is nested too deep exhausts its stack. */
function isStorable(value: unknown, depthLeft: number): boolean {
  if (typeof value === "string") return !value.includes("\u0000") && value.isWellFormed();
  if (typeof value !== "object" || value === null) return true;
  if (depthLeft === 0) return false;
  return Object.entries(value).every(
    ([key, inner]) => isStorable(key, 0) && isStorable(inner, depthLeft - 1),
  );
}
