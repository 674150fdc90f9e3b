// Requires a recent session for changing sign-in methods, because a stolen session must not add another one.
import { nowMs } from "../platform/clock.ts";
import type { Database, Tx } from "../platform/database/database.ts";
import { AppError } from "../platform/app-error.ts";
import { findSessionStart, lockUser } from "./account-queries.ts";
import { holdsSession } from "./queries.ts";

const RECENT_MS = 3_600_000;

/** Returns whether a session began within the last hour. */
export async function isRecentSession(database: Database, sessionId: string): Promise<boolean> {
  const began = await findSessionStart(database, sessionId);
  return began !== undefined && nowMs() - began.getTime() < RECENT_MS;
}

export interface OwnSession {
  userId: string;
  sessionId: string | null;
}

/**
 * Locks and returns the account of a session that is still live. Ending the session or changing the password then runs before or after the
 * caller, never in between.
 * @throws AppError UNAUTHORIZED
 */
export async function lockUserOfSession(tx: Tx, { userId, sessionId }: OwnSession) {
  const user = await lockUser(tx, userId);
  if (user === undefined || sessionId === null || !(await holdsSession(tx, userId, sessionId)))
    throw new AppError("UNAUTHORIZED");
  return user;
}

/** @throws AppError SESSION_TOO_OLD */
export async function requireRecentSession(database: Database, sessionId: string | null): Promise<void> {
  if (sessionId === null || !(await isRecentSession(database, sessionId)))
    throw new AppError("SESSION_TOO_OLD");
}
