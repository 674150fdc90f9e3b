// Mails that were handed over without an answer: which of them are tried once more, and which wait for a person.
// Before it: outcomes.ts books an attempt, lease.ts settles what a dead sender held. After it: resolve-emails.ts, when a person has found out.
import type { Tx } from "../../platform/database.ts";
import { listWithoutFurtherTry } from "./doubt-queries.ts";
import type { OutcomeRow } from "../booking/outcome-queries.ts";

/**
 * The outcomes as they are to be booked: of those in doubt that would be tried again, the ones whose project wants to wait
 * for a person, and those that were in doubt before, are unconfirmed. Nothing is asked where none is in doubt.
 */
export async function endDoubts(
  tx: Tx,
  outcomes: readonly OutcomeRow[],
  idsInDoubt: ReadonlySet<string>,
): Promise<OutcomeRow[]> {
  const retried = outcomes.filter(({ id, status }) => status === "QUEUED" && idsInDoubt.has(id));
  if (retried.length === 0) return [...outcomes];
  const ended = await listWithoutFurtherTry(tx, retried);
  return outcomes.map((outcome) =>
    ended.has(outcome.id) ? { ...outcome, status: "UNCONFIRMED", waitMs: 0 } : outcome,
  );
}
