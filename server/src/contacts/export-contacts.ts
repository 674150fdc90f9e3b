// Contacts as CSV, written while it is read: whoever reads slowly makes us read slowly, and whoever goes away ends it.
import { headerOf } from "@postloft/contract/contact-file/field-names.ts";
import type { Database } from "../platform/database/database.ts";
import { writeRow } from "./cell-text.ts";
import {
  listContactsAfter,
  listDataKeysAfter,
  listFieldKeys,
  type Conditions,
  type ExportedRow,
} from "./export-queries.ts";

const CONTACTS_A_BATCH = 1_000;
const CONTACTS_A_LOOK = 5_000;
const FIXED_COLUMNS = ["email", "subscribed", "createdAt"];

/** The lines of the file, many at a time; `conditions` are those of list-contacts.ts. */
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

function writeContact(row: ExportedRow, keys: readonly string[]): string {
  const data = row.data as Record<string, unknown>;
  const values = keys.map((key) => (Object.hasOwn(data, key) ? data[key] : null));
  return writeRow([row.email, row.subscribed, row.createdAt.toISOString(), ...values]);
}

/**
 * Every key that occurs: registered ones first, in the order in which they were first seen. A key that comes later is not in the file, nor is
 * an empty one, which may be there from before: no import takes a column without a name.
 */
async function listKeys(database: Database, projectId: string, conditions: Conditions): Promise<string[]> {
  const found = new Set<string>();
  for (let after: string | null = null; ;) {
    const look = { after, limit: CONTACTS_A_LOOK };
    const { keys, last, count } = await listDataKeysAfter(database, projectId, conditions, look);
    for (const key of keys) if (key !== "") found.add(key);
    if (count < CONTACTS_A_LOOK) break;
    after = last;
  }
  const registered = (await listFieldKeys(database, projectId)).filter((key) => found.has(key));
  return [...new Set([...registered, ...[...found].toSorted()])];
}
