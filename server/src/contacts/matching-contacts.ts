// Counts and lists contacts that match a filter.
import type { RawBuilder, SqlBool } from "kysely";
import type { Database } from "../platform/database/database.ts";
import { fittingLimit } from "../platform/http/page.ts";
import { presentContact, type ContactView } from "./contacts.ts";
import { alsoIs, countContactsMatching, listContactsMatching } from "./matching-queries.ts";

/** Returns the number of matching contacts. `matches` is a condition on `contacts c`. */
export async function countMatching(
  database: Database,
  projectId: string,
  matches: RawBuilder<SqlBool>,
): Promise<number> {
  return countContactsMatching(database, projectId, matches);
}

/** Returns matching contacts, newest first, up to the size limit of a response. `isWhole` tells whether the whole page fits. */
export async function listMatching(
  database: Database,
  projectId: string,
  matches: RawBuilder<SqlBool>,
  page: { limit: number; offset: number },
): Promise<{ contacts: ContactView[]; isWhole: boolean }> {
  const rows = await listContactsMatching(database, projectId, matches, page);
  const fitting = fittingLimit(rows.length, rows);
  return { contacts: rows.slice(0, fitting).map(presentContact), isWhole: fitting === rows.length };
}

/** Returns whether one contact matches. */
export async function isAmong(
  database: Database,
  projectId: string,
  matches: RawBuilder<SqlBool>,
  contactId: string,
): Promise<boolean> {
  return (await countMatching(database, projectId, alsoIs(contactId, matches))) > 0;
}
