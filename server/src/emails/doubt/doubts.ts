// Decides which emails submitted without a reply are retried and which wait for a person.
import type { Tx } from "../../platform/database/database.ts";
import { listTaken, listWithDoubts, listWithoutFurtherTry } from "./doubt-queries.ts";
import type { OutcomeRow } from "../rows/outcome.ts";
import { lockEmailRows } from "../rows/lock-queries.ts";

/** The result of one attempt. */
export interface EndedAttempt {
  outcome: OutcomeRow;
  attempt: number;
  isInDoubt: boolean;
}

/**
 * Adjusts outcomes before they are recorded. An email with an earlier attempt confirmed as sent becomes sent, regardless of this outcome.
 * An email in doubt becomes unconfirmed instead of retried if its project wants a person to decide or if it was in doubt before. Runs no
 * query unless an email is in doubt or was tried before.
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
    // The reply is already stored with its attempt.
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
  // Lock the rows first, so that a late reply to an earlier attempt is recorded before or after this. Locks all emails, because all of them
  // are recorded next.
  await lockEmailRows(
    tx,
    ended.map(({ outcome }) => outcome),
  );
  return listTaken(tx, doubted);
}
