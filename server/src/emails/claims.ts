// What a sender claims: mails with rows of their own, or batches of recipients, each of which it ends when the last of its mails
// has ended, or gives back.
// Before it: sender.ts looks what is due. After it: sender-queries.ts and batch-queries.ts.
import type { Database } from "../platform/database.ts";
import { claimBatch, finishBatch } from "./batch-queries.ts";
import type { Lease } from "./lease.ts";
import { claimEmails, type ClaimedRow, type DueQueue } from "./sender-queries.ts";

export interface Claims {
  /** Up to `limit` mails of a queue; recipients at these domains are passed over. */
  claim(due: DueQueue, limit: number, withoutDomains: readonly string[]): Promise<ClaimedRow[]>;
  /** A mail is in hand from here on. */
  enter(row: Pick<ClaimedRow, "batch_id">): void;
  /** It is not any more; with the last mail of a batch that is over. Throws when the database is away. */
  leave(row: Pick<ClaimedRow, "project_id" | "batch_id">): Promise<void>;
  /** The batches in hand. */
  batchIds(): string[];
}

export function createClaims({ database, lease }: { database: Database; lease: Lease }): Claims {
  /** How many mails of each batch are in hand. */
  const mailsOf = new Map<string, number>();

  async function finish(projectId: string, batchId: string): Promise<void> {
    mailsOf.delete(batchId);
    await finishBatch(database, lease.senderId(), projectId, batchId);
  }

  return {
    async claim({ project_id, priority, campaign_id, is_batched, paused: known }, limit, withoutDomains) {
      const paused = known ?? [];
      const claim = { senderId: lease.senderId(), projectId: project_id, limit, withoutDomains, paused };
      if (!is_batched || campaign_id === null)
        return claimEmails(database, { ...claim, priority, campaignId: campaign_id });
      const { batchId, rows } = await claimBatch(database, { ...claim, campaignId: campaign_id });
      if (batchId === null) return [];
      // All of its mails had ended, and whoever had it could not say so.
      if (rows.length === 0) await finish(project_id, batchId);
      return rows;
    },
    enter({ batch_id }) {
      if (batch_id !== null) mailsOf.set(batch_id, (mailsOf.get(batch_id) ?? 0) + 1);
    },
    async leave({ project_id, batch_id }) {
      const mails = batch_id === null ? undefined : mailsOf.get(batch_id);
      if (batch_id === null || mails === undefined) return;
      mailsOf.set(batch_id, mails - 1);
      if (mails === 1) await finish(project_id, batch_id);
    },
    batchIds: () => [...mailsOf.keys()],
  };
}

/** Starts at another project each time, within each priority, so that none is always the last. */
export function inTurn(due: readonly DueQueue[]): DueQueue[] {
  const byPriority = Map.groupBy(due, (one) => one.priority);
  return [...byPriority.values()].flatMap((group) => {
    const start = Math.floor(Math.random() * group.length);
    return [...group.slice(start), ...group.slice(0, start)];
  });
}
