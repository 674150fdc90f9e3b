// Provides deleted contacts for tests that erase them from emails and do not need the hash of the address.
import { NO_ONE } from "../platform/ids.ts";
import type { ErasedPerson } from "../emails/outbox/erase-queries.ts";

/** Returns the contacts without their addresses. */
export function erasedPeople(ids: readonly string[]): ErasedPerson[] {
  return ids.map((id) => ({ id, email: "", addressHash: NO_ONE }));
}
