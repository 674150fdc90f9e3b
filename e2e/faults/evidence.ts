// What is known of a run, and every broken promise in it as a sentence: what the mail server took held against what the API and the
// database say, recipient by recipient. Pure.
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
  /** The mail. */
  id: string;
  email: string;
  status: string;
  reason: string | null;
  attempts: number;
}

export interface Expectation {
  name: string;
  /** Who should get the campaign. */
  recipients: readonly string[];
  /** The most mails that may be in doubt; default none. */
  mayBeInDoubt?: number;
  /** Whether mails may have failed or been skipped; then each must say why. Default false. */
  mayRemainUnsent?: boolean;
  /** How the campaign must have ended; default SENT. */
  status?: "SENT" | "CANCELLED";
  /** When the answer to an unsubscription came, ms since 1970, by address. */
  unsubscribedAt?: ReadonlyMap<string, number>;
  /** How long a stop may last; default 30 s. */
  recoveryMs?: number;
}

/** Of a mail whose handover had begun, the dot may be on its way when the unsubscription commits. */
const HANDOVER_MS = 2_000;
const LISTED = 5;
const NOT_MAILED = new Set(["FAILED", "SKIPPED", "UNCONFIRMED"]);
const WAITING = new Set(["QUEUED", "CLAIMED", "SENDING"]);

/** How often each address is in the journal of the mail server. */
export function countMails(journal: readonly SinkMessage[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { recipients } of journal)
    for (const recipient of recipients) counts.set(recipient, (counts.get(recipient) ?? 0) + 1);
  return counts;
}

/** What is wrong with the books at one instant, or with their way there. */
export function faultsOfSample(now: Campaign, before: Campaign | undefined, mailed: number): string[] {
  const faults: string[] = [];
  const sum = now.sentCount + now.failedCount + now.skippedCount + now.unconfirmedCount + now.pendingCount;
  if (sum !== now.totalRecipients)
    faults.push(`the books do not balance: ${sum} counted, ${now.totalRecipients} recipients`);
  if (now.status === "SENT" && now.pendingCount > 0)
    faults.push(`the campaign is SENT while ${now.pendingCount} mails wait`);
  if (now.sentCount > mailed) faults.push(`${now.sentCount} are counted as sent and ${mailed} were taken`);
  if (before === undefined) return faults;
  if (now.sentCount < before.sentCount)
    faults.push(`the count of sent mails fell from ${before.sentCount} to ${now.sentCount}`);
  if (before.totalRecipients > 0 && now.totalRecipients !== before.totalRecipients)
    faults.push(`the recipients changed from ${before.totalRecipients} to ${now.totalRecipients}`);
  return faults;
}

/** What is known of a campaign that has ended. */
export interface Evidence {
  /** As the API says it, with its stats. */
  campaign: Campaign;
  stats: Campaign;
  recipients: readonly Recipient[];
  /** What the mail server took of its mails. */
  journal: readonly SinkMessage[];
  /** The mails of its events `email.sent`, as the API lists them: each as often as it is there. */
  sentEvents: readonly string[];
  rows: CampaignRows;
}

/** The rows of the database, counted past the API. */
export interface CampaignRows {
  /** As fixed when the campaign started. */
  fixed: number;
  mails: number;
  addresses: number;
  sent: number;
}

/** Every broken promise as a sentence. */
export function judgeEvidence(evidence: Evidence, expected: Expectation): string[] {
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

/** Who was not mailed although nothing says so. */
export function lostOf({ recipients, journal }: Evidence): Recipient[] {
  const mails = countMails(journal);
  return recipients.filter(({ email, status }) => !mails.has(email) && !NOT_MAILED.has(status));
}

/** `<id@domain>`: the name of a mail is made from its id. */
export function emailIdOf(messageId: string): string {
  return messageId.slice(1, messageId.indexOf("@"));
}

/** `what` and the first of those it is about; nothing where there are none. */
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
      "who should get it have no row",
    ),
    ...complain(
      [...known].filter((email) => !wanted.has(email)),
      "have a row who should not get it",
    ),
  ];
}

/** What each row says, beside whether the mail server has the mail. */
function faultsOfStates({ recipients, journal }: Evidence, expected: Expectation): string[] {
  const mails = countMails(journal);
  const inDoubt = recipients.filter(({ status }) => status === "UNCONFIRMED");
  const unsent = recipients.filter(({ status }) => status === "FAILED" || status === "SKIPPED");
  const mayBeInDoubt = expected.mayBeInDoubt ?? 0;
  return [
    ...complain(
      recipients.filter(({ status }) => WAITING.has(status)).map(({ email }) => email),
      "still wait",
    ),
    ...complain(
      recipients.filter(({ status, reason }) => NOT_MAILED.has(status) && !reason).map(({ email }) => email),
      "have no reason",
    ),
    ...complain(
      unsent.filter(({ email }) => mails.has(email)).map(({ email, status }) => `${email} ${status}`),
      "were mailed and are booked as not sent",
    ),
    ...(expected.mayRemainUnsent
      ? []
      : complain(
          unsent.map(({ email, reason }) => `${email} (${reason})`),
          "were not sent",
        )),
    ...(inDoubt.length <= mayBeInDoubt
      ? []
      : complain(
          inDoubt.map(({ email }) => email),
          `are in doubt, at most ${mayBeInDoubt} may be`,
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
          `${fixed} recipients were fixed, there are ${mails} mails to ${addresses} addresses, and the API says ${totalRecipients}`,
        ]),
    ...(sent === sentCount && sentEvents.length === sentCount
      ? []
      : [`${sentCount} are sent, ${sent} by their rows and ${sentEvents.length} by their events`]),
    ...complain(
      [...Map.groupBy(sentEvents, (id) => id)].flatMap(([id, same]) => (same.length > 1 ? [id] : [])),
      "mails have several events that they were sent",
    ),
  ];
}

/** A mail has one name, whoever sent it and however often; a name has one recipient. */
function faultsOfMessageIds(recipients: readonly Recipient[], journal: readonly SinkMessage[]): string[] {
  const addressById = new Map(recipients.map(({ id, email }) => [id, email]));
  return complain(
    journal
      .filter(({ messageId, recipients: to }) => to.join() !== addressById.get(emailIdOf(messageId)))
      .map(({ messageId, recipients: to }) => `${messageId} to ${to.join()}`),
    "mails bear the name of another one",
  );
}

function faultsOfUnsubscribed(
  journal: readonly SinkMessage[],
  unsubscribedAt: ReadonlyMap<string, number>,
): string[] {
  return complain(
    journal.flatMap(({ recipients, at }) =>
      recipients.filter((email) => at > (unsubscribedAt.get(email) ?? Infinity) + HANDOVER_MS),
    ),
    "were mailed after they had unsubscribed",
  );
}
