// Throttles destinations that reject a campaign, or bulk mail outside campaigns, for policy reasons. Emails for them are deferred, a few
// canaries test the destination automatically, and all are sent once it accepts email again.
import type * as contract from "@postloft/contract/emails.ts";
import type { z } from "zod";
import { asMessage, withValues } from "@postloft/contract/translation.ts";
import { transaction, type Database, type Tx } from "../../platform/database/database.ts";
import { AppError } from "../../platform/app-error.ts";
import { domainsOf } from "../../transports/destinations.ts";
import {
  claimTry,
  deleteReleased,
  findTrial,
  insertPaused,
  listPaused,
  listTended,
  deferEmails,
  requeueDeferred,
  updateReleased,
  updateNotified,
  updateTrial,
  updateTryFailed,
  type PausedKey,
  type PausedRow,
} from "./throttled-queries.ts";
import type { RefusedDestination } from "./rejection-watch.ts";

/** Wait before the first canaries. It doubles after each failed test, up to one day. */
const FIRST_TRY_SECONDS = 3_600;
const LONGEST_WAIT_SECONDS = 86_400;
/** Canaries per test. Fewer than the rejections that throttle a destination. */
const CANARY_EMAILS = 10;
/** How long to wait for the results of canaries. */
const TRIAL_PATIENCE_SECONDS = 600;
/** A test fails if more than one in this many canaries is rejected again. */
const REFUSED_SHARE = 5;
const MAX_MOVED_PER_STEP = 5_000;
/** Steps per check. Any remaining emails are moved at the next check. */
const MAX_STEPS = 20;

export type PausedDestination = PausedRow;

/**
 * Throttles a destination. Returns false if its campaign is not sending or has no other destination, in which case the campaign pauses as a
 * whole.
 */
export async function pauseDestination(
  database: Database,
  { projectId, campaignId, destination, answer }: RefusedDestination,
): Promise<boolean> {
  const domains = domainsOf(destination);
  return transaction(database, (tx) =>
    insertPaused(
      tx,
      { projectId, campaignId },
      { destination, domains, answer, waitSeconds: FIRST_TRY_SECONDS },
    ),
  );
}

export type ThrottledDomainView = z.output<typeof contract.pausedDestination>;

/** Returns the throttled destinations of a campaign, or of bulk mail outside campaigns. */
export async function readThrottledDomains(
  database: Database,
  key: PausedKey,
): Promise<ThrottledDomainView[]> {
  const rows = await listPaused(database, key);
  return rows.map((row) => ({
    destination: row.destination,
    domains: row.domains,
    answer: row.answer,
    since: row.since.toISOString(),
    nextTryAt: row.tryAt.toISOString(),
    whatToDo: whatToDo(row.campaignId),
  }));
}

/** Returns the advice for a person about a throttled destination. */
function whatToDo(campaignId: string | null): string {
  const call = campaignId === null ? "/emails/release" : `/campaigns/${campaignId}/release`;
  return (
    "Read the provider's reply and fix the cause, such as a blocklist, the DNS of the sender domain, or complaints. " +
    `Then resume delivery with POST ${call}. A few emails are retried automatically, the first after one hour.`
  );
}

/**
 * Releases one throttled destination, or all if it is null.
 * @throws AppError CONFLICT if none is throttled
 */
export async function releaseDestinations(tx: Tx, key: PausedKey, destination: string | null): Promise<void> {
  if ((await updateReleased(tx, key, destination)).length > 0) return;
  const owner = key.campaignId === null ? "bulk email" : "the campaign";
  throw new AppError(
    "CONFLICT",
    asMessage(
      destination === null
        ? withValues("No domain of {owner} is throttled.", { owner })
        : withValues("{destination} is not a throttled domain of {owner}.", { destination, owner }),
    ),
  );
}

/** Lists the destinations of sending campaigns and of bulk mail outside campaigns, including released ones. */
export async function listPausedDestinations(database: Database): Promise<PausedDestination[]> {
  return listTended(database);
}

/**
 * Returns whether to notify the project's members now. True once per campaign and destination, and once for each time bulk mail is
 * throttled.
 */
export async function isToBeNotified(tx: Tx, paused: PausedDestination): Promise<boolean> {
  return paused.releasedAt === null && updateNotified(tx, paused);
}

/** Defers the emails that wait for a throttled destination, or requeues the deferred ones if it has been released. */
export async function moveDeferred(database: Database, paused: PausedDestination): Promise<void> {
  for (let step = 0; step < MAX_STEPS; step++) {
    const moved =
      paused.releasedAt === null
        ? await transaction(database, (tx) => deferEmails(tx, paused, MAX_MOVED_PER_STEP))
        : (await requeueDeferred(database, paused, MAX_MOVED_PER_STEP)).length;
    if (moved < MAX_MOVED_PER_STEP) break;
  }
  if (paused.releasedAt !== null && paused.campaignId === null) await deleteReleased(database, paused);
}

/** Sends canaries when a test is due, and evaluates the previous ones. Returns `taken` if the destination accepts email again. */
export async function tryPaused(
  database: Database,
  paused: PausedDestination,
): Promise<"waits" | "tries" | "refused" | "taken"> {
  return transaction(database, async (tx) => {
    if (await claimTry(tx, paused)) {
      const ids = await requeueDeferred(tx, paused, CANARY_EMAILS);
      if (ids.length > 0) await updateTrial(tx, paused, ids);
      return ids.length > 0 ? "tries" : "waits";
    }
    const trial = await findTrial(tx, paused, TRIAL_PATIENCE_SECONDS);
    if (trial === undefined || (trial.pending > 0 && !trial.isOver)) return "waits";
    const { ended, refused } = trial;
    if (ended > 0 && refused * REFUSED_SHARE <= ended) {
      const key = { projectId: paused.projectId, campaignId: paused.campaignId };
      await updateReleased(tx, key, paused.destination);
      return "taken";
    }
    const waitSeconds = Math.min(LONGEST_WAIT_SECONDS, FIRST_TRY_SECONDS * 2 ** (paused.failedTries + 1));
    await updateTryFailed(tx, paused, { answer: trial.answer ?? paused.answer, waitSeconds });
    return "refused";
  });
}
