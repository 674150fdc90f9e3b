// Reconciles the emails that this process submitted after a failover to a standby that lacks the last commits. Runs before any new claim.
// Sent emails are recorded again, and emails without a reply return to submission so that their reply can be recorded.
import { allowLongWork, transaction, type Database, type Tx } from "../../platform/database/database.ts";
import type { Log } from "../../platform/log.ts";
import type { RecoveryParticipant } from "../../platform/stamp/stamp.ts";
import type { SubmissionMemory, Remembered } from "./submission-memory.ts";
import type { Lease } from "../lease/lease.ts";
import { recordAgain, type Feedbacks } from "../results/outcomes.ts";
import { updateInDoubt } from "../lease/lease-queries.ts";
import type { RecipientChecks } from "../rows/recipients.ts";
import { requeueAll, listWithoutRow, takeBack } from "./reconcile-queries.ts";

export interface LostCampaign {
  projectId: string;
  campaignId: string;
  /** Emails of the campaign that were sent. */
  mails: number;
}

/** Prevents campaigns from starting twice when the database lost their start but their emails were sent. */
export type HoldCampaigns = (tx: Tx, redacted: readonly LostCampaign[]) => Promise<void>;

/** Email ids per log line. */
const NAMED = 100;

export function createRecoveryParticipant(parts: {
  memory: SubmissionMemory;
  lease: Lease;
  transportName: string;
  applyFeedback: Feedbacks;
  holdCampaigns: HoldCampaigns;
  recipients: Pick<RecipientChecks, "contactsThere">;
  log: Log;
}): RecoveryParticipant {
  const { memory, lease, log } = parts;

  async function reconcile(database: Database): Promise<void> {
    const known = memory.all().filter(mayHaveBeenSent);
    const found = await transaction(database, async (tx) => {
      // Allow a long transaction, because this is retried until it succeeds.
      await allowLongWork(tx);
      await lease.registerAgain(tx);
      const rows = known.map(({ row }) => row);
      await requeueAll(tx, lease.senderId());
      const taken = await takeBack(tx, lease.senderId(), rows, parts.recipients.contactsThere);
      const replied = known.filter(({ row, outcome }) => outcome !== null && taken.has(row.id));
      const unanswered = known.filter(({ row, outcome }) => outcome === null && taken.has(row.id));
      await updateInDoubt(
        tx,
        lease.senderId(),
        unanswered.map(({ row }) => row.id),
      );
      await recordAgain(tx, replied, { ...parts, senderId: lease.senderId() });
      const gone = await listWithoutRow(tx, rows);
      const lost = known.filter(({ row }) => gone.has(row.id));
      await parts.holdCampaigns(tx, campaignsOf(lost));
      return { sent: replied.length, inHandover: unanswered.length, lost };
    });
    const { lost, ...counts } = found;
    log.warn(
      { remembered: known.length, ...counts },
      "restored the outcomes of submissions that the database had lost",
    );
    for (let at = 0; at < lost.length; at += NAMED) {
      const emails = lost.slice(at, at + NAMED).map(({ row }) => ({
        projectId: row.projectId,
        emailId: row.id,
        campaignId: row.campaignId,
      }));
      log.error(
        { count: lost.length, emails },
        "emails were sent that the restored database does not contain",
      );
    }
  }

  return { sinceMs: () => memory.sinceMs(), reconcile };
}

/** Returns whether the email was or may have been sent. Deferred and rejected emails may be retried. */
function mayHaveBeenSent({ outcome }: Remembered): boolean {
  return outcome === null || outcome.kind === "sent" || outcome.kind === "uncertain";
}

function campaignsOf(lost: readonly Remembered[]): LostCampaign[] {
  const rows = lost.map(({ row }) => row).filter(({ campaignId }) => campaignId !== null);
  return [...Map.groupBy(rows, ({ projectId, campaignId }) => `${projectId} ${campaignId}`).values()].map(
    (own) => ({
      projectId: own[0]?.projectId ?? "",
      campaignId: own[0]?.campaignId ?? "",
      mails: own.length,
    }),
  );
}
