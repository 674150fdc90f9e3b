// Holds everything that was waiting after a database rollback, and releases or drops it.
import { countHeldMetering, holdUsage, releaseHeldUsage } from "../billing/report-usage.ts";
import { limitStatements, transaction, type Database, type Tx } from "../platform/database/database.ts";
import { countHeldJobs, dropHeldJobs, holdJobs, releaseHeldJobs } from "../platform/background/jobs.ts";
import { askToHold, findHeld, markHeld, markReleased } from "../platform/stamp/stamp.ts";
import { BULK_KIND } from "../contacts/bulk/bulk-changes.ts";
import { IMPORT_KIND } from "../contacts/import/import-contacts.ts";
import { UNDO_KIND } from "../contacts/import/undo-import.ts";
import {
  countHeldEmails,
  dropHeldMails,
  holdWaitingMails,
  releaseHeldMails,
} from "../emails/lease/held-emails.ts";
import { CALL_MEMBERS_JOB } from "../projects/members/notifications.ts";
import { countHeldCalls, dropHeldCalls, holdCalls, releaseHeldCalls } from "../webhooks/held-calls.ts";
import { AUDIENCE_JOB } from "../workflows/executions/start-executions.ts";
import {
  countHeldExecutions,
  countHeldSchedules,
  dropHeldWorkflows,
  holdWorkflows,
  releaseHeldWorkflows,
} from "../workflows/executions/held-workflows.ts";
import {
  countHeldCampaigns,
  dropHeldCampaigns,
  holdCampaigns,
  releaseHeldCampaigns,
} from "../campaigns/held-campaigns.ts";

/** A queue may be long. */
const HOLD_TIMEOUT_MS = 10 * 60_000;
/** Jobs that lead to emails or calls, directly or through workflows that react to their changes. */
const NOTIFYING_JOBS = [AUDIENCE_JOB, CALL_MEMBERS_JOB, IMPORT_KIND, UNDO_KIND, BULK_KIND];
const JOB_DROPPED = "Dropped because the database was rolled back, so it may have run already.";

/** Shows instance admins what is held and names the two commands for it. */
export const HELD_COMMAND = "npm run admin -- held";

/** The number of held items of each kind. */
export interface HeldCounts {
  /** Single emails; those of campaigns wait with their campaign. */
  mails: number;
  /** Campaigns that were sending. */
  campaigns: number;
  /** Campaign and workflow schedules. */
  schedules: number;
  /** Running workflow executions. */
  executions: number;
  webhooks: number;
  /** Imports, bulk changes and bulk workflow starts. */
  jobs: number;
  /** Subscriptions without metering while held. */
  subscriptions: number;
}

export interface Held extends HeldCounts {
  since: Date;
  reason: string;
}

/** The scope to release or drop: everything, one project, or one campaign. */
export interface HeldScope {
  projectId: string | null;
  campaignId: string | null;
}

/**
 * Holds everything that would notify someone: emails, campaigns, schedules, workflow executions, webhooks, jobs and usage. New items are
 * not held. Holds producers first, so that everything they already created is held too. Returns whether there was anything.
 */
export async function holdEverything(tx: Tx, reason: string): Promise<boolean> {
  await limitStatements(tx, HOLD_TIMEOUT_MS);
  await holdJobs(tx, NOTIFYING_JOBS);
  await holdWorkflows(tx);
  await holdCalls(tx);
  await holdCampaigns(tx);
  await holdWaitingMails(tx);
  await holdUsage(tx);
  if (isNothing(await countHeld(tx))) return false;
  await markHeld(tx, reason);
  return true;
}

async function countHeld(database: Database): Promise<HeldCounts> {
  const { sending: campaigns, scheduled } = await countHeldCampaigns(database);
  return {
    mails: await countHeldEmails(database),
    campaigns,
    schedules: scheduled + (await countHeldSchedules(database)),
    executions: await countHeldExecutions(database),
    webhooks: await countHeldCalls(database),
    jobs: await countHeldJobs(database),
    subscriptions: await countHeldMetering(database),
  };
}

const isNothing = (counts: HeldCounts) => Object.values(counts).every((count) => count === 0);

/** Returns what is held, or null if nothing is held. */
export async function readHeld(database: Database): Promise<Held | null> {
  const found = await findHeld(database);
  if (found === null) return null;
  const counts = await countHeld(database);
  return isNothing(counts) ? null : { ...found, ...counts };
}

/** Returns a text such as `3 emails, 1 campaign and 2 schedules`; `nothing` if all are 0. */
export function describeHeld(counts: HeldCounts): string {
  const parts = [
    [counts.mails, "email"],
    [counts.campaigns, "campaign"],
    [counts.schedules, "schedule"],
    [counts.executions, "execution of workflows"],
    [counts.webhooks, "webhook"],
    [counts.jobs, "job"],
    [counts.subscriptions, "metered subscription"],
  ] as const;
  const texts = parts.flatMap(([count, noun]) =>
    count === 0 ? [] : [`${count} ${count === 1 ? noun : noun.replace(/^execution|[a-z]$/, "$&s")}`],
  );
  return texts.length === 0 ? "nothing" : texts.join(", ").replace(/, ([^,]*)$/, " and $1");
}

/** Returns a sentence that is safe to publish. */
export function heldSentence(held: Held): string {
  const since = held.since.toISOString().slice(0, 16).replace("T", " ");
  return `On hold since ${since} UTC: ${describeHeld(held)}. ${held.reason} The administrator can release or drop them: ${HELD_COMMAND}`;
}

/** Releases what is held in its current state, so that everything recorded as unsent is sent. */
export async function releaseHeld(database: Database, scope: HeldScope): Promise<HeldCounts> {
  return decide(database, scope, releaseHeldCampaigns, [
    releaseHeldUsage,
    releaseHeldMails,
    releaseHeldCalls,
    releaseHeldWorkflows,
    releaseHeldJobs,
  ]);
}

/**
 * Drops what is held: skips emails, cancels campaigns and executions, turns campaign schedules into drafts, and fails jobs and webhooks.
 * Metering starts again now.
 */
export async function dropHeld(database: Database, scope: HeldScope): Promise<HeldCounts> {
  return decide(database, scope, dropHeldCampaigns, [
    releaseHeldUsage,
    dropHeldMails,
    dropHeldCalls,
    dropHeldWorkflows,
    (tx, projectId) => dropHeldJobs(tx, projectId, JOB_DROPPED),
  ]);
}

/** @returns how many of each are no longer held */
async function decide(
  database: Database,
  scope: HeldScope,
  decideCampaigns: (tx: Tx, scope: HeldScope) => Promise<unknown>,
  others: ReadonlyArray<(tx: Tx, projectId: string | null) => Promise<unknown>>,
): Promise<HeldCounts> {
  return transaction(database, async (tx) => {
    await limitStatements(tx, HOLD_TIMEOUT_MS);
    const before = await countHeld(tx);
    await decideCampaigns(tx, scope);
    if (scope.campaignId === null) for (const decideOne of others) await decideOne(tx, scope.projectId);
    const after = await countHeld(tx);
    if (isNothing(after)) await markReleased(tx);
    const names = Object.keys(before) as Array<keyof HeldCounts>;
    return Object.fromEntries(
      names.map((name) => [name, before[name] - after[name]]),
    ) as unknown as HeldCounts;
  });
}

/** Holds everything at the next heartbeat or start of a process. Used after restoring a database. */
export async function holdSoon(database: Database): Promise<void> {
  await transaction(database, askToHold);
}
