// The consent log records how each subscription changed (reliability case C7), as proof of the contact's consent.
import type { consentChange } from "@postloft/contract/contacts.ts";
import { LIMITS } from "@postloft/contract/limits/limits.ts";
import type { z } from "zod";
import type { Database } from "../platform/database/database.ts";
import { isId } from "../platform/ids.ts";
import { AppError } from "../platform/app-error.ts";
import { readEmailNames, type EmailName } from "../emails/reading/email-statuses.ts";
import { listConsentRows } from "./consent-queries.ts";
import { findContact } from "./queries.ts";
import type { ChangeSource } from "./rules.ts";

export type { ConsentSource, ChangeSource } from "./rules.ts";

export const BY_KEY: ChangeSource = { source: "api", actor: "key", ip: null };
/** The actor of calls with a public key in the consent log. */
export const PUBLIC_KEY = "public-key";
/** A call with a public key, which anyone can make. */
export const VIA_PUBLIC_KEY: ChangeSource = {
  source: "api",
  actor: PUBLIC_KEY,
  ip: null,
  fromPublicKey: true,
};

/** Returns the source of an API call, made with a key (`userId` null) or by a signed-in user. */
export function viaApi(userId: string | null): ChangeSource {
  return userId === null ? BY_KEY : { source: "api", actor: userId, ip: null };
}

/** Returns the source of a call that users make in the dashboard and keys make through the API. */
export function viaDashboard(userId: string | null): ChangeSource {
  return userId === null ? BY_KEY : { source: "dashboard", actor: userId, ip: null };
}

export type ConsentChange = z.output<typeof consentChange>;

/** Campaign names for the consent log, provided by campaigns/ through api.ts. */
export interface CampaignNames {
  /** Returns the names of campaigns by their ids. */
  campaignNames: (
    database: Database,
    projectId: string,
    ids: readonly string[],
  ) => Promise<ReadonlyMap<string, string>>;
}

/**
 * Returns the subscription changes of a contact, newest first.
 * @throws AppError CONTACT_NOT_FOUND, also for a contact of another project.
 */
export async function listConsentChanges(
  database: Database,
  projectId: string,
  contactId: string,
  { campaignNames }: CampaignNames,
): Promise<ConsentChange[]> {
  if (!isId(contactId) || (await findContact(database, projectId, contactId)) === undefined)
    throw new AppError("CONTACT_NOT_FOUND");
  const rows = await listConsentRows(database, projectId, contactId, LIMITS.consentChanges.value);
  const emails = await readEmailNames(database, projectId, unique(rows.map(({ emailId }) => emailId)));
  const names = await readCampaignNames(emails);
  const emailOf = (emailId: string | null) => {
    const email = emails.get(emailId ?? "");
    if (email === undefined) return null;
    const { id, subject, campaignId } = email;
    const name = names.get(campaignId ?? "");
    const campaign = campaignId === null || name === undefined ? null : { id: campaignId, name };
    return { id, subject, campaign };
  };
  return rows.map((row) => ({
    id: row.id,
    subscribed: row.subscribed,
    source: row.source,
    actor: row.actor,
    ip: row.ip,
    email: emailOf(row.emailId),
    at: row.createdAt.toISOString(),
  }));

  async function readCampaignNames(named: ReadonlyMap<string, EmailName>) {
    const ids = unique([...named.values()].map(({ campaignId }) => campaignId));
    return ids.length === 0 ? new Map<string, string>() : campaignNames(database, projectId, ids);
  }
}

function unique(ids: ReadonlyArray<string | null>): string[] {
  return [...new Set(ids.filter((id) => id !== null))];
}
