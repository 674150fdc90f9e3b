// What came back about mails, booked at the mails themselves: each kind once, forward only, in any order.
import { EMAIL_STATUSES, type EmailStatus } from "@postloft/contract/emails.ts";
import type { Database, Tx } from "../../platform/database.ts";
import { noteSentMails } from "../../reactions/reactions.ts";
import {
  findEmailKeysById,
  findEmailKeysByProviderId,
  findReturnedRows,
  lockEmailRows,
  markLeft,
  updateConfirmed,
  updateFurtherTries,
  updateReturned,
  updateSoftBounced,
} from "./returned-queries.ts";
import { isForward, RETURNED_STATUSES, type ReturnedStatus } from "../outbox/rules.ts";
import { countMails, type ToCount } from "../booking/sending-hours.ts";

export { statusInDoubt } from "./returned-queries.ts";

export interface EmailKey {
  projectId: string;
  id: string;
}

/** Something that came back about a mail, and when it happened. */
export interface EmailStep extends EmailKey {
  status: ReturnedStatus;
  at: Date;
}

/** `isFirst`: whether it was the first of its kind for the mail; never for a mail that has not left. */
export type EmailStepTaken = Omit<EmailStep, "at"> & { isFirst: boolean };

/**
 * Adds mails to the counts of events of which it became known only now that they had left, in the same transaction: events/ comes later
 * in the reading order and hands it in.
 */
export type AddLateSent = (tx: Tx, projectId: string, emailIds: readonly string[]) => Promise<void>;

/** What in the middle of a handover says that the mail was taken. An opening does not: filters look before they take. */
const SURE: ReadonlySet<ReturnedStatus> = new Set(["DELIVERED", "BOUNCED", "COMPLAINED"]);
const COUNTED: Readonly<Partial<Record<ReturnedStatus, ToCount["what"]>>> = {
  BOUNCED: "bounced",
  COMPLAINED: "complained",
};

const keyOf = ({ projectId, id }: EmailKey) => `${projectId} ${id}`;

/** Mails that are a transaction's own; by key those of which nobody has noted yet that they left. */
export type LockedEmails = ReadonlySet<string>;

/**
 * Makes these mails the transaction's own, in one order everywhere: transactions that then book several things about the same
 * mails take turns, where each would wait for the other. What comes back about a mail in doubt makes its further try needless.
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
 * Books what came back about mails: sets the instant of its kind where there is none yet and moves the state forward only,
 * so that repeats and reordering change nothing (decision 9). Returns one entry per step, in order; of equal steps in one
 * call the first is first, and the earliest instant counts. `locked`: the mails, where the caller has locked them.
 */
export async function advanceEmails(
  tx: Tx,
  steps: readonly EmailStep[],
  addLateSent: AddLateSent,
  locked?: LockedEmails,
): Promise<EmailStepTaken[]> {
  if (steps.length === 0) return [];
  const unsent = locked ?? (await lockEmails(tx, steps));
  // Of a mail with a sure sign among its steps that one tells.
  const surest = steps
    .filter((step) => unsent.has(keyOf(step)))
    .toSorted((one, other) => Number(SURE.has(other.status)) - Number(SURE.has(one.status)));
  const left = await markLeft(
    tx,
    earliestOf(surest).map((step) => ({ ...step, isSure: SURE.has(step.status) })),
  );
  await noteLeft(tx, left, addLateSent);
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

/** Nothing that comes of a test mail is counted. */
const isCounted = (row: { isTest: boolean | null }) => row.isTest !== true;

/** Each mail once, with its earliest instant, and with the rest of its first step. */
function earliestOf<Step extends EmailKey & { at: Date }>(steps: readonly Step[]): Step[] {
  const byMail = new Map<string, Step>();
  for (const step of steps) {
    const first = byMail.get(keyOf(step));
    if (first === undefined) byMail.set(keyOf(step), step);
    else if (step.at < first.at) byMail.set(keyOf(step), { ...first, at: step.at });
  }
  return [...byMail.values()];
}

/** Notes that mailboxes did not take mails for now. Returns for each step, in order, whether it was the first of its mail. */
export async function noteSoftBounces(
  tx: Tx,
  steps: ReadonlyArray<EmailKey & { at: Date }>,
): Promise<boolean[]> {
  if (steps.length === 0) return [];
  const firsts = new Set((await updateSoftBounced(tx, earliestOf(steps))).map(keyOf));
  return steps.map((step) => firsts.delete(keyOf(step)));
}

/** Mails of which nobody knew whether they had left, and whose taker says that they did. Returns for each step whether it told. */
export async function confirmSent(
  tx: Tx,
  steps: ReadonlyArray<EmailKey & { at: Date }>,
  addLateSent: AddLateSent,
): Promise<boolean[]> {
  if (steps.length === 0) return [];
  const rows = await updateConfirmed(tx, earliestOf(steps));
  await noteLeft(tx, rows, addLateSent);
  const confirmed = new Set(rows.map(keyOf));
  return steps.map((step) => confirmed.delete(keyOf(step)));
}

/** Counts mails of which nobody knew yet that they had left, and notes their contacts. */
async function noteLeft(
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
  await noteSentMails(
    tx,
    rows.map((row) => ({ projectId: row.projectId, contactId: row.contactId, emailId: row.id })),
  );
  await countMails(
    tx,
    rows.map((row) => ({ projectId: row.projectId, at: row.sentAt, what: "sent" })),
  );
  // Test mails as well: each is an event of its contact.
  for (const [projectId, own] of Map.groupBy(all, (row) => row.projectId))
    await addLateSent(
      tx,
      projectId,
      own.map(({ id }) => id),
    );
}

/** How somebody else names a mail of ours: by our ids, by the id alone, or by what the transport called it. */
export interface MailNames {
  projectId: string | null;
  emailId: string | null;
  providerId: string | null;
}

export interface ReturnedMail extends EmailKey {
  contactId: string | null;
  status: EmailStatus;
  toAddress: string;
  /** The keyed hash of the address, when the contact was deleted and the address erased with it. */
  erasedTo: string | null;
  /** Whether others than the contact got the same message. */
  hasCopies: boolean;
  /** Whether the project kept it no longer: its address is empty. */
  isForgotten: boolean;
  /** What events about the mail tell of it. */
  facts: Record<string, unknown>;
}

/** The mails that are meant, one entry per name, in order; our own ids count first, the transport's second. */
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

/** Where a mail may come to stand elsewhere in this very moment, in a way that decides what something about it means. */
const MOVING: ReadonlySet<EmailStatus> = new Set(["SENDING", "UNCONFIRMED"]);

/** The same for whoever books by where the mails stand: in handover or in doubt, they stay where they are until the transaction ends. */
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
