// Applies delivery reports in one transaction: advances statuses, records events, unsubscribes after a hard bounce or complaint, and
// suppresses the address.
import { domainOf } from "@postloft/contract/address.ts";
import { now, nowMs } from "../platform/clock.ts";
import type { Tx } from "../platform/database/database.ts";
import { idTimeMs } from "../platform/ids.ts";
import { addLateSent, countEventsOfDeleted, type EventOfDeleted } from "../events/counts.ts";
import { recordEvents, type EventToRecord } from "../events/events.ts";
import type { Feedbacks } from "../emails/results/outcomes.ts";
import { pairUp } from "../platform/pair-up.ts";
import { notifyRejection } from "../transports/replies/told-refusals.ts";
import { numberOf, PIXEL_NUMBER } from "../rendering/link-target.ts";
import {
  advanceEmails,
  confirmSent,
  findReturnedMails,
  lockEmails,
  recordSoftBounces,
  type EmailStepTaken,
  type LockedEmails,
  type ReturnedMail,
} from "../emails/returned/returned-emails.ts";
import { SYSTEM_PROJECT_ID } from "../emails/rows/system-project.ts";
import { optOutOfMail } from "./opt-out-of-mail.ts";
import { addSuppressions, type ToSuppress } from "../suppressions/suppressions.ts";
import type { Guard } from "./reputation.ts";
import { recordActivities, type Activity } from "./tracking/record-activity.ts";
import {
  afterTheEnd,
  FEEDBACK,
  INTERPRETATIONS,
  neverLeaves,
  type Interpretation,
  type ReportKind,
} from "./rules.ts";

/** A report about an email that was found. */
export interface MailReport {
  mail: ReturnedMail;
  /** The recipients named in the report; null or missing if there are none. */
  recipients?: readonly string[] | null;
  kind: ReportKind;
  /** When it happened, if the report says so. */
  at: Date | null;
  /** Event data in addition to the facts of the email. */
  data: Readonly<Record<string, unknown>>;
}

interface Item {
  projectId: string;
  emailId: string;
  contactId: string | null;
  toAddress: string;
  /** Null if the email is unknown. */
  mail: ReturnedMail | null;
  recipients: readonly string[] | null;
  facts: object;
  meaning: Interpretation;
  at: Date;
  data: Readonly<Record<string, unknown>>;
  /** Whether the email was in doubt. Any report proves that the server accepted it. */
  isInDoubt: boolean;
}

export interface Deliveries {
  /** Applies the feedback that transports return with their replies. */
  applyFeedback: Feedbacks;
  /** Applies later reports. Returns for each report, in order, whether it was new. */
  applyReports(tx: Tx, reports: readonly MailReport[]): Promise<boolean[]>;
}

export function createDeliveries({ guard }: { guard: Guard }): Deliveries {
  return {
    async applyFeedback(tx, items) {
      const at = now();
      const mails = await findReturnedMails(
        tx,
        items.map(({ projectId, emailId }) => ({ projectId, emailId, providerId: null })),
      );
      await apply(
        tx,
        pairUp(items, mails).flatMap(([{ feedback, answer, ...item }, mail]) => {
          const { facts = {}, toAddress = "" } = mail ?? {};
          const data =
            answer === null ? {} : { reason: answer, ...notifyRejection(answer, domainOf(toAddress)) };
          return FEEDBACK[feedback].map((meaning) => ({
            ...item,
            toAddress,
            mail,
            recipients: null,
            facts,
            meaning,
            at,
            data,
            isInDoubt: false,
          }));
        }),
        guard,
      );
    },
    async applyReports(tx, reports) {
      return apply(
        tx,
        reports.map(({ mail, recipients = null, kind, at, data }) => ({
          projectId: mail.projectId,
          emailId: mail.id,
          contactId: mail.contactId,
          toAddress: mail.toAddress,
          mail,
          recipients,
          facts: mail.facts,
          meaning: neverLeaves(mail.status) ? afterTheEnd(INTERPRETATIONS[kind]) : INTERPRETATIONS[kind],
          at: plausible(at, mail.id),
          data,
          isInDoubt: mail.status === "UNCONFIRMED",
        })),
        guard,
      );
    },
  };
}

/** Consent sources that also suppress the address, with the reason. */
const SUPPRESSES: Readonly<Record<string, ToSuppress["reason"]>> = {
  bounce: "HARD_BOUNCE",
  complaint: "COMPLAINT",
};

/** Clamps a reported time to between the creation of the email and now. */
function plausible(at: Date | null, emailId: string): Date {
  const latestMs = nowMs();
  return new Date(Math.min(latestMs, Math.max(idTimeMs(emailId), at?.getTime() ?? latestMs)));
}

async function apply(tx: Tx, items: readonly Item[], guard: Guard): Promise<boolean[]> {
  // Lock all emails at once and in one order, so that transactions with the same emails can't deadlock.
  const locked = await lockEmails(
    tx,
    items.map(({ projectId, emailId }) => ({ projectId, id: emailId })),
  );
  const steps = await takeSteps(tx, items, locked);
  await recordActivities(tx, items.flatMap(activityOf));
  const isNew = await findNew(tx, items, steps);
  const fresh = items.filter((_, at) => isNew[at] === true);
  await recordEvents(tx, fresh.flatMap(eventsOf));
  await countEventsOfDeleted(tx, fresh.flatMap(eventsOfDeleted));
  await optOutOfMail(
    tx,
    fresh.flatMap(({ mail, recipients, meaning: { unsubscribe: source } }) =>
      source === null || mail === null ? [] : [{ mail, recipients, source }],
    ),
  );
  await addSuppressions(tx, fresh.flatMap(suppressionOf));
  const isBad = ({ meaning: { unsubscribe } }: Item) =>
    unsubscribe === "bounce" || unsubscribe === "complaint";
  await guard(tx, [...new Set(fresh.filter(isBad).map(({ projectId }) => projectId))]);
  return isNew;
}

/**
 * Returns the suppression that a hard bounce or complaint adds for the address, whichever contact has it now. Platform email has no
 * contacts.
 */
function suppressionOf({
  projectId,
  emailId,
  toAddress: email,
  meaning: { unsubscribe },
}: Item): ToSuppress[] {
  const reason = SUPPRESSES[unsubscribe ?? ""];
  return reason === undefined || email === "" || projectId === SYSTEM_PROJECT_ID
    ? []
    : [{ projectId, email, reason, emailId, actor: null }];
}

/** Advances the statuses and returns the result for each item that has one. */
async function takeSteps(
  tx: Tx,
  items: readonly Item[],
  locked: LockedEmails,
): Promise<Map<Item, EmailStepTaken>> {
  const own: Item[] = [];
  const steps = items.flatMap((item) => {
    const { status } = item.meaning;
    if (status === null) return [];
    own.push(item);
    return [{ projectId: item.projectId, id: item.emailId, status, at: item.at }];
  });
  const taken = await advanceEmails(tx, steps, addLateSent, locked);
  return new Map(own.flatMap((item, at) => (taken[at] === undefined ? [] : [[item, taken[at]]])));
}

/** Returns the open or click that SES reported. */
function activityOf({ projectId, emailId, meaning: { activity: kind }, at, data }: Item): Activity[] {
  if (kind === null) return [];
  const { link, userAgent } = data;
  const url = kind === "click" && typeof link === "string" ? link : null;
  return [
    {
      projectId,
      emailId,
      kind,
      number: url === null ? PIXEL_NUMBER : numberOf(url, true),
      link: url,
      at,
      userAgent: typeof userAgent === "string" ? userAgent : "",
      purpose: "",
      otherLinkMs: Number.POSITIVE_INFINITY,
      isLast: true,
    },
  ];
}

/** Returns whether each item was reported for the first time. */
async function findNew(
  tx: Tx,
  items: readonly Item[],
  steps: ReadonlyMap<Item, EmailStepTaken>,
): Promise<boolean[]> {
  const of = (once: Interpretation["once"]) => items.filter((item) => item.meaning.once === once);
  const keyOf = ({ projectId, emailId, at }: Item) => ({ projectId, id: emailId, at });
  const [soft, confirmed] = [of("soft-bounce"), of("confirmed")];
  const firstSoft = await recordSoftBounces(tx, soft.map(keyOf));
  // The other items advance the status themselves.
  const proofs = items.filter(({ isInDoubt, meaning }) => isInDoubt && meaning.status === null);
  await confirmSent(tx, proofs.filter((item) => !confirmed.includes(item)).map(keyOf), addLateSent);
  const reported = await confirmSent(tx, confirmed.map(keyOf), addLateSent);
  const firsts = new Map<Item, boolean | undefined>([
    ...soft.map((item, at) => [item, firstSoft[at]] as const),
    ...confirmed.map((item, at) => [item, reported[at]] as const),
  ]);
  return items.map((item) => {
    const { once, status } = item.meaning;
    if (once === "never") return true;
    return once === "status"
      ? status === null || steps.get(item)?.isFirst === true
      : firsts.get(item) === true;
  });
}

function eventsOf({ projectId, emailId, contactId, facts, meaning, data }: Item): EventToRecord[] {
  return contactId === null || meaning.event === null
    ? []
    : [
        {
          projectId,
          contactId,
          name: meaning.event,
          data: { ...facts, ...data, ...meaning.data },
          emailId,
        },
      ];
}

/** Returns the event if the contact was deleted. Platform email has no contacts and is not counted. */
function eventsOfDeleted({ projectId, emailId, contactId, meaning, data }: Item): EventOfDeleted[] {
  return contactId !== null || meaning.event === null || projectId === SYSTEM_PROJECT_ID
    ? []
    : [{ projectId, emailId, name: meaning.event, data: { ...data, ...meaning.data } }];
}
