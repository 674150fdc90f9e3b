// Records server replies that arrive after their sender was declared dead. The email was accepted, even if another sender has changed its
// state since.
import { transaction, type Database } from "../../platform/database/database.ts";
import { splitByProject } from "../../platform/database/cluster.ts";
import { updateLateSent, type EndedLate, type LateReply } from "./late-queries.ts";
import { lockEmailRows } from "../rows/lock-queries.ts";

/** Ids of the emails by result. */
export interface LateEnds {
  /** Emails that are now sent. */
  sent: string[];
  /** Emails that were submitted again. Their earlier attempt is now recorded as sent too. */
  sentAgain: string[];
}

/** Records late replies. An email that has another result, or that another sender is submitting, keeps its state. */
export async function recordLate(database: Database, replies: readonly LateReply[]): Promise<LateEnds> {
  if (replies.length === 0) return { sent: [], sentAgain: [] };
  const rows: EndedLate[] = [];
  for (const { projectId, rows: own } of await splitByProject(database, replies.map(withProject)))
    rows.push(
      ...(await transaction(database, async (tx) => {
        // Lock the rows first and in a fixed order. The next statement then sees emails that passed the pre-send check in the meantime.
        await lockEmailRows(
          tx,
          own.map(({ outcome }) => outcome),
        );
        return updateLateSent(tx, own, projectId);
      })),
    );
  const idsOf = (isEnded: boolean) => rows.filter((row) => row.isEnded === isEnded).map(({ id }) => id);
  return { sent: idsOf(true), sentAgain: idsOf(false) };
}

const withProject = (reply: LateReply) => ({ ...reply, projectId: reply.outcome.projectId });
