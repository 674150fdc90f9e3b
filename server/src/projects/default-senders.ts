// Reads, sets and removes a project's default sender, which is used for emails without a From address.
import { domainOf, parseMailbox } from "@postloft/contract/address.ts";
import type { Database, Tx } from "../platform/database/database.ts";
import { recordAudit, SERVICE } from "../audit/audit-log.ts";
import { clearDefaultSender, findDefaultSenders, insertFirstSender } from "./queries.ts";
/** Returns the default sender of each project that has one. */
export async function readDefaultSenders(
  database: Database,
  projectIds: readonly string[],
): Promise<Map<string, string>> {
  if (projectIds.length === 0) return new Map();
  const rows = await findDefaultSenders(database, projectIds);
  return new Map(
    rows.flatMap((row) => (row.defaultFrom === null ? [] : [[row.id, row.defaultFrom] as const])),
  );
}

/** Removes a default sender when its domain is deleted, because a domain with the same name may later have another owner. */
export async function endDefaultSenderFrom(tx: Tx, projectId: string, domain: string): Promise<void> {
  const current = (await readDefaultSenders(tx, [projectId])).get(projectId);
  const parsed = current === undefined ? null : parseMailbox(current);
  if (current !== undefined && parsed?.ok === true && domainOf(parsed.address) === domain)
    await clearDefaultSender(tx, projectId, current);
}

/** Sets the default sender of a project that has none, and records it in the audit log. */
export async function setFirstSender(tx: Tx, projectId: string, sender: string): Promise<void> {
  if (!(await insertFirstSender(tx, projectId, sender))) return;
  const details = { defaultFrom: { from: null, to: sender } };
  await recordAudit(tx, [{ projectId, actor: SERVICE, action: "project.updated", details }]);
}
