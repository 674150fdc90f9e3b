// Decides which accounts administer the installation (decision 0150).
import { AppError } from "../platform/app-error.ts";
import type { Database } from "../platform/database/database.ts";
import { findProvenUser, getUser, type User } from "../users/users.ts";

/** Returns the account of a session if it administers the installation: its address is confirmed and in ADMIN_EMAILS. */
export async function findAdmin(
  database: Database,
  adminEmails: readonly string[],
  userId: string,
): Promise<User | null> {
  if (adminEmails.length === 0) return null;
  const { email } = await getUser(database, userId);
  if (!adminEmails.includes(email)) return null;
  const proven = await findProvenUser(database, email);
  return proven?.id === userId ? proven : null;
}

/**
 * Returns the account of a session.
 * @throws AppError RESOURCE_NOT_FOUND if it does not administer the installation, as for an address that does not exist
 */
export async function requireAdmin(
  database: Database,
  adminEmails: readonly string[],
  userId: string,
): Promise<User> {
  const admin = await findAdmin(database, adminEmails, userId);
  if (admin === null) throw new AppError("RESOURCE_NOT_FOUND");
  return admin;
}
