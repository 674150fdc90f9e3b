// What notices mean: read, matched with the mails they are about, done. A mail we do not know yet may still be on its way into the books.
import { parseAddress } from "@postloft/contract/address.ts";
import { EMAIL_RECEIVED } from "@postloft/contract/event-names.ts";
import type { Tx } from "../platform/database/database.ts";
import { noteContacts } from "../reactions/reactions.ts";
import { recordEvents } from "../events/events.ts";
import { findHeldMails, type ReturnedMail } from "../emails/returned/returned-emails.ts";
import { enqueueSystemMails } from "../emails/system-mail/system-mail.ts";
import { SYSTEM_PROJECT_ID } from "../emails/rows/system-project.ts";
import { keepDomainReport } from "../domains/reports/domain-reports.ts";
import { pairUp } from "../platform/pair-up.ts";
import { toldAt } from "../users/users.ts";
import { findWrittenTo } from "../projects/projects.ts";
import { keepReturnedMessages } from "../emails/returned/returned-messages.ts";
import { readDataPatch } from "../contacts/rules.ts";
import { upsertContacts } from "../contacts/upsert-contacts.ts";
import type { Deliveries, MailReport } from "./deliveries.ts";
import type { InterpretNotices, Verdict } from "./notices.ts";
import { operatorMail } from "./operator-mail.ts";
import { PATIENCE_SECONDS, readAll, type Read, type ReadingParts } from "./read-notices.ts";
import type { IncomingMessage, OperatorMessage } from "./returned-message.ts";
import { hasLeft, neverLeaves, UNSURE_KINDS, type ReportKind } from "./rules.ts";
import type { Report } from "./ses-events.ts";

export interface InterpreterOptions extends ReadingParts {
  deliveries: Deliveries;
  /** Who gets what is written to postmaster@ and abuse@; null or missing: it is only kept. */
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
    const judged = pairUp(read, verdicts);
    await keepReturnedMessages(
      tx,
      judged
        .flatMap(([one, waiting]) => ("reports" in one && waiting === null ? one.reports : []))
        .flatMap((report) => {
          const mail = mailOf.get(report) ?? null;
          const { kept } = report;
          // System mail is nobody's to read, and what came back may quote its secrets; of a mail that is forgotten it would say again what it said.
          return mail === null ||
            kept === undefined ||
            mail.isForgotten ||
            mail.projectId === SYSTEM_PROJECT_ID
            ? []
            : [{ projectId: mail.projectId, emailId: mail.id, ...kept }];
        }),
    );
    const done = new Map(pairUp(ready, isNew).map(([{ report }, isFirst]) => [report, isFirst]));
    const incoming = await receive(
      tx,
      read.flatMap((one) => ("message" in one ? [one.message] : [])),
    );
    const written = read.flatMap((one) => ("operator" in one ? [one.operator] : []));
    if (operator !== null) await passOn(tx, written, operator);
    const domainReports = new Map<Read, string>();
    for (const one of read)
      if ("domainReport" in one) domainReports.set(one, await keepDomainReport(tx, one.domainReport));
    return judged.map(([one, waiting]): Verdict => {
      if (waiting !== null) return waiting;
      if ("waitSeconds" in one) return one;
      if ("ignored" in one) return { result: one.ignored };
      if ("operator" in one) return { result: FOR_THE_OPERATOR, isKept: true };
      if ("domainReport" in one) return { result: domainReports.get(one) ?? "" };
      if ("message" in one) return { result: incoming.has(one.message) ? "received" : "no such project" };
      return {
        result: one.reports.map((report) => resultOf(report, mailOf.get(report) ?? null, done)).join(", "),
      };
    });
  };
}

/** By this an operator finds the messages in the inbox (docs/self-hosting.md). */
const FOR_THE_OPERATOR = "for the operator";

/** Until a notice is looked at again; null: it is done now. Not in parts: all reports of one wait for the last of their mails. */
function secondsToWait(
  reports: readonly Report[],
  mailOf: ReadonlyMap<Report, ReturnedMail | null>,
  ageSeconds: number,
): number | null {
  const open = reports.filter((report) => isOpen(report.kind, mailOf.get(report) ?? null));
  if (open.length === 0 || ageSeconds >= PATIENCE_SECONDS) return null;
  // One whose handover ends in doubt may be tried again half a minute later.
  const isSoon = open.some((report) => mailOf.get(report)?.status === "SENDING");
  return isSoon ? FIRST_WAIT_SECONDS : Math.max(FIRST_WAIT_SECONDS, ageSeconds);
}

/** Whether the books may know more about the mail in a while: it is not there, waits to be tried again, or is in handover. */
function isOpen(kind: ReportKind, mail: ReturnedMail | null): boolean {
  if (mail?.status === "SENDING") return UNSURE_KINDS.has(kind);
  return mail === null || (!hasLeft(mail.status) && !neverLeaves(mail.status));
}

/** A message with copies has several recipients, and only what happened to the contact's own is the contact's. */
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

/** To the operator, in the language of their account if they have one. */
async function passOn(tx: Tx, messages: readonly OperatorMessage[], operator: string): Promise<void> {
  const own = messages.filter(({ mayBePassedOn }) => mayBePassedOn);
  if (own.length === 0) return;
  const { email: to, language } = await toldAt(tx, operator);
  await enqueueSystemMails(
    tx,
    own.map((message) => ({ to, ...operatorMail(message)(language) })),
  );
}

/** Messages of people become events of the contacts they come from. Returns which were written to a project that exists. */
async function receive(tx: Tx, messages: readonly IncomingMessage[]): Promise<Set<IncomingMessage>> {
  if (messages.length === 0) return new Set();
  const projects = await findWrittenTo(tx, [...new Set(messages.map(({ inboundName }) => inboundName))]);
  const own = messages.flatMap((message) => {
    const projectId = projects.get(message.inboundName);
    return projectId === undefined ? [] : [{ ...message, projectId, message }];
  });
  const contacts = await upsertContacts(
    tx,
    own.map(({ projectId, from }) => ({
      projectId,
      email: from,
      // Writing is no consent to be written to; who has given it keeps it.
      subscribedIfNew: false,
      patch: readDataPatch(undefined),
      via: { source: "inbound", actor: null, ip: null },
    })),
  );
  // What they wrote is an event of mail, which tells nobody that there is a new contact.
  await noteContacts(
    tx,
    pairUp(own, contacts).flatMap(([{ projectId }, { contactId, isNew }]) =>
      isNew ? [{ projectId, contactId }] : [],
    ),
  );
  await recordEvents(
    tx,
    pairUp(own, contacts).map(([{ projectId, data }, { contactId }]) => ({
      projectId,
      contactId,
      name: EMAIL_RECEIVED,
      data: { ...data },
    })),
  );
  return new Set(own.map(({ message }) => message));
}
