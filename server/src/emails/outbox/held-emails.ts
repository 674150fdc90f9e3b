// Mails that wait, held after the database went back to an earlier state: they may have left already. Those of campaigns wait with their
// campaign; new ones leave.
import type { Tx } from "../../platform/database.ts";
import { deleteSenders, dropHeldEmails, holdEmails, releaseHeldEmails } from "./held-queries.ts";
import { settleSender } from "../sending/lease.ts";

export { countHeldEmails } from "./held-queries.ts";

const HELD =
  "Held: the database went back to an earlier state, so this mail may have left already. Whoever runs the installation releases or drops it.";
const DROPPED = "Dropped: the database went back to an earlier state, so this mail may have left already.";

/** Holds every mail that waits and belongs to no campaign. What senders had in hand is theirs no more. Returns how many. */
export async function holdWaitingMails(tx: Tx): Promise<number> {
  for (const sender of await deleteSenders(tx)) await settleSender(tx, sender.id, sender.inDoubt);
  return holdEmails(tx, HELD);
}

/** Lets held mails of a project, or of all, leave after all; returns how many. */
export async function releaseHeldMails(tx: Tx, projectId: string | null): Promise<number> {
  return releaseHeldEmails(tx, projectId);
}

/** Held mails of a project, or of all, will not be sent; returns how many. */
export async function dropHeldMails(tx: Tx, projectId: string | null): Promise<number> {
  return dropHeldEmails(tx, projectId, DROPPED);
}
