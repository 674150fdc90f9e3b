// Redacts contents month by month once no kept email of the month remains. A content is only used by emails of the month in its id
// (outbox/emails.ts).
import type { Tx } from "../../platform/database/database.ts";
import { idTimeMs } from "../../platform/ids.ts";
import { deleteFiles, redactContents, listContentIds, updateContentsPosition } from "./content-queries.ts";
import { SLACK_MS } from "./pass-mails.ts";
import type { Retention } from "./retention-queries.ts";

/**
 * Redacts the next contents of a project, in one pass per completed month.
 * @returns whether there were any to check
 */
export async function passContents(tx: Tx, retention: Retention, batchSize: number): Promise<boolean> {
  const { projectId, contentsUntilMs, contentsPosition } = retention;
  const isUnderWay = contentsPosition !== null && contentsUntilMs !== null;
  const until = isUnderWay ? new Date(contentsUntilMs) : lastMonthOver(retention);
  if (!isUnderWay && contentsUntilMs !== null && until.getTime() <= contentsUntilMs) return false;
  const ids = await listContentIds(tx, projectId, contentsPosition, batchSize);
  const last = ids.length < batchSize ? null : (ids.at(-1) ?? null);
  const contents = { after: contentsPosition, last, until };
  await deleteFiles(tx, projectId, contents);
  await redactContents(tx, projectId, contents);
  await updateContentsPosition(tx, projectId, { until, position: last });
  return true;
}

/** Returns the end of the last month (UTC) before the position, because later emails use no contents of that month. */
function lastMonthOver({ position }: Retention): Date {
  const over = new Date(idTimeMs(position) - SLACK_MS);
  return new Date(Date.UTC(over.getUTCFullYear(), over.getUTCMonth()));
}
