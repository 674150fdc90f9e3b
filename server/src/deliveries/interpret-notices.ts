// Reads notices, finds the emails they are about and applies their reports. Waits for emails that are not recorded yet.
import { parseAddress } from "@postloft/contract/address.ts";
import type { Tx } from "../platform/database/database.ts";
import { findHeldMails, type ReturnedMail } from "../emails/returned/returned-emails.ts";
import { enqueuePlatformEmails } from "../emails/platform-email/platform-email.ts";
import { SYSTEM_PROJECT_ID } from "../emails/rows/system-project.ts";
import { keepDomainReport } from "../domains/reports/domain-reports.ts";
import { pairUp } from "../platform/pair-up.ts";
import { notifiedAt } from "../users/users.ts";
import { keepReturnedMessages } from "../emails/returned/returned-messages.ts";
import type { Deliveries, MailReport } from "./deliveries.ts";
import type { InterpretNotices, Verdict } from "./notices.ts";
import { operatorMail } from "./operator-mail.ts";
import { PATIENCE_SECONDS, readAll, type Read, type ReadingDependencies } from "./read-notices.ts";
import { receiveMessages } from "./receive-messages.ts";
import type { AdminMessage } from "./returned-message.ts";
import { hasLeft, neverLeaves, UNSURE_KINDS, type ReportKind } from "./rules.ts";
import type { Report } from "./ses-events.ts";

export interface InterpreterOptions extends ReadingDependencies {
  deliveries: Deliveries;
  /** The address that gets messages to postmaster@ and abuse@. If null or missing, they are only stored. */
  operator?: string | null;
}

const FIRST_WAIT_SECONDS = 5;

export function createInterpreter({
  deliveries,
  operator = null,
  ...reading
}: InterpreterOptions): InterpretNotices {
  return async (tx, notices) => {
    const read = await readAll(notices, reading);
    const reports = read.flatMap((one) => ("reports" in one ? one.reports : []));
    const mails = await findHeldMails(
      tx,
      reports.map(({ names }) => names),
    );
    const mailOf = new Map(pairUp(reports, mails));
    const ready: Array<{ report: Report; about: MailReport }> = [];
    const verdicts = pairUp(notices, read).map(([notice, one]): Verdict | null => {
      if ("waitSeconds" in one) return one;
      if (!("reports" in one)) return null;
      const waitSeconds = secondsToWait(one.reports, mailOf, notice.ageSeconds);
      if (waitSeconds !== null) return { waitSeconds };
      for (const report of one.reports) {
        const mail = mailOf.get(report) ?? null;
        if (mail !== null && isAbout(report, mail)) ready.push({ report, about: { ...report, mail } });
      }
      return null;
    });
    const isNew = await deliveries.applyReports(
      tx,
      ready.map(({ about }) => about),
    );
    const evaluated = pairUp(read, verdicts);
    await keepReturnedMessages(
      tx,
      evaluated
        .flatMap(([one, waiting]) => ("reports" in one && waiting === null ? one.reports : []))
        .flatMap((report) => {
          const mail = mailOf.get(report) ?? null;
          const { kept } = report;
          // No one may read platform email, and a bounce may quote its secrets. For a redacted email the bounce would restore its content.
          return mail === null ||
            kept === undefined ||
            mail.isForgotten ||
            mail.projectId === SYSTEM_PROJECT_ID
            ? []
            : [{ projectId: mail.projectId, emailId: mail.id, ...kept }];
        }),
    );
    const done = new Map(pairUp(ready, isNew).map(([{ report }, isFirst]) => [report, isFirst]));
    const incoming = await receiveMessages(tx, pairUp(notices, read));
    const written = read.flatMap((one) => ("operator" in one ? [one.operator] : []));
    if (operator !== null) await passOn(tx, written, operator);
    const domainReports = new Map<Read, string>();
    for (const one of read)
      if ("domainReport" in one) domainReports.set(one, await keepDomainReport(tx, one.domainReport));
    return evaluated.map(([one, waiting]): Verdict => {
      if (waiting !== null) return waiting;
      if ("waitSeconds" in one) return one;
      if ("ignored" in one) return { result: one.ignored };
      if ("operator" in one) return { result: FORWARDED_TO_ADMIN, isKept: true };
      if ("domainReport" in one) return { result: domainReports.get(one) ?? "" };
      if ("message" in one) return { result: incoming.has(one.message) ? "received" : "no such project" };
      return {
        result: one.reports.map((report) => resultOf(report, mailOf.get(report) ?? null, done)).join(", "),
      };
    });
  };
}

/** Instance admins find these messages in the inbox by this text (docs/self-hosting.md). */
const FORWARDED_TO_ADMIN = "for the operator";

/**
 * Returns the seconds until the next attempt, or null if the notice can be applied now. All reports of a notice wait for the last of their
 * emails.
 */
function secondsToWait(
  reports: readonly Report[],
  mailOf: ReadonlyMap<Report, ReturnedMail | null>,
  ageSeconds: number,
): number | null {
  const open = reports.filter((report) => isOpen(report.kind, mailOf.get(report) ?? null));
  if (open.length === 0 || ageSeconds >= PATIENCE_SECONDS) return null;
  // A submission that ends in doubt may be retried half a minute later.
  const isSoon = open.some((report) => mailOf.get(report)?.status === "SENDING");
  return isSoon ? FIRST_WAIT_SECONDS : Math.max(FIRST_WAIT_SECONDS, ageSeconds);
}

/** Returns whether more may soon be known about the email: it is missing, waits for a retry, or is being submitted. */
function isOpen(kind: ReportKind, mail: ReturnedMail | null): boolean {
  if (mail?.status === "SENDING") return UNSURE_KINDS.has(kind);
  return mail === null || (!hasLeft(mail.status) && !neverLeaves(mail.status));
}

/** Returns whether a report is about the contact's own address. An email with copies has several recipients. */
function isAbout({ recipients }: Report, { hasCopies, toAddress }: ReturnedMail): boolean {
  if (!hasCopies || recipients === null) return true;
  return recipients.some((recipient) => {
    const parsed = parseAddress(recipient);
    return parsed.ok && parsed.address === toAddress;
  });
}

function resultOf(report: Report, mail: ReturnedMail | null, done: ReadonlyMap<Report, boolean>): string {
  if (mail === null) return `${report.kind}: no such mail`;
  const isNew = done.get(report);
  if (isNew === undefined) return `${report.kind}: of a copy`;
  if (neverLeaves(mail.status)) return `${report.kind}: the mail never left`;
  return isNew ? report.kind : `${report.kind}: known`;
}

/** Sends messages to the instance admin, in their account's language if they have an account. */
async function passOn(tx: Tx, messages: readonly AdminMessage[], operator: string): Promise<void> {
  const own = messages.filter(({ mayBePassedOn }) => mayBePassedOn);
  if (own.length === 0) return;
  const { email: to, language } = await notifiedAt(tx, operator);
  await enqueuePlatformEmails(
    tx,
    own.map((message) => ({ to, ...operatorMail(message)(language) })),
  );
}
