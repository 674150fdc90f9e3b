// Reads the contact data that the sender needs to render an email.
import type { Database } from "../platform/database/database.ts";
import { readContactsForRendering } from "./contacts.ts";
import { findKnownKeys } from "./fields/fields.ts";

/** Returns the two readers for the sender, which is in an earlier folder. */
export function renderingDataOf(database: Database) {
  return {
    readContacts: (keys: Parameters<typeof readContactsForRendering>[1]) =>
      readContactsForRendering(database, keys),
    findFields: (projectId: string, names: readonly string[]) => findKnownKeys(database, projectId, names),
  };
}
