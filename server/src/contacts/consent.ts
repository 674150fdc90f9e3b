// The consent log: how each change of a subscription came about (reliability case C7). It proves what a contact agreed to.
// Before it: upsert-contacts.ts and queries.ts write it with each change. After it: routes.ts shows it.
import type { consentChange } from "@postloft/contract/contacts.ts";
import { LIMITS } from "@postloft/contract/limits.ts";
import type { z } from "zod";
import type { Database } from "../platform/database.ts";
import { isId } from "../platform/ids.ts";
import { Refusal } from "../platform/refusal.ts";
import { listConsentRows } from "./consent-queries.ts";
import { findContact } from "./queries.ts";
import type { Via } from "./rules.ts";

export type { ConsentSource, Via } from "./rules.ts";

const BY_KEY: Via = { source: "api", actor: "key", ip: null };

/** A call of the API proper: under a key (`userId` null), or by a person who is logged in. */
export function viaApi(userId: string | null): Via {
  return userId === null ? BY_KEY : { source: "api", actor: userId, ip: null };
}

/** A call that the dashboard makes when a person does it there, and the API when a key does. */
export function viaDashboard(userId: string | null): Via {
  return userId === null ? BY_KEY : { source: "dashboard", actor: userId, ip: null };
}

export type ConsentChange = z.output<typeof consentChange>;

/** The changes of a contact, newest first. @throws Refusal CONTACT_NOT_FOUND, the same for an id of another project. */
export async function listConsentChanges(
  database: Database,
  projectId: string,
  contactId: string,
): Promise<ConsentChange[]> {
  if (!isId(contactId) || (await findContact(database, projectId, contactId)) === undefined)
    throw new Refusal("CONTACT_NOT_FOUND");
  const rows = await listConsentRows(database, projectId, contactId, LIMITS.consentChanges.value);
  return rows.map((row) => ({
    id: row.id,
    subscribed: row.subscribed,
    source: row.source,
    actor: row.actor,
    ip: row.ip,
    at: row.createdAt.toISOString(),
  }));
}
