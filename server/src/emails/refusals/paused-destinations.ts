// Destinations that refuse a campaign, or list mail of no campaign, for reasons of ours: mail for them waits apart, a few try again by
// themselves, all go on when they may.
import { transaction, type Database, type Tx } from "../../platform/database.ts";
import { Refusal } from "../../platform/refusal.ts";
import { domainsOf } from "../../transports/destinations.ts";
import {
  claimTry,
  deleteReleased,
  findTrial,
  insertPaused,
  listPaused,
  listTended,
  parkMails,
  unparkMails,
  updateReleased,
  updateTold,
  updateTrial,
  updateTryFailed,
  type PausedKey,
  type PausedRow,
} from "./paused-queries.ts";
import type { RefusedDestination } from "./refusal-watch.ts";

/** A few mails try after so long; refused again, after twice as long each time, up to a day. */
export const FIRST_TRY_SECONDS = 3_600;
const LONGEST_WAIT_SECONDS = 86_400;
/** Fewer than what pauses a destination. */
export const TRIAL_MAILS = 10;
/** Mails of a try that nobody answers for so long are not waited for. */
const TRIAL_PATIENCE_SECONDS = 600;
/** Of those that tried, one in so many refused again is too much. */
const REFUSED_SHARE = 5;
const PARKED_AT_ONCE = 5_000;
/** In one look: what is left is there at the next. */
const MAX_STEPS = 20;

export type PausedDestination = PausedRow;

/** Pauses a destination; false: its campaign is not sending, or goes nowhere else, and pauses as a whole. */
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

export interface PausedDestinationView {
  destination: string;
  domains: string[];
  answer: string;
  since: string;
  nextTryAt: string;
  whatToDo: string;
}

/** The destinations that a campaign, or list mail of no campaign, waits for. */
export async function readPausedDestinations(
  database: Database,
  key: PausedKey,
): Promise<PausedDestinationView[]> {
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

/** What a person does about a destination that is paused. */
export function whatToDo(campaignId: string | null): string {
  const call = campaignId === null ? "/emails/release" : `/campaigns/${campaignId}/release`;
  return (
    "Look up what the answer says, and mend it: blocklists, DNS of the sender, complaints. Then let its mail go on " +
    `(POST ${call}). By itself a few mails try again, after an hour first.`
  );
}

/** Lets mail for a destination go on, or for all (null). @throws Refusal CONFLICT when none is paused. */
export async function releaseDestinations(tx: Tx, key: PausedKey, destination: string | null): Promise<void> {
  if ((await updateReleased(tx, key, destination)).length > 0) return;
  const whose = key.campaignId === null ? "list mail" : "the campaign";
  throw new Refusal("CONFLICT", {
    message:
      destination === null
        ? `No destination of ${whose} is paused.`
        : `${destination} is not among the paused destinations of ${whose}.`,
  });
}

/** Those of campaigns that are sending and of list mail of no campaign, released ones too. */
export async function listPausedDestinations(database: Database): Promise<PausedDestination[]> {
  return listTended(database);
}

/** Whether the members are to be told of it now; once for each campaign and destination, and for each pause of list mail. */
export async function isToBeTold(tx: Tx, paused: PausedDestination): Promise<boolean> {
  return paused.releasedAt === null && updateTold(tx, paused);
}

/** Parks what waits for a destination that is paused, or lets go on what is parked at one that is not. */
export async function moveParked(database: Database, paused: PausedDestination): Promise<void> {
  for (let step = 0; step < MAX_STEPS; step++) {
    const moved =
      paused.releasedAt === null
        ? await transaction(database, (tx) => parkMails(tx, paused, PARKED_AT_ONCE))
        : (await unparkMails(database, paused, PARKED_AT_ONCE)).length;
    if (moved < PARKED_AT_ONCE) break;
  }
  if (paused.releasedAt !== null && paused.campaignId === null) await deleteReleased(database, paused);
}

/** Lets a few try when it is time, and judges how they fared: `taken` when mail goes on. */
export async function tryPaused(
  database: Database,
  paused: PausedDestination,
): Promise<"waits" | "tries" | "refused" | "taken"> {
  return transaction(database, async (tx) => {
    if (await claimTry(tx, paused)) {
      const ids = await unparkMails(tx, paused, TRIAL_MAILS);
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
