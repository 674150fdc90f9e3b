// What came back about mails, done: states move forward, events are recorded, a hard bounce or complaint unsubscribes the contact and
// lists the address; all in one transaction.
import { domainOf } from "@postloft/contract/address.ts";
import { now, nowMs } from "../platform/clock.ts";
import type { Tx } from "../platform/database/database.ts";
import { idTimeMs } from "../platform/ids.ts";
import { addLateSent } from "../events/counts.ts";
import { recordEvents, type EventToRecord } from "../events/events.ts";
import type { Feedbacks } from "../emails/booking/outcomes.ts";
import { pairUp } from "../platform/pair-up.ts";
import { tellRefusal } from "../transports/answers/told-refusals.ts";
import { numberOf, PIXEL_NUMBER } from "../rendering/link-target.ts";
import {
  advanceEmails,
  confirmSent,
  findReturnedMails,
  lockEmails,
  noteSoftBounces,
  type EmailStepTaken,
  type LockedEmails,
  type ReturnedMail,
} from "../emails/returned/returned-emails.ts";
import { SYSTEM_PROJECT_ID } from "../emails/rows/system-project.ts";
import { optOutOfMail } from "./opt-out-of-mail.ts";
import { addSuppressions, type ToSuppress } from "../suppressions/suppressions.ts";
import type { Guard } from "./reputation.ts";
import { bookActivities, type Activity } from "./tracking/book-activity.ts";
import {
  afterTheEnd,
  FEEDBACK,
  INTERPRETATIONS,
  neverLeaves,
  type Interpretation,
  type ReportKind,
} from "./rules.ts";

/** A report about a mail that is known. */
export interface MailReport {
  mail: ReturnedMail;
  /** The recipients that the report names; null or missing: none. */
  recipients?: readonly string[] | null;
  kind: ReportKind;
  /** When it happened, as far as the report says. */
  at: Date | null;
  /** What the event tells beside the facts of the mail. */
  data: Readonly<Record<string, unknown>>;
}

interface Item {
  projectId: string;
  emailId: string;
  contactId: string | null;
  toAddress: string;
  /** Null: the mail is not in the books. */
  mail: ReturnedMail | null;
  recipients: readonly string[] | null;
  facts: object;
  meaning: Interpretation;
  at: Date;
  data: Readonly<Record<string, unknown>>;
  /** Nobody knew whether the mail had been taken: whatever comes back says that it was. */
  isInDoubt: boolean;
}

export interface Deliveries {
  /** What transports told with their answers. */
  applyFeedback: Feedbacks;
  /** What was reported later. Returns for each report, in order, whether it was new. */
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
          const data = answer === null ? {} : { reason: answer, ...tellRefusal(answer, domainOf(toAddress)) };
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

/** How a contact is unsubscribed that also lists its address. */
const SUPPRESSES: Readonly<Record<string, ToSuppress["reason"]>> = {
  bounce: "HARD_BOUNCE",
  complaint: "COMPLAINT",
};

/** Not before the mail was there and not in the future, whatever a report says. */
function plausible(at: Date | null, emailId: string): Date {
  const latestMs = nowMs();
  return new Date(Math.min(latestMs, Math.max(idTimeMs(emailId), at?.getTime() ?? latestMs)));
}

async function apply(tx: Tx, items: readonly Item[], guard: Guard): Promise<boolean[]> {
  // All at once and in one order, before anything is booked: two that book the same mails must not wait for each other.
  const locked = await lockEmails(
    tx,
    items.map(({ projectId, emailId }) => ({ projectId, id: emailId })),
  );
  const steps = await takeSteps(tx, items, locked);
  await bookActivities(tx, items.flatMap(activityOf));
  const isNew = await findNew(tx, items, steps);
  await recordEvents(
    tx,
    items.flatMap((item, at) => (isNew[at] === true ? eventsOf(item) : [])),
  );
  const fresh = items.filter((_, at) => isNew[at] === true);
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

/** What a hard bounce or a complaint says of the address itself, whoever its contact is by now; system mail goes to no contacts. */
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

/** Moves the states; what became of each item that has one. */
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

/** What SES saw of an opening or a click. */
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

/** Whether each item was told for the first time. */
async function findNew(
  tx: Tx,
  items: readonly Item[],
  steps: ReadonlyMap<Item, EmailStepTaken>,
): Promise<boolean[]> {
  const of = (once: Interpretation["once"]) => items.filter((item) => item.meaning.once === once);
  const keyOf = ({ projectId, emailId, at }: Item) => ({ projectId, id: emailId, at });
  const [soft, confirmed] = [of("soft-bounce"), of("confirmed")];
  const firstSoft = await noteSoftBounces(tx, soft.map(keyOf));
  // The others of these move the mail by themselves.
  const proofs = items.filter(({ isInDoubt, meaning }) => isInDoubt && meaning.status === null);
  await confirmSent(tx, proofs.filter((item) => !confirmed.includes(item)).map(keyOf), addLateSent);
  const told = await confirmSent(tx, confirmed.map(keyOf), addLateSent);
  const firsts = new Map<Item, boolean | undefined>([
    ...soft.map((item, at) => [item, firstSoft[at]] as const),
    ...confirmed.map((item, at) => [item, told[at]] as const),
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
