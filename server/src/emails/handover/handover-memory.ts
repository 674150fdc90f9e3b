// What this process handed over in the last minutes, in its own memory: a database that fails over to a standby may have forgotten it.
import type { HandoverCheck } from "./handover.ts";
import type { Bookkeeper } from "../booking/outcomes.ts";
import type { Ready } from "../sending/prepare-emails.ts";
import type { Outcome } from "../../transports/transport.ts";
import { createRecentHandovers } from "./recent-handovers.ts";
import type { ClaimedRow } from "../sending/sender-queries.ts";

/** A mail that passed the handover check: enough to book it, and nothing of what it says. */
export interface Remembered {
  row: ClaimedRow;
  ownSubject: string | null;
  /** null: no answer yet. */
  outcome: Outcome | null;
}

export interface HandoverMemory {
  /** The same check; who passes is remembered. */
  atCheck(check: HandoverCheck): HandoverCheck;
  /** The same books; what is booked is remembered. */
  atBooks(books: Bookkeeper): Bookkeeper;
  all(): Remembered[];
  /** Since when nothing is missing, ms since 1970. */
  sinceMs(): number;
}

/** At full speed the last half minute or more: 600 bytes each. */
const MAX_MAILS = 20_000;

export function createHandoverMemory(): HandoverMemory {
  const mails = createRecentHandovers<Remembered>(MAX_MAILS);
  return {
    atCheck: (check) => ({
      async ask(mail) {
        if (!(await check.ask(mail))) return false;
        mails.passed(mail.row.id, { ...essence(mail), outcome: null });
        return true;
      },
      leave(mail, isKnown) {
        // It passed and was surely not taken: nothing to remember.
        if (isKnown && mails.get(mail.row.id)?.outcome === null) mails.forget(mail.row.id);
        check.leave(mail, isKnown);
      },
    }),
    atBooks: (books) => ({
      ...books,
      record(mail, outcome) {
        const known = mails.get(mail.row.id);
        if (known !== undefined) known.outcome = outcome;
        return books.record(mail, outcome);
      },
    }),
    all: () => mails.all().map(([, remembered]) => remembered),
    sinceMs: mails.sinceMs,
  };
}

function essence({ row, ownSubject }: Ready): Pick<Remembered, "row" | "ownSubject"> {
  return { row: { ...row, variables: null, copies: null, toName: null }, ownSubject };
}
