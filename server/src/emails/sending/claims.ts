// Claims emails for a sender, either queued rows or a batch of recipients.
import type { Database } from "../../platform/database/database.ts";
import { claimBatch, claimEmails, type DueQueue } from "./sender-queries.ts";
import type { ContactsThere } from "../rows/recipients.ts";
import type { ClaimedRow } from "../rows/claimed-queries.ts";

/** Claims up to `limit` emails of a queue and leaves out recipients at `withoutDomains`. */
export async function claim(
  database: Database,
  senderId: string,
  due: DueQueue,
  {
    limit,
    withoutDomains,
    contactsThere,
  }: { limit: number; withoutDomains: readonly string[]; contactsThere: ContactsThere },
): Promise<ClaimedRow[]> {
  const { projectId, priority, campaignId } = due;
  const wanted = { senderId, projectId, limit, withoutDomains, paused: due.paused ?? [] };
  return due.isBatched && campaignId !== null
    ? claimBatch(database, { ...wanted, campaignId, contactsThere })
    : claimEmails(database, { ...wanted, priority, campaignId });
}

/** Rotates the queues of each priority by a random offset, so that no project is always last. */
export function inTurn(due: readonly DueQueue[]): DueQueue[] {
  const byPriority = Map.groupBy(due, (one) => one.priority);
  return [...byPriority.values()].flatMap((group) => {
    const start = Math.floor(Math.random() * group.length);
    return [...group.slice(start), ...group.slice(0, start)];
  });
}
