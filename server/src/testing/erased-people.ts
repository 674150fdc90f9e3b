// For tests: deleted contacts for those who erase them from mails, when the hash of the address does not matter.
import { NOBODY } from "../platform/ids.ts";
import type { ErasedPerson } from "../emails/outbox/erase-queries.ts";

/** Returns the contacts without their addresses. */
export function erasedPeople(ids: readonly string[]): ErasedPerson[] {
  return ids.map((id) => ({ id, email: "", addressHash: NOBODY }));
}
