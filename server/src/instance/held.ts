// Everything that waited, held after the database went back to an earlier state: what is held, and the verbs that release or drop it.
// Before it: platform/stamp notices; a person decides (server/src/admin.ts). After it: mails leave, or never do.
import { holdUsage } from "../billing/report-usage.ts";
import { limitStatements, transaction, type Database, type Tx } from "../platform/database.ts";
import { askToHold, findHeld, markHeld, markReleased } from "../platform/stamp/stamp.ts";
import {
  countHeldEmails,
  dropHeldMails,
  holdWaitingMails,
  releaseHeldMails,
} from "../emails/outbox/held-emails.ts";
import {
  countHeldCampaigns,
  dropHeldCampaigns,
  holdCampaigns,
  releaseHeldCampaigns,
} from "../campaigns/held-campaigns.ts";

/** A queue may be long. */
const HOLD_TIMEOUT_MS = 10 * 60_000;

/** Where whoever runs the installation sees what is held; it names the two that decide. */
export const HELD_COMMAND = "npm run admin -- held";

export interface Held {
  since: Date;
  reason: string;
  /** Single mails; those of campaigns wait with their campaign. */
  mails: number;
  /** Campaigns that were sending. */
  campaigns: number;
  schedules: number;
}

/** What a decision is about: everything, what belongs to a project, or one campaign of it. */
export interface HeldScope {
  projectId: string | null;
  campaignId: string | null;
}

/** Holds all mails, campaigns and schedules that wait; answers whether there was anything. New mail leaves all the same. */
export async function holdEverything(tx: Tx, reason: string): Promise<boolean> {
  await limitStatements(tx, HOLD_TIMEOUT_MS);
  const mails = await holdWaitingMails(tx);
  const { sending, scheduled } = await holdCampaigns(tx);
  await holdUsage(tx);
  if (mails + sending + scheduled === 0) return false;
  await markHeld(tx, reason);
  return true;
}

/** null: nothing is held, or no longer. */
export async function readHeld(database: Database): Promise<Held | null> {
  const found = await findHeld(database);
  if (found === null) return null;
  const mails = await countHeldEmails(database);
  const { sending, scheduled } = await countHeldCampaigns(database);
  return mails + sending + scheduled === 0
    ? null
    : { ...found, mails, campaigns: sending, schedules: scheduled };
}

/** `3 mails, 1 campaign and 2 schedules` */
export function describeHeld({ mails, campaigns, schedules }: Held): string {
  const parts = [
    [mails, "mail"],
    [campaigns, "campaign"],
    [schedules, "schedule"],
  ] as const;
  const texts = parts.flatMap(([count, noun]) =>
    count === 0 ? [] : [`${count} ${noun}${count === 1 ? "" : "s"}`],
  );
  return texts.join(", ").replace(/, ([^,]*)$/, " and $1");
}

/** As a sentence that anybody may read. */
export function heldSentence(held: Held): string {
  const since = held.since.toISOString().slice(0, 16).replace("T", " ");
  return `Held since ${since} UTC: ${describeHeld(held)}. ${held.reason} Whoever runs the installation decides: ${HELD_COMMAND}`;
}

export interface Decided {
  mails: number;
  campaigns: number;
}

/** Lets what is held go on as it stands: what these books call unsent is sent. */
export async function releaseHeld(database: Database, scope: HeldScope): Promise<Decided> {
  return decide(database, scope, releaseHeldMails, releaseHeldCampaigns);
}

/** What is held will not be sent: mails are skipped, campaigns cancelled, schedules drafts again. */
export async function dropHeld(database: Database, scope: HeldScope): Promise<Decided> {
  return decide(database, scope, dropHeldMails, dropHeldCampaigns);
}

async function decide(
  database: Database,
  scope: HeldScope,
  decideMails: (tx: Tx, projectId: string | null) => Promise<number>,
  decideCampaigns: (tx: Tx, scope: HeldScope) => Promise<number>,
): Promise<Decided> {
  return transaction(database, async (tx) => {
    await limitStatements(tx, HOLD_TIMEOUT_MS);
    const mails = scope.campaignId === null ? await decideMails(tx, scope.projectId) : 0;
    const campaigns = await decideCampaigns(tx, scope);
    if ((await readHeld(tx)) === null) await markReleased(tx);
    return { mails, campaigns };
  });
}

/** Has everything held at the next heartbeat or start of a process: for whoever restored the database. */
export async function holdSoon(database: Database): Promise<void> {
  await transaction(database, askToHold);
}
