// Contacts that match a filter, counted and listed.
import type { RawBuilder, SqlBool } from "kysely";
import type { Database } from "../platform/database/database.ts";
import { fittingLimit } from "../platform/http/page.ts";
import { presentContact, type ContactView } from "./contacts.ts";
import { alsoIs, countContactsMatching, listContactsMatching } from "./matching-queries.ts";

/** How many contacts of a project match; `matches` is a condition on `contacts c`. */
export async function countMatching(
  database: Database,
  projectId: string,
  matches: RawBuilder<SqlBool>,
): Promise<number> {
  return countContactsMatching(database, projectId, matches);
}

/** Contacts that match, newest first, as far as they fit into an answer: `isWhole` says whether all of the page do. */
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

/** Whether one contact matches. */
export async function isAmong(
  database: Database,
  projectId: string,
  matches: RawBuilder<SqlBool>,
  contactId: string,
): Promise<boolean> {
  return (await countMatching(database, projectId, alsoIs(contactId, matches))) > 0;
}
