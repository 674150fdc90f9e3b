// Everything that waited, held after the database went back to an earlier state: what is held, and the verbs that release or drop it.
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
/** Jobs of which mail or calls come: by themselves, or by the workflows that react to what they change. */
const TELLING_JOBS = [AUDIENCE_JOB, CALL_MEMBERS_JOB, IMPORT_KIND, UNDO_KIND, BULK_KIND];
const JOB_DROPPED = "Dropped: the database went back to an earlier state, so it may have been done already.";

/** Where whoever runs the installation sees what is held; it names the two that decide. */
export const HELD_COMMAND = "npm run admin -- held";

/** How much of each is held. */
export interface HeldCounts {
  /** Single mails; those of campaigns wait with their campaign. */
  mails: number;
  /** Campaigns that were sending. */
  campaigns: number;
  /** Of campaigns and of workflows. */
  schedules: number;
  /** Of workflows, under way. */
  executions: number;
  webhooks: number;
  /** Imports, bulk changes, starts of workflows for many. */
  jobs: number;
  /** Whose usage is not metered meanwhile. */
  subscriptions: number;
}

export interface Held extends HeldCounts {
  since: Date;
  reason: string;
}

/** What a decision is about: everything, what belongs to a project, or one campaign of it. */
export interface HeldScope {
  projectId: string | null;
  campaignId: string | null;
}

/**
 * Holds all that waits and tells somebody something: mails, campaigns, schedules, executions of workflows, webhooks, jobs, usage. Returns
 * whether there was anything. What is new leaves all the same. First what makes others: what it made before is held with them.
 */
export async function holdEverything(tx: Tx, reason: string): Promise<boolean> {
  await limitStatements(tx, HOLD_TIMEOUT_MS);
  await holdJobs(tx, TELLING_JOBS);
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

/** null: nothing is held, or no longer. */
export async function readHeld(database: Database): Promise<Held | null> {
  const found = await findHeld(database);
  if (found === null) return null;
  const counts = await countHeld(database);
  return isNothing(counts) ? null : { ...found, ...counts };
}

/** `3 mails, 1 campaign and 2 schedules`; `nothing` */
export function describeHeld(counts: HeldCounts): string {
  const parts = [
    [counts.mails, "mail"],
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

/** As a sentence that anybody may read. */
export function heldSentence(held: Held): string {
  const since = held.since.toISOString().slice(0, 16).replace("T", " ");
  return `Held since ${since} UTC: ${describeHeld(held)}. ${held.reason} Whoever runs the installation decides: ${HELD_COMMAND}`;
}

/** Lets what is held go on as it stands: what these books call unsent is sent. */
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
 * What is held will not be sent: mails are skipped, campaigns and executions cancelled, schedules of campaigns are drafts again, jobs and
 * webhooks fail. Metering begins from now on.
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

/** @returns how much of each is no longer held */
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

/** Has everything held at the next heartbeat or start of a process: for whoever restored the database. */
export async function holdSoon(database: Database): Promise<void> {
  await transaction(database, askToHold);
}
