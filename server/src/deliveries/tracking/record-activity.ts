// Records a batch of opens and clicks in one transaction: statuses, clicked links, counters and events. Machine visits change no status and
// have separate event names.
import {
  EMAIL_CLICK,
  EMAIL_MACHINE_CLICK,
  EMAIL_MACHINE_OPEN,
  EMAIL_OPEN,
} from "@postloft/contract/event-names.ts";
import type { Tx } from "../../platform/database/database.ts";
import { addLateSent, countEventsOfDeleted } from "../../events/counts.ts";
import { recordEvents, type EventToRecord } from "../../events/events.ts";
import { advanceEmails, findReturnedMails } from "../../emails/returned/returned-emails.ts";
import { pairUp } from "../../platform/pair-up.ts";
import { PIXEL_NUMBER } from "../../rendering/link-target.ts";
import { isTracked } from "../../emails/rows/tracking-rules.ts";
import { hasLeft } from "../rules.ts";
import { machineSignOf, mayProveMachine, type Hit } from "./machine-rules.ts";
import {
  addCounts,
  findHitMails,
  insertLinkClicks,
  listRecordedHits,
  type CountRow,
  type HitMailRow,
} from "./queries.ts";

/** An open or a click. */
export interface Activity extends Omit<Hit, "msAfterSending"> {
  projectId: string;
  emailId: string;
  /** The number of the link; PIXEL_NUMBER for an open. */
  number: number;
  /** The target of the link; null for an open. */
  link: string | null;
  at: Date;
  /** Whether to classify it with what is known now, instead of waiting for later clicks. */
  isLast: boolean;
}

interface Seen {
  activity: Activity;
  mail: HitMailRow;
  isMachine: boolean;
  isEarly: boolean;
}

/** Whether an activity was the first of its kind. */
interface Firsts {
  isFirstOpen: boolean;
  isFirstClick: boolean;
  isFirstOfLink: boolean;
}

const NO_CAMPAIGN = "00000000-0000-0000-0000-000000000000";
const NOTHING_FIRST: Firsts = { isFirstOpen: false, isFirstClick: false, isFirstOfLink: false };

const mailKey = ({ projectId, emailId }: { projectId: string; emailId: string }) => `${projectId} ${emailId}`;

/**
 * Records activities of tracked emails that have left and ignores others. Returns those it is too early for: nothing shows a machine yet,
 * but another link of the same recent email may still be clicked.
 */
export async function recordActivities(tx: Tx, activities: readonly Activity[]): Promise<Set<Activity>> {
  const evaluated = await evaluate(tx, activities);
  const early = evaluated.filter(({ isEarly }) => isEarly);
  await recordSeen(
    tx,
    evaluated.filter(({ isEarly }) => !isEarly),
  );
  return new Set(early.map(({ activity }) => activity));
}

async function recordSeen(tx: Tx, seen: readonly Seen[]): Promise<void> {
  if (seen.length === 0) return;
  const people = seen.filter(({ isMachine }) => !isMachine);
  const firsts = await recordFirsts(tx, people);
  await addCounts(tx, countsOf(seen, firsts));
  const known = await readRecorded(tx, seen);
  const reported = seen.flatMap((one) => notifiedOf(one, firsts.get(one) ?? NOTHING_FIRST, known));
  await recordEvents(tx, await eventsOf(tx, reported));
  await countEventsOfDeleted(
    tx,
    reported.flatMap(({ one: { activity, mail, isMachine }, name, more }) =>
      // Machine visits count once for each email, and no event of a deleted contact says which were counted.
      mail.contactId === null && !isMachine ? [{ ...activity, name, data: more }] : [],
    ),
  );
}

/** Finds the emails and classifies each visit. Sorts by email, so that batches take locks in the same order. */
async function evaluate(tx: Tx, activities: readonly Activity[]): Promise<Seen[]> {
  const keys = [...new Map(activities.map((activity) => [mailKey(activity), activity])).values()];
  const mails = await readHit(tx, keys);
  const seen = activities.flatMap((activity): Seen[] => {
    const mail = mails.get(mailKey(activity));
    if (mail === undefined || !hasLeft(mail.status) || !isStillTracked(mail)) return [];
    const msAfterSending = mail.sentAt === null ? null : activity.at.getTime() - mail.sentAt.getTime();
    const hit = { ...activity, msAfterSending };
    const isMachine = machineSignOf(hit) !== null;
    return [{ activity, mail, isMachine, isEarly: !activity.isLast && !isMachine && mayProveMachine(hit) }];
  });
  return seen.toSorted((one, other) => (one.mail.id < other.mail.id ? -1 : 1));
}

async function readHit(
  tx: Tx,
  keys: ReadonlyArray<{ projectId: string; emailId: string }>,
): Promise<Map<string, HitMailRow>> {
  const rows = await findHitMails(tx, keys);
  return new Map(rows.map((row) => [mailKey({ projectId: row.projectId, emailId: row.id }), row]));
}

function isStillTracked({ tracking, tracked, listKind, campaignId }: HitMailRow): boolean {
  return isTracked(tracking, { tracked, listKind, isOfCampaign: campaignId !== null });
}

/** A click also counts as an open, even if the images were not loaded. */
async function recordFirsts(tx: Tx, people: readonly Seen[]): Promise<Map<Seen, Firsts>> {
  if (people.length === 0) return new Map();
  const clicks = people.filter(({ activity }) => activity.kind === "click");
  const stepOf = ({ activity, mail }: Seen) => ({ projectId: mail.projectId, id: mail.id, at: activity.at });
  const steps = [
    ...people.map((one) => ({ ...stepOf(one), status: "OPENED" as const })),
    ...clicks.map((one) => ({ ...stepOf(one), status: "CLICKED" as const })),
  ];
  const taken = await advanceEmails(tx, steps, addLateSent);
  const newLinks = await recordLinkClicks(tx, clicks);
  const clickAt = new Map(clicks.map((one, at) => [one, people.length + at]));
  return new Map(
    people.map((one, at) => [
      one,
      {
        isFirstOpen: taken[at]?.isFirst ?? false,
        isFirstClick: taken[clickAt.get(one) ?? -1]?.isFirst ?? false,
        isFirstOfLink: newLinks.has(one),
      },
    ]),
  );
}

const linkKey = (mail: { projectId: string; emailId: string; number: number }) =>
  `${mailKey(mail)} ${mail.number}`;

/** Returns the clicks that were the first on their link. */
async function recordLinkClicks(tx: Tx, clicks: readonly Seen[]): Promise<Set<Seen>> {
  if (clicks.length === 0) return new Set();
  const byLink = new Map<string, Seen>();
  for (const one of clicks) if (!byLink.has(linkKey(one.activity))) byLink.set(linkKey(one.activity), one);
  const inserted = await insertLinkClicks(
    tx,
    [...byLink.values()].map(({ activity }) => activity),
  );
  return new Set(
    inserted.flatMap((row) => {
      const first = byLink.get(linkKey(row));
      return first === undefined ? [] : [first];
    }),
  );
}

function countsOf(seen: readonly Seen[], firsts: ReadonlyMap<Seen, Firsts>): CountRow[] {
  const counts = new Map<string, CountRow>();
  const add = ({ mail }: Seen, number: number, more: Pick<CountRow, "total" | "mails" | "machine">) => {
    const campaignId = mail.campaignId ?? NO_CAMPAIGN;
    const key = `${mail.projectId} ${mail.contentId} ${String(number).padStart(10)} ${campaignId}`;
    const before = counts.get(key);
    counts.set(key, {
      projectId: mail.projectId,
      contentId: mail.contentId,
      number,
      campaignId,
      total: (before?.total ?? 0) + more.total,
      mails: (before?.mails ?? 0) + more.mails,
      machine: (before?.machine ?? 0) + more.machine,
    });
  };
  for (const one of seen) {
    const { isFirstOpen, isFirstOfLink } = firsts.get(one) ?? NOTHING_FIRST;
    const isClick = one.activity.kind === "click";
    add(one, one.activity.number, {
      total: one.isMachine ? 0 : 1,
      mails: Number(isClick ? isFirstOfLink : isFirstOpen),
      machine: one.isMachine ? 1 : 0,
    });
    if (isClick && isFirstOpen) add(one, PIXEL_NUMBER, { total: 1, mails: 1, machine: 0 });
  }
  // Sorted, so that all transactions lock counters in the same order.
  return [...counts].toSorted(([one], [other]) => (one < other ? -1 : 1)).map(([, count]) => count);
}

const MACHINE_EVENTS = { open: EMAIL_MACHINE_OPEN, click: EMAIL_MACHINE_CLICK };
const recordedKey = (mail: { projectId: string; emailId: string }, name: string, link: string | null) =>
  `${mailKey(mail)} ${name} ${link ?? ""}`;

/** Returns the machine events already recorded for these emails. Each is recorded once, however often the machine returns. */
async function readRecorded(tx: Tx, seen: readonly Seen[]): Promise<Set<string>> {
  const mails = new Map(
    seen.filter(({ isMachine }) => isMachine).map(({ activity }) => [mailKey(activity), activity]),
  );
  if (mails.size === 0) return new Set();
  const rows = await listRecordedHits(tx, [...mails.values()], Object.values(MACHINE_EVENTS));
  return new Set(rows.map((row) => recordedKey(row, row.name, row.link)));
}

interface Reported {
  one: Seen;
  name: string;
  more: Record<string, unknown>;
}

/** Returns events for the first open and the first click on each link. Repeats only count. */
function notifiedOf(one: Seen, firsts: Firsts, recorded: Set<string>): Reported[] {
  const { activity, isMachine } = one;
  const link = activity.kind === "click" ? { link: activity.link } : {};
  if (!isMachine) {
    const open = { one, name: EMAIL_OPEN, more: { isFirst: true, isMachine } };
    const click = { one, name: EMAIL_CLICK, more: { ...link, isFirst: firsts.isFirstClick, isMachine } };
    return [...(firsts.isFirstOpen ? [open] : []), ...(firsts.isFirstOfLink ? [click] : [])];
  }
  const name = MACHINE_EVENTS[activity.kind];
  const key = recordedKey(activity, name, activity.link);
  if (recorded.has(key)) return [];
  recorded.add(key);
  return [{ one, name, more: { ...link, isFirst: false, isMachine } }];
}

async function eventsOf(tx: Tx, reported: readonly Reported[]): Promise<EventToRecord[]> {
  const mails = await findReturnedMails(
    tx,
    reported.map(({ one: { activity } }) => ({ ...activity, providerId: null })),
  );
  return pairUp(reported, mails).flatMap(([{ one, name, more }, found]): EventToRecord[] => {
    const { mail } = one;
    // Deleted contacts have no events.
    if (mail.contactId === null) return [];
    const data = { ...found?.facts, ...more };
    return [{ projectId: mail.projectId, contactId: mail.contactId, name, data, emailId: mail.id }];
  });
}
