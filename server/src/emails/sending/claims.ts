// Claims emails for a sender, either queued rows or a batch of recipients.
import { briefly, isCluster } from "../../platform/database/cluster.ts";
import type { Database } from "../../platform/database/database.ts";
import type { DueQueue } from "./due-queue-queries.ts";
import { claimBatch, claimEmails } from "./sender-queries.ts";
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
  const run = (on: Database) =>
    due.isBatched && campaignId !== null
      ? claimBatch(on, { ...wanted, campaignId, contactsThere })
      : claimEmails(on, { ...wanted, priority, campaignId });
  return (await isCluster(database)) ? briefly(database, run) : run(database);
}

/** Rotates the queues of each priority by a random offset, so that no project is always last. */
export function inTurn(due: readonly DueQueue[]): DueQueue[] {
  const byPriority = Map.groupBy(due, (one) => one.priority);
  return [...byPriority.values()].flatMap((group) => {
    const start = Math.floor(Math.random() * group.length);
    return [...group.slice(start), ...group.slice(0, start)];
  });
}
