// Streams contacts as CSV. A slow client slows down the reads, and a disconnect stops them.
import { headerOf } from "@postloft/contract/contact-file/field-names.ts";
import type { Database } from "../platform/database/database.ts";
import { writeRow } from "./cell-text.ts";
import { listContactsAfter, listDataKeysAfter, listFieldKeys, type Conditions } from "./export-queries.ts";
import type { ContactRow } from "./queries.ts";

const CONTACTS_A_BATCH = 1_000;
const CONTACTS_PER_SCAN = 5_000;
const FIXED_COLUMNS = ["email", "subscribed", "createdAt"] as const;

/** Yields many lines of the file at a time. `conditions` come from list-contacts.ts. */
export async function* writeContacts(
  database: Database,
  projectId: string,
  conditions: Conditions,
): AsyncGenerator<string> {
  const keys = await listKeys(database, projectId, conditions);
  yield writeRow([...FIXED_COLUMNS, ...keys.map(headerOf)]);
  for (let after: string | null = null; ;) {
    const batch = { after, limit: CONTACTS_A_BATCH };
    const rows = await listContactsAfter(database, projectId, conditions, batch);
    const last = rows.at(-1);
    if (last === undefined) return;
    yield rows.map((row) => writeContact(row, keys)).join("");
    if (rows.length < CONTACTS_A_BATCH) return;
    after = last.id;
  }
}

function writeContact(row: ContactRow, keys: readonly string[]): string {
  const fixed = FIXED_COLUMNS.map((column) => {
    const value = row[column];
    return value instanceof Date ? value.toISOString() : value;
  });
  const data = row.data as Record<string, unknown>;
  const values = keys.map((key) => (Object.hasOwn(data, key) ? data[key] : null));
  return writeRow([...fixed, ...values]);
}

/**
 * Returns every key in use, registered keys first in the order of first use. Keys added during the export are missing. Empty keys from old
 * data are skipped, because no import accepts a column without a name.
 */
async function listKeys(database: Database, projectId: string, conditions: Conditions): Promise<string[]> {
  const found = new Set<string>();
  for (let after: string | null = null; ;) {
    const look = { after, limit: CONTACTS_PER_SCAN };
    const { keys, last, count } = await listDataKeysAfter(database, projectId, conditions, look);
    for (const key of keys) if (key !== "") found.add(key);
    if (count < CONTACTS_PER_SCAN) break;
    after = last;
  }
  const registered = (await listFieldKeys(database, projectId)).filter((key) => found.has(key));
  return [...new Set([...registered, ...[...found].toSorted()])];
}
