// Compares the mail server's journal with the API and the database, recipient by recipient, and returns every broken promise as a sentence.
// Pure.
import type { SinkMessage } from "../../server/src/testing/smtp-sink-rules.ts";

export interface Campaign {
  id: string;
  status: string;
  totalRecipients: number;
  sentCount: number;
  failedCount: number;
  skippedCount: number;
  unconfirmedCount: number;
  pendingCount: number;
  startedAt: string | null;
}

export interface Recipient {
  /** The email's id. */
  id: string;
  email: string;
  status: string;
  reason: string | null;
  attempts: number;
}

export interface Expectation {
  name: string;
  /** The expected recipients. */
  recipients: readonly string[];
  /** Maximum number of emails in doubt; defaults to 0. */
  mayBeInDoubt?: number;
  /** Whether emails may have failed or been skipped, each with a reason. Defaults to false. */
  mayRemainUnsent?: boolean;
  /** Expected final status; defaults to SENT. */
  status?: "SENT" | "CANCELLED";
  /** When each unsubscribe was confirmed, in ms since 1970, by address. */
  unsubscribedAt?: ReadonlyMap<string, number>;
  /** Maximum pause in sending; defaults to 30 s. */
  recoveryMs?: number;
}

/** An email in submission may still be sent when the unsubscribe commits. */
const SUBMISSION_MS = 2_000;
const LISTED = 5;
const NOT_MAILED = new Set(["FAILED", "SKIPPED", "UNCONFIRMED"]);
const WAITING = new Set(["QUEUED", "CLAIMED", "SENDING"]);

/** Returns how often each address occurs in the mail server's journal. */
export function countMails(journal: readonly SinkMessage[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { recipients } of journal)
    for (const recipient of recipients) counts.set(recipient, (counts.get(recipient) ?? 0) + 1);
  return counts;
}

/** Returns faults in the counts at one instant, or since the previous sample. */
export function faultsOfSample(now: Campaign, before: Campaign | undefined, mailed: number): string[] {
  const faults: string[] = [];
  const sum = now.sentCount + now.failedCount + now.skippedCount + now.unconfirmedCount + now.pendingCount;
  if (sum !== now.totalRecipients)
    faults.push(`the counts do not balance: ${sum} counted, ${now.totalRecipients} recipients`);
  if (now.status === "SENT" && now.pendingCount > 0)
    faults.push(`the campaign is SENT while ${now.pendingCount} emails wait`);
  if (now.sentCount > mailed) faults.push(`${now.sentCount} are counted as sent and ${mailed} were accepted`);
  if (before === undefined) return faults;
  if (now.sentCount < before.sentCount)
    faults.push(`the count of sent emails fell from ${before.sentCount} to ${now.sentCount}`);
  if (before.totalRecipients > 0 && now.totalRecipients !== before.totalRecipients)
    faults.push(`the recipients changed from ${before.totalRecipients} to ${now.totalRecipients}`);
  return faults;
}

/** Everything known about an ended campaign. */
export interface Evidence {
  /** The campaign and its stats from the API. */
  campaign: Campaign;
  stats: Campaign;
  recipients: readonly Recipient[];
  /** The campaign's emails that the mail server accepted. */
  journal: readonly SinkMessage[];
  /** Email ids of its `email.sent` events from the API, including duplicates. */
  sentEvents: readonly string[];
  rows: CampaignRows;
}

/** Row counts read directly from the database. */
export interface CampaignRows {
  /** Number of recipients fixed when the campaign started. */
  fixed: number;
  mails: number;
  addresses: number;
  sent: number;
}

export function checkEvidence(evidence: Evidence, expected: Expectation): string[] {
  const { recipients, journal } = evidence;
  return [
    ...faultsOfAudience(evidence, expected),
    ...complain(mailedTwice(journal), "recipients were mailed more than once"),
    ...complain(
      lostOf(evidence).map(({ email, status }) => `${email} ${status}`),
      "recipients were lost",
    ),
    ...faultsOfStates(evidence, expected),
    ...faultsOfCounts(evidence),
    ...faultsOfRows(evidence),
    ...faultsOfMessageIds(recipients, journal),
    ...faultsOfUnsubscribed(journal, expected.unsubscribedAt ?? new Map()),
  ];
}

export function mailedTwice(journal: readonly SinkMessage[]): string[] {
  return [...countMails(journal)].filter(([, count]) => count > 1).map(([email]) => email);
}

/** Returns the recipients that were not mailed although their status does not say so. */
export function lostOf({ recipients, journal }: Evidence): Recipient[] {
  const mails = countMails(journal);
  return recipients.filter(({ email, status }) => !mails.has(email) && !NOT_MAILED.has(status));
}

/** Returns the id in a `<id@domain>` message id. */
export function emailIdOf(messageId: string): string {
  return messageId.slice(1, messageId.indexOf("@"));
}

/** Returns one sentence about the first affected items, or none if there are none. */
export function complain(about: readonly string[], what: string): string[] {
  if (about.length === 0) return [];
  const more = about.length > LISTED ? ", …" : "";
  return [`${about.length} ${what}: ${about.slice(0, LISTED).join(", ")}${more}`];
}

function faultsOfAudience({ recipients, campaign }: Evidence, expected: Expectation): string[] {
  const addresses = recipients.map(({ email }) => email);
  const known = new Set(addresses);
  const wanted = new Set(expected.recipients);
  const status = expected.status ?? "SENT";
  return [
    ...(campaign.status === status ? [] : [`the campaign is ${campaign.status} and not ${status}`]),
    ...complain(
      [...Map.groupBy(addresses, (email) => email)].flatMap(([email, same]) =>
        same.length > 1 ? [email] : [],
      ),
      "recipients have several rows",
    ),
    ...complain(
      [...wanted].filter((email) => !known.has(email)),
      "recipients have no row",
    ),
    ...complain(
      [...known].filter((email) => !wanted.has(email)),
      "recipients are unexpected",
    ),
  ];
}

/** Checks each recipient's status against the journal. */
function faultsOfStates({ recipients, journal }: Evidence, expected: Expectation): string[] {
  const mails = countMails(journal);
  const inDoubt = recipients.filter(({ status }) => status === "UNCONFIRMED");
  const unsent = recipients.filter(({ status }) => status === "FAILED" || status === "SKIPPED");
  const mayBeInDoubt = expected.mayBeInDoubt ?? 0;
  return [
    ...complain(
      recipients.filter(({ status }) => WAITING.has(status)).map(({ email }) => email),
      "emails are still waiting",
    ),
    ...complain(
      recipients.filter(({ status, reason }) => NOT_MAILED.has(status) && !reason).map(({ email }) => email),
      "unsent emails have no reason",
    ),
    ...complain(
      unsent.filter(({ email }) => mails.has(email)).map(({ email, status }) => `${email} ${status}`),
      "recipients were mailed but are recorded as not sent",
    ),
    ...(expected.mayRemainUnsent
      ? []
      : complain(
          unsent.map(({ email, reason }) => `${email} (${reason})`),
          "emails were not sent",
        )),
    ...(inDoubt.length <= mayBeInDoubt
      ? []
      : complain(
          inDoubt.map(({ email }) => email),
          `emails are in doubt, at most ${mayBeInDoubt} allowed`,
        )),
  ];
}

function faultsOfCounts({ campaign, stats, recipients }: Evidence): string[] {
  const count = (...statuses: string[]) =>
    recipients.filter(({ status }) => statuses.includes(status)).length;
  const recount = {
    totalRecipients: recipients.length,
    sentCount: recipients.filter(({ status }) => !NOT_MAILED.has(status) && !WAITING.has(status)).length,
    failedCount: count("FAILED"),
    skippedCount: count("SKIPPED"),
    unconfirmedCount: count("UNCONFIRMED"),
    pendingCount: count(...WAITING),
  };
  return (Object.keys(recount) as Array<keyof typeof recount>).flatMap((name) =>
    campaign[name] === recount[name] && stats[name] === recount[name]
      ? []
      : [`${name} is ${campaign[name]}, in the stats ${stats[name]}, counted ${recount[name]}`],
  );
}

function faultsOfRows({ campaign, rows, sentEvents }: Evidence): string[] {
  const { fixed, mails, addresses, sent } = rows;
  const { totalRecipients, sentCount } = campaign;
  return [
    ...([mails, addresses, totalRecipients].every((count) => count === fixed)
      ? []
      : [
          `${fixed} recipients were fixed, there are ${mails} emails to ${addresses} addresses, and the API says ${totalRecipients}`,
        ]),
    ...(sent === sentCount && sentEvents.length === sentCount
      ? []
      : [`${sentCount} are sent, ${sent} by their rows and ${sentEvents.length} by their events`]),
    ...complain(
      [...Map.groupBy(sentEvents, (id) => id)].flatMap(([id, same]) => (same.length > 1 ? [id] : [])),
      "emails have several sent events",
    ),
  ];
}

/** Checks that every email has one Message-ID across senders and retries, and every Message-ID one recipient. */
function faultsOfMessageIds(recipients: readonly Recipient[], journal: readonly SinkMessage[]): string[] {
  const addressById = new Map(recipients.map(({ id, email }) => [id, email]));
  return complain(
    journal
      .filter(({ messageId, recipients: to }) => to.join() !== addressById.get(emailIdOf(messageId)))
      .map(({ messageId, recipients: to }) => `${messageId} to ${to.join()}`),
    "emails have the Message-ID of another email",
  );
}

function faultsOfUnsubscribed(
  journal: readonly SinkMessage[],
  unsubscribedAt: ReadonlyMap<string, number>,
): string[] {
  return complain(
    journal.flatMap(({ recipients, at }) =>
      recipients.filter((email) => at > (unsubscribedAt.get(email) ?? Infinity) + SUBMISSION_MS),
    ),
    "recipients were mailed after unsubscribing",
  );
}
