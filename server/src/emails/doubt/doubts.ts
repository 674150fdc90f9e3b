// Mails that were handed over without an answer: which of them are tried once more, and which wait for a person.
import type { Tx } from "../../platform/database.ts";
import { listTaken, listWithDoubts, listWithoutFurtherTry } from "./doubt-queries.ts";
import type { OutcomeRow } from "../booking/outcome-queries.ts";
import { lockEmailRows } from "../returned/returned-queries.ts";

/** How an attempt ended. */
export interface EndedAttempt {
  outcome: OutcomeRow;
  /** The number of the attempt. */
  attempt: number;
  isInDoubt: boolean;
}

/**
 * The outcomes as they are to be booked. A mail of which an earlier attempt is known as sent by now is sent, however this one
 * ended. Of those in doubt that would be tried again, the ones whose project wants to wait for a person, and those that were in
 * doubt before, are unconfirmed. Nothing is asked where none is in doubt and none was tried before.
 */
export async function endDoubts(tx: Tx, ended: readonly EndedAttempt[]): Promise<OutcomeRow[]> {
  const taken = await findTaken(tx, ended);
  const retried = ended.filter(
    ({ outcome, isInDoubt }) => isInDoubt && outcome.status === "QUEUED" && !taken.has(outcome.id),
  );
  const waiting =
    retried.length === 0
      ? new Set()
      : await listWithoutFurtherTry(
          tx,
          retried.map(({ outcome }) => outcome),
        );
  return ended.map(({ outcome }) => {
    // Its answer stands at the attempt it belongs to.
    if (taken.has(outcome.id)) return { ...outcome, status: "SENT", reason: null, waitMs: 0 };
    return waiting.has(outcome.id) ? { ...outcome, status: "UNCONFIRMED", waitMs: 0 } : outcome;
  });
}

async function findTaken(tx: Tx, ended: readonly EndedAttempt[]): Promise<Set<string>> {
  const again = ended.filter(({ outcome, attempt }) => attempt > 1 && outcome.status !== "SENT");
  const doubted =
    again.length === 0
      ? []
      : await listWithDoubts(
          tx,
          again.map(({ outcome }) => outcome),
        );
  if (doubted.length === 0) return new Set();
  // A late answer to an earlier attempt comes before this, or finds the mail as it is booked here. All, since all are booked.
  await lockEmailRows(
    tx,
    ended.map(({ outcome }) => outcome),
  );
  return listTaken(tx, doubted);
}
