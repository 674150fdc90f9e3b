// What opens an account is changed only by a session that began lately: one that was stolen must not open a door of its own.
// Before it: oauth/routes.ts, passkeys/routes.ts. After it: account-queries.ts.
import { nowMs } from "../platform/clock.ts";
import type { Database } from "../platform/database.ts";
import { Refusal } from "../platform/refusal.ts";
import { findSessionStart } from "./account-queries.ts";

const RECENT_MS = 3_600_000;

/** Whether a session began within the last hour. */
export async function isRecentSession(database: Database, sessionId: string): Promise<boolean> {
  const began = await findSessionStart(database, sessionId);
  return began !== undefined && nowMs() - began.getTime() < RECENT_MS;
}

/** @throws Refusal SESSION_TOO_OLD */
export async function requireRecentSession(database: Database, sessionId: string | null): Promise<void> {
  if (sessionId === null || !(await isRecentSession(database, sessionId)))
    throw new Refusal("SESSION_TOO_OLD");
}
