// What opens an account is changed only by a session that began lately: one that was stolen must not open a door of its own.
import { nowMs } from "../platform/clock.ts";
import type { Database, Tx } from "../platform/database/database.ts";
import { Refusal } from "../platform/refusal.ts";
import { findSessionStart, lockUser } from "./account-queries.ts";
import { holdsSession } from "./queries.ts";

const RECENT_MS = 3_600_000;

/** Whether a session began within the last hour. */
export async function isRecentSession(database: Database, sessionId: string): Promise<boolean> {
  const began = await findSessionStart(database, sessionId);
  return began !== undefined && nowMs() - began.getTime() < RECENT_MS;
}

export interface OwnSession {
  userId: string;
  sessionId: string | null;
}

/**
 * The account, held, of a session that has not ended while what it asked for was looked at: whoever ends it, or sets a new password,
 * comes before or after this. @throws Refusal UNAUTHORIZED
 */
export async function lockUserOfSession(tx: Tx, { userId, sessionId }: OwnSession) {
  const user = await lockUser(tx, userId);
  if (user === undefined || sessionId === null || !(await holdsSession(tx, userId, sessionId)))
    throw new Refusal("UNAUTHORIZED");
  return user;
}

/** @throws Refusal SESSION_TOO_OLD */
export async function requireRecentSession(database: Database, sessionId: string | null): Promise<void> {
  if (sessionId === null || !(await isRecentSession(database, sessionId)))
    throw new Refusal("SESSION_TOO_OLD");
}
