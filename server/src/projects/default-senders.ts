// Reads, sets and ends the default sender of a project: the one of emails that name none.
import { domainOf, parseMailbox } from "@postloft/contract/address.ts";
import type { Database, Tx } from "../platform/database/database.ts";
import { recordAudit, SERVICE } from "../audit/audit-log.ts";
import { clearDefaultSender, findDefaultSenders, insertFirstSender } from "./queries.ts";
/** The sender of mails that name none, per project that has set one. */
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

/** Ends a default sender at a domain that is removed: one of the same name that is added later is another. */
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
