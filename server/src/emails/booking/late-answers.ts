// Answers that came after their sender had been declared dead: the mail was taken, whatever was thought of it meanwhile.
import { transaction, type Database } from "../../platform/database.ts";
import { updateLateSent, type LateAnswer } from "./late-queries.ts";
import { lockEmailRows } from "../returned/returned-queries.ts";

/** What became of the mails, by their ids. */
export interface LateEnds {
  /** They are sent now. */
  sent: string[];
  /** They were handed over again in the meantime: the earlier attempt is known as sent, too. */
  sentAgain: string[];
}

/** Books what was answered. A mail that another sender has in handover, or has ended since, keeps the state it has there. */
export async function bookLate(database: Database, answers: readonly LateAnswer[]): Promise<LateEnds> {
  if (answers.length === 0) return { sent: [], sentAgain: [] };
  const rows = await transaction(database, async (tx) => {
    // First the locks, in one order everywhere: who has been let go by the handover check meanwhile is seen by the next statement.
    await lockEmailRows(
      tx,
      answers.map(({ outcome }) => outcome),
    );
    return updateLateSent(tx, answers);
  });
  const idsOf = (isEnded: boolean) => rows.filter((row) => row.isEnded === isEnded).map(({ id }) => id);
  return { sent: idsOf(true), sentAgain: idsOf(false) };
}
