// Remembers the submissions of the last minutes in memory, because a standby that takes over may have lost them.
import type { PreSendCheck } from "./pre-send-check.ts";
import type { ResultRecorder } from "../results/outcomes.ts";
import type { Ready } from "../rows/prepared.ts";
import type { Outcome } from "../../transports/transport.ts";
import { createRecentSubmissions } from "./recent-submissions.ts";
import type { ClaimedRow } from "../rows/claimed-queries.ts";

/** An email that passed the pre-send check. Holds enough to record its result, and none of its text. */
export interface Remembered {
  row: ClaimedRow;
  ownSubject: string | null;
  /** null: no reply yet. */
  outcome: Outcome | null;
}

export interface SubmissionMemory {
  /** Wraps a pre-send check to remember emails that pass. */
  atCheck(check: PreSendCheck): PreSendCheck;
  /** Wraps a bookkeeper to remember recorded outcomes. */
  atBooks(records: ResultRecorder): ResultRecorder;
  all(): Remembered[];
  /** Since when the memory is complete, in ms since 1970. */
  sinceMs(): number;
}

/** Covers at least 30 seconds at full speed, with 600 bytes per email. */
const MAX_MAILS = 20_000;

export function createSubmissionMemory(): SubmissionMemory {
  const mails = createRecentSubmissions<Remembered>(MAX_MAILS);
  return {
    atCheck: (check) => ({
      async ask(mail) {
        if (!(await check.ask(mail))) return false;
        mails.passed(mail.row.id, { ...essence(mail), outcome: null });
        return true;
      },
      leave(mail, isKnown) {
        // The email passed but was certainly not accepted, so it can be dropped.
        if (isKnown && mails.get(mail.row.id)?.outcome === null) mails.forget(mail.row.id);
        check.leave(mail, isKnown);
      },
    }),
    atBooks: (records) => ({
      ...records,
      record(mail, outcome) {
        const known = mails.get(mail.row.id);
        if (known !== undefined) known.outcome = outcome;
        return records.record(mail, outcome);
      },
    }),
    all: () => mails.all().map(([, remembered]) => remembered),
    sinceMs: mails.sinceMs,
  };
}

function essence({ row, ownSubject }: Ready): Pick<Remembered, "row" | "ownSubject"> {
  return { row: { ...row, variables: null, copies: null, toName: null }, ownSubject };
}
