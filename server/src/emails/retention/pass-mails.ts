// The next mails of a project that are old enough are forgotten, but for those that are kept longer.
import type { Tx } from "../../platform/database.ts";
import { firstIdAt } from "../../platform/ids.ts";
import { forgetMessages } from "../../transports/kept-messages.ts";
import { forgetEmails } from "../outbox/erase-queries.ts";
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
 * Mails are passed a day after they are old enough: by then nearly all have also left so many days ago, and no transaction is open
 * any more that has named a content and not yet written its mails.
 */
export const SLACK_MS = DAY_MS;

/** What a project keeps, as of when. */
export interface Turn extends Retention {
  at: Date;
}

/** When what is still open is looked at again. */
export const inAWhile = ({ at }: Turn) => new Date(at.getTime() + HOUR_MS);

/** When a mail may be forgotten that has ended; null: now. One that left late counts from then. */
export function waitsUntil(turn: Turn, { sentAt }: OldMail): Date | null {
  const untilMs = sentAt === null ? 0 : sentAt.getTime() + turn.days * DAY_MS;
  return untilMs <= turn.at.getTime() ? null : new Date(untilMs);
}

/** Forgets mails that may be, if they still have ended; returns those that are forgotten. */
export async function forget(tx: Tx, turn: Turn, mails: readonly OldMail[]): Promise<Set<string>> {
  const { projectId } = turn;
  const meant = mails.filter((mail) => !mail.isForgotten && waitsUntil(turn, mail) === null);
  const ids = await lockEnded(
    tx,
    projectId,
    meant.map(({ id }) => id),
  );
  if (ids.length > 0) {
    await forgetEmails(tx, projectId, ids);
    await forgetMessages(tx, projectId, ids);
  }
  return new Set([...ids, ...mails.filter((mail) => mail.isForgotten).map(({ id }) => id)]);
}

/** Passes the next mails behind the position. @returns whether there was anything to pass */
export async function passMails(tx: Tx, turn: Turn, batchSize: number): Promise<boolean> {
  const { projectId, position, days, at } = turn;
  // By the hour, so that a project in which nothing happens is written once an hour.
  const end = firstIdAt(Math.floor((at.getTime() - days * DAY_MS - SLACK_MS) / HOUR_MS) * HOUR_MS);
  if (position >= end) return false;
  // First those who wait in batches: their mails get ids of this range when the position is long past it, or right now.
  const waiting = await listWaitingCampaigns(tx, projectId, { after: position, last: end });
  const mails = await listOldMails(tx, projectId, { after: position, last: end, limit: batchSize });
  const last = mails.length < batchSize ? end : (mails.at(-1)?.id ?? end);
  const held = await findHeldCampaigns(tx, turn, [...mails, ...waiting]);
  const forgotten = await forget(
    tx,
    turn,
    mails.filter(({ campaignId }) => campaignId === null || !held.has(campaignId)),
  );
  const rest = [
    ...mails.filter(({ id }) => !forgotten.has(id)).map((mail) => ({ ...mail, lastId: last })),
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

/** Those of these campaigns that are kept longer, whole: of one that is not over, or of which a mail left late. */
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
