// Redacts the next emails of a project that are old enough, except for the ones kept longer.
import type { Tx } from "../../platform/database/database.ts";
import { firstIdAt } from "../../platform/ids.ts";
import { purgeMessages } from "../../transports/kept-messages.ts";
import { redactEmails } from "../outbox/erase-queries.ts";
import {
  listKeptCampaigns,
  listOldMails,
  listOpenCampaigns,
  listWaitingCampaigns,
  lockEnded,
  updatePosition,
  upsertKeptLonger,
  type OldMail,
  type Retention,
} from "./retention-queries.ts";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/**
 * Emails are redacted one day after they are old enough. By then nearly all were sent long enough ago, and no open transaction has stored a
 * content without its emails.
 */
export const SLACK_MS = DAY_MS;

/** A project's retention at a point in time. */
export interface Turn extends Retention {
  at: Date;
}

/** Returns when to check an email again that has not ended. */
export const inAWhile = ({ at }: Turn) => new Date(at.getTime() + HOUR_MS);

/** Returns when an ended email may be redacted, or null for now. The time counts from its sending. */
export function waitsUntil(turn: Turn, { sentAt }: OldMail): Date | null {
  const untilMs = sentAt === null ? 0 : sentAt.getTime() + turn.days * DAY_MS;
  return untilMs <= turn.at.getTime() ? null : new Date(untilMs);
}

/** Redacts the emails that are old enough and have ended. Returns the ids of all redacted ones. */
export async function redact(tx: Tx, turn: Turn, mails: readonly OldMail[]): Promise<Set<string>> {
  const { projectId } = turn;
  const meant = mails.filter((mail) => !mail.isForgotten && waitsUntil(turn, mail) === null);
  const ids = await lockEnded(
    tx,
    projectId,
    meant.map(({ id }) => id),
  );
  if (ids.length > 0) {
    await redactEmails(tx, projectId, ids);
    await purgeMessages(tx, projectId, ids);
  }
  return new Set([...ids, ...mails.filter((mail) => mail.isForgotten).map(({ id }) => id)]);
}

/**
 * Processes the next emails after the position.
 * @returns whether there was anything to process
 */
export async function passMails(tx: Tx, turn: Turn, batchSize: number): Promise<boolean> {
  const { projectId, position, days, at } = turn;
  // Advance in full hours, so that an idle project is written only once an hour.
  const end = firstIdAt(Math.floor((at.getTime() - days * DAY_MS - SLACK_MS) / HOUR_MS) * HOUR_MS);
  if (position >= end) return false;
  // Read the batches first, because their emails get ids of this range later or at this moment.
  const waiting = await listWaitingCampaigns(tx, projectId, { after: position, last: end });
  const mails = await listOldMails(tx, projectId, { after: position, last: end, limit: batchSize });
  const last = mails.length < batchSize ? end : (mails.at(-1)?.id ?? end);
  const held = await findHeldCampaigns(tx, turn, [...mails, ...waiting]);
  const redacted = await redact(
    tx,
    turn,
    mails.filter(({ campaignId }) => campaignId === null || !held.has(campaignId)),
  );
  const rest = [
    ...mails.filter(({ id }) => !redacted.has(id)).map((mail) => ({ ...mail, lastId: last })),
    ...waiting.map((campaign) => ({ ...campaign, id: campaign.campaignId })),
  ];
  await upsertKeptLonger(
    tx,
    projectId,
    [...Map.groupBy(rest, ({ campaignId, id }) => campaignId ?? id)].map(([id, ofOne]) => ({
      id,
      isCampaign: ofOne.some(({ campaignId }) => campaignId !== null),
      contentId: ofOne[0]?.contentId ?? "",
      afterId: position,
      lastId:
        ofOne
          .map(({ lastId }) => lastId)
          .toSorted()
          .at(-1) ?? last,
      dueAt: inAWhile(turn),
    })),
  );
  await updatePosition(tx, projectId, last);
  return true;
}

/** Returns the campaigns that are kept as a whole because they have not ended or an email was sent late. */
async function findHeldCampaigns(
  tx: Tx,
  turn: Turn,
  passed: ReadonlyArray<OldMail | { campaignId: string }>,
): Promise<Set<string>> {
  const { projectId } = turn;
  const ids = [...new Set(passed.flatMap(({ campaignId }) => campaignId ?? []))];
  if (ids.length === 0) return new Set();
  const late = passed.filter((one) => "sentAt" in one && waitsUntil(turn, one) !== null);
  return new Set([
    ...late.flatMap(({ campaignId }) => campaignId ?? []),
    ...(await listOpenCampaigns(tx, projectId, ids)),
    ...(await listKeptCampaigns(tx, projectId, ids)),
  ]);
}
