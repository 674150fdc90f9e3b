// Holds waiting emails after the database was rolled back, because they may already have been sent. Emails of a campaign are held with
// their campaign. New emails are sent as usual.
import { recordedReason } from "@postloft/contract/recorded-reasons.ts";
import type { Tx } from "../../platform/database/database.ts";
import { deleteSenders, dropHeldEmails, holdEmails, releaseHeldEmails } from "./held-queries.ts";
import { settleSender } from "./lease.ts";

export { countHeldEmails } from "./held-queries.ts";

const HELD = recordedReason("emailHeld");
const DROPPED = recordedReason("emailDropped");

/** Holds every waiting email outside campaigns and releases the emails that senders had claimed. Returns how many are held. */
export async function holdWaitingMails(tx: Tx): Promise<number> {
  for (const sender of await deleteSenders(tx)) await settleSender(tx, sender.id, sender.inDoubt);
  return holdEmails(tx, HELD);
}

/** Releases the held emails of a project, or of all projects. Returns how many. */
export async function releaseHeldMails(tx: Tx, projectId: string | null): Promise<number> {
  return releaseHeldEmails(tx, projectId);
}

/** Drops the held emails of a project, or of all projects. Returns how many. */
export async function dropHeldMails(tx: Tx, projectId: string | null): Promise<number> {
  return dropHeldEmails(tx, projectId, DROPPED);
}
