// Redacts emails and campaigns that were kept longer because they had not ended or were sent late.
import type { Tx } from "../../platform/database/database.ts";
import { passContentsAgain } from "./content-queries.ts";
import { redact, inAWhile, waitsUntil, type Turn } from "./pass-mails.ts";
import {
  deleteKeptLonger,
  listDueKeptLonger,
  listEmailsById,
  listOldMails,
  listOpenCampaigns,
  updateKeptLonger,
  type KeptLonger,
} from "./retention-queries.ts";

/**
 * Redacts emails, or the next part of a campaign, if they have ended and are old enough by now.
 * @returns whether any check was due
 */
export async function recheckKeptLonger(tx: Tx, turn: Turn, batchSize: number): Promise<boolean> {
  const due = await listDueKeptLonger(tx, turn.projectId, turn.at, batchSize);
  const mails = due.filter(({ isCampaign }) => !isCampaign);
  const campaign = due.find(({ isCampaign }) => isCampaign);
  if (mails.length > 0) await recheckEmails(tx, turn, mails);
  if (campaign !== undefined) await recheckCampaign(tx, turn, campaign, batchSize);
  return due.length > 0;
}

async function recheckEmails(tx: Tx, turn: Turn, due: readonly KeptLonger[]): Promise<void> {
  const { projectId } = turn;
  const mails = await listEmailsById(
    tx,
    projectId,
    due.map(({ id }) => id),
  );
  const redacted = await redact(tx, turn, mails);
  const rest = mails.filter(({ id }) => !redacted.has(id));
  const later = new Map(rest.map((mail) => [mail.id, waitsUntil(turn, mail) ?? inAWhile(turn)]));
  await updateKeptLonger(
    tx,
    projectId,
    due.flatMap(({ id, afterId }) => {
      const dueAt = later.get(id);
      return dueAt === undefined ? [] : [{ id, afterId, dueAt }];
    }),
  );
  await endKeeping(
    tx,
    projectId,
    due.filter(({ id }) => !later.has(id)),
  );
}

async function recheckCampaign(tx: Tx, turn: Turn, campaign: KeptLonger, batchSize: number): Promise<void> {
  const { projectId, position } = turn;
  const { id, afterId, lastId } = campaign;
  const later = async (next: { afterId: string; dueAt: Date }) =>
    updateKeptLonger(tx, projectId, [{ id, ...next }]);
  if ((await listOpenCampaigns(tx, projectId, [id])).length > 0)
    return later({ afterId, dueAt: inAWhile(turn) });
  const range = await listOldMails(tx, projectId, {
    after: afterId,
    // The main pass covers all ids beyond the position.
    last: lastId < position ? lastId : position,
    limit: batchSize,
  });
  // Few rows are of other campaigns, because the ids of a campaign are close together.
  const mails = range.filter(({ campaignId }) => campaignId === id);
  const redacted = await redact(tx, turn, mails);
  // Process in order. Emails were sent in roughly this order, so each is checked about once.
  const firstLeft = mails.findIndex((mail) => !redacted.has(mail.id));
  const waiting = mails[firstLeft];
  if (waiting !== undefined)
    return later({
      afterId: mails[firstLeft - 1]?.id ?? afterId,
      dueAt: waitsUntil(turn, waiting) ?? inAWhile(turn),
    });
  if (range.length === batchSize) return later({ afterId: range.at(-1)?.id ?? afterId, dueAt: turn.at });
  return endKeeping(tx, projectId, [campaign]);
}

/** Ends the tracking of emails and campaigns that are fully redacted, so that their contents can be redacted too. */
async function endKeeping(tx: Tx, projectId: string, ended: readonly KeptLonger[]): Promise<void> {
  if (ended.length === 0) return;
  await deleteKeptLonger(
    tx,
    projectId,
    ended.map(({ id }) => id),
  );
  await passContentsAgain(
    tx,
    projectId,
    ended.map(({ contentId }) => contentId),
  );
}
