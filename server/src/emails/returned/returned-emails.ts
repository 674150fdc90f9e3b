// Records reports in the email rows, each kind once, forward only and in any order.
import { EMAIL_STATUSES, type EmailStatus } from "@postloft/contract/emails.ts";
import type { Database, Tx } from "../../platform/database/database.ts";
import { enqueueSentEvents } from "../../reactions/reactions.ts";
import {
  findEmailKeysById,
  findEmailKeysByProviderId,
  findReturnedRows,
  markLeft,
  updateConfirmed,
  updateFurtherTries,
  updateReturned,
  updateSoftBounced,
} from "./returned-queries.ts";
import { lockEmailRows } from "../rows/lock-queries.ts";
import { isForward, RETURNED_STATUSES, type ReturnedStatus } from "../rows/rules.ts";
import { countMails, type ToCount } from "../results/sending-hours.ts";

export { statusInDoubt } from "./returned-queries.ts";

export interface EmailKey {
  projectId: string;
  id: string;
}

/** A report about an email and its time. */
export interface EmailStep extends EmailKey {
  status: ReturnedStatus;
  at: Date;
}

/** `isFirst` says whether the report was the first of its kind. It is false for an email that was not sent. */
export type EmailStepTaken = Omit<EmailStep, "at"> & { isFirst: boolean };

/**
 * Adds emails that are only now known to be sent to the event counts, in the same transaction. Passed in because events/ is a higher layer.
 */
export type AddLateSent = (tx: Tx, projectId: string, emailIds: readonly string[]) => Promise<void>;

/** Reports that prove acceptance during submission. An open does not, because filters follow links before they accept a message. */
const PROOF_OF_ACCEPTANCE: ReadonlySet<ReturnedStatus> = new Set(["DELIVERED", "BOUNCED", "COMPLAINED"]);
const COUNTED: Readonly<Partial<Record<ReturnedStatus, ToCount["what"]>>> = {
  BOUNCED: "bounced",
  COMPLAINED: "complained",
};

const keyOf = ({ projectId, id }: EmailKey) => `${projectId} ${id}`;

/** Keys of the locked emails that are not yet recorded as sent. */
export type LockedEmails = ReadonlySet<string>;

/**
 * Locks emails in a fixed order, so that transactions that record several reports about the same emails cannot deadlock. Cancels the retry
 * of an email in doubt, because a report makes it needless.
 */
export async function lockEmails(tx: Tx, keys: readonly EmailKey[]): Promise<LockedEmails> {
  const rows = await lockEmailRows(tx, keys);
  const waiting = Map.groupBy(
    rows.filter((row) => row.mayBeInDoubt),
    ({ projectId }) => projectId,
  );
  for (const [projectId, own] of waiting)
    await updateFurtherTries(
      tx,
      projectId,
      own.map(({ id }) => id),
    );
  return new Set(rows.filter((row) => row.isUnsent).map(keyOf));
}

/**
 * Records reports. Sets the timestamp of each kind once and only moves the status forward, so that repeats and reordering change nothing
 * (decision 9). Returns one entry per step, in order. Among equal steps the first one counts as first, with the earliest time. Pass
 * `locked` if the caller has already locked the emails.
 */
export async function advanceEmails(
  tx: Tx,
  steps: readonly EmailStep[],
  addLateSent: AddLateSent,
  locked?: LockedEmails,
): Promise<EmailStepTaken[]> {
  if (steps.length === 0) return [];
  const unsent = locked ?? (await lockEmails(tx, steps));
  // Prefer a report that proves acceptance if an email has one among its steps.
  const surest = steps
    .filter((step) => unsent.has(keyOf(step)))
    .toSorted(
      (one, other) =>
        Number(PROOF_OF_ACCEPTANCE.has(other.status)) - Number(PROOF_OF_ACCEPTANCE.has(one.status)),
    );
  const left = await markLeft(
    tx,
    earliestOf(surest).map((step) => ({ ...step, isSure: PROOF_OF_ACCEPTANCE.has(step.status) })),
  );
  await recordSent(tx, left, addLateSent);
  const counts: ToCount[] = [];
  const taken = steps.map((step): EmailStepTaken => ({
    projectId: step.projectId,
    id: step.id,
    status: step.status,
    isFirst: false,
  }));
  const byStatus = Map.groupBy(steps, (step) => step.status);
  for (const status of RETURNED_STATUSES) {
    const own = earliestOf(byStatus.get(status) ?? []);
    if (own.length === 0) continue;
    const from = EMAIL_STATUSES.filter((before) => isForward(before, status));
    const rows = await updateReturned(tx, status, from, own);
    const firsts = new Set(rows.map(keyOf));
    for (const step of taken) if (step.status === status) step.isFirst = firsts.delete(keyOf(step));
    const what = COUNTED[status];
    if (what !== undefined)
      counts.push(
        ...rows.filter(isCounted).map((row) => ({ projectId: row.projectId, at: row.sentAt, what })),
      );
  }
  await countMails(tx, counts);
  return taken;
}

/** Test emails are not counted. */
const isCounted = (row: { isTest: boolean | null }) => row.isTest !== true;

/** Returns one step per email, which is its first step with the earliest time. */
function earliestOf<Step extends EmailKey & { at: Date }>(steps: readonly Step[]): Step[] {
  const byMail = new Map<string, Step>();
  for (const step of steps) {
    const first = byMail.get(keyOf(step));
    if (first === undefined) byMail.set(keyOf(step), step);
    else if (step.at < first.at) byMail.set(keyOf(step), { ...first, at: step.at });
  }
  return [...byMail.values()];
}

/** Records soft bounces. Returns for each step, in order, whether it was the first of its email. */
export async function recordSoftBounces(
  tx: Tx,
  steps: ReadonlyArray<EmailKey & { at: Date }>,
): Promise<boolean[]> {
  if (steps.length === 0) return [];
  const firsts = new Set((await updateSoftBounced(tx, earliestOf(steps))).map(keyOf));
  return steps.map((step) => firsts.delete(keyOf(step)));
}

/** Sets unconfirmed emails to sent when their receiver confirms them. Returns for each step whether it changed the email. */
export async function confirmSent(
  tx: Tx,
  steps: ReadonlyArray<EmailKey & { at: Date }>,
  addLateSent: AddLateSent,
): Promise<boolean[]> {
  if (steps.length === 0) return [];
  const rows = await updateConfirmed(tx, earliestOf(steps));
  await recordSent(tx, rows, addLateSent);
  const confirmed = new Set(rows.map(keyOf));
  return steps.map((step) => confirmed.delete(keyOf(step)));
}

/** Counts emails that are only now known to be sent, and adds outbox events for their contacts. */
async function recordSent(
  tx: Tx,
  all: ReadonlyArray<{
    projectId: string;
    id: string;
    contactId: string | null;
    sentAt: Date;
    isTest: boolean | null;
  }>,
  addLateSent: AddLateSent,
): Promise<void> {
  const rows = all.filter(isCounted);
  await enqueueSentEvents(
    tx,
    rows.map((row) => ({ projectId: row.projectId, contactId: row.contactId, emailId: row.id })),
  );
  await countMails(
    tx,
    rows.map((row) => ({ projectId: row.projectId, at: row.sentAt, what: "sent" })),
  );
  // Include test emails, because each is an event of its contact.
  for (const [projectId, own] of Map.groupBy(all, (row) => row.projectId))
    await addLateSent(
      tx,
      projectId,
      own.map(({ id }) => id),
    );
}

/** Identifies an email in a report, by project and id, by id alone or by the provider's id. */
export interface MailNames {
  projectId: string | null;
  emailId: string | null;
  providerId: string | null;
}

export interface ReturnedMail extends EmailKey {
  contactId: string | null;
  status: EmailStatus;
  toAddress: string;
  /** Keyed hash of the address if the contact was deleted. */
  erasedTo: string | null;
  /** Whether others than the contact received the same message. */
  hasCopies: boolean;
  /** Whether the email is redacted. Its address is empty then. */
  isForgotten: boolean;
  /** The facts that events about the email contain. */
  facts: Record<string, unknown>;
}

/** Finds the emails of reports, one entry per name, in order. Our own ids take precedence over the provider's. */
export async function findReturnedMails(
  tx: Database,
  names: readonly MailNames[],
): Promise<Array<ReturnedMail | null>> {
  const keys = new Map<MailNames, EmailKey>();
  for (const name of names)
    if (name.projectId !== null && name.emailId !== null)
      keys.set(name, { projectId: name.projectId, id: name.emailId });
  const found = await readMails(tx, [...keys.values()]);
  const isOpen = (name: MailNames) => {
    const key = keys.get(name);
    return key === undefined || !found.has(keyOf(key));
  };
  const byProvider = names.flatMap((name) =>
    name.providerId !== null && isOpen(name) ? [name.providerId] : [],
  );
  const rows = byProvider.length === 0 ? [] : await findEmailKeysByProviderId(tx, [...new Set(byProvider)]);
  const named = new Map(rows.map((row) => [row.providerMessageId, row]));
  const byId = names.flatMap((name) =>
    name.emailId !== null && name.projectId === null && !named.has(name.providerId ?? "")
      ? [name.emailId]
      : [],
  );
  const alone = byId.length === 0 ? [] : await findEmailKeysById(tx, [...new Set(byId)]);
  const known = new Map(alone.map((row) => [row.id, row]));
  const second = new Map<MailNames, EmailKey>();
  for (const name of names) {
    const key = isOpen(name)
      ? (named.get(name.providerId ?? "") ?? known.get(name.emailId ?? ""))
      : undefined;
    if (key !== undefined) second.set(name, key);
  }
  const more = await readMails(tx, [...second.values()]);
  return names.map((name) => {
    const key = second.get(name) ?? keys.get(name);
    return key === undefined ? null : (found.get(keyOf(key)) ?? more.get(keyOf(key)) ?? null);
  });
}

/** Statuses that may change concurrently in a way that affects how a report is interpreted. */
const MOVING: ReadonlySet<EmailStatus> = new Set(["SENDING", "UNCONFIRMED"]);

/** Finds the emails of reports for callers that depend on the status. Locks them if one is in submission or in doubt. */
export async function findHeldMails(
  tx: Tx,
  names: readonly MailNames[],
): Promise<Array<ReturnedMail | null>> {
  const found = await findReturnedMails(tx, names);
  const mails = found.filter((mail) => mail !== null);
  if (!mails.some(({ status }) => MOVING.has(status))) return found;
  await lockEmailRows(tx, mails);
  const now = await readMails(tx, mails);
  return found.map((mail) => (mail === null ? null : (now.get(keyOf(mail)) ?? null)));
}

async function readMails(tx: Database, keys: readonly EmailKey[]): Promise<Map<string, ReturnedMail>> {
  const unique = [...new Map(keys.map((key) => [keyOf(key), key])).values()];
  if (unique.length === 0) return new Map();
  const rows = await findReturnedRows(tx, unique);
  return new Map(rows.map((row) => [keyOf(row), row]));
}
