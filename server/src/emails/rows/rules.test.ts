// Tests the rules for retries, dates and states of emails.
import { expect, test } from "vitest";
import { EMAIL_STATUSES, type EmailKind } from "@postloft/contract/emails.ts";
import { newId } from "../../platform/ids.ts";
import {
  isForward,
  kindOf,
  messageDateOf,
  messageIdOf,
  RETURNED_STATUSES,
  retryWaitMs,
  waitInDoubtMs,
} from "./rules.ts";

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

test.each([
  [1, 30_000],
  [2, 2 * MINUTE_MS],
  [3, 10 * MINUTE_MS],
  [4, 30 * MINUTE_MS],
  [5, HOUR_MS],
  [6, HOUR_MS],
  [40, HOUR_MS],
])("waits after temporary error %i for %i ms plus up to a fifth of jitter", (attempts, wait) => {
  expect(retryWaitMs("CAMPAIGN", attempts, 0)).toBe(wait);
  expect(retryWaitMs("CAMPAIGN", attempts, 1)).toBe(Math.round(wait * 1.2));
});

test.each([
  ["TRANSACTIONAL", 12],
  ["WORKFLOW", 72],
  ["CAMPAIGN", 72],
] as const)("retries %s email for %i hours in total and as long again when requeued", (kind, hours) => {
  const waits = [];
  for (let wait; (wait = retryWaitMs(kind, waits.length + 1, 0.5)) !== null;) waits.push(wait);
  const waitedMs = waits.reduce((sum, wait) => sum + wait, 0);
  expect(waitedMs).toBeLessThanOrEqual(hours * HOUR_MS);
  expect(waitedMs).toBeGreaterThan((hours - 1.1) * HOUR_MS);
  expect(retryWaitMs(kind, waits.length + 2, 0.5)).toBe(waits[0]);
});

const wait = (kind: EmailKind, attempts: number, earlierDoubts: number) =>
  waitInDoubtMs(kind, { attempts, earlierDoubts }, 0);

test("retries only transactional email with an unknown result, and only once", () => {
  expect(wait("TRANSACTIONAL", 1, 0)).toBe(30_000);
  expect(wait("TRANSACTIONAL", 2, 0)).toBe(2 * MINUTE_MS);
  expect(wait("TRANSACTIONAL", 2, 1)).toBeNull();
  expect(wait("TRANSACTIONAL", 3, 1)).toBeNull();
  expect(wait("WORKFLOW", 1, 0)).toBeNull();
  expect(wait("CAMPAIGN", 1, 0)).toBeNull();
});

test("maps each priority to its kind", () => {
  expect([1, 2, 3].map(kindOf)).toEqual(["TRANSACTIONAL", "WORKFLOW", "CAMPAIGN"]);
});

test("keeps the Message-ID and Date the same for every attempt", () => {
  const id = newId();
  expect(messageIdOf(id, "me@example.com")).toBe(`${id}@example.com`);
  expect(Math.abs(messageDateOf(id).getTime() - Date.now())).toBeLessThan(5_000);
});

const after = (ms: number) => new Date(Date.now() + ms);

test("dates a campaign email when it is created if that is over an hour after the start", () => {
  const id = newId();
  expect(messageDateOf(id, after(59 * MINUTE_MS))).toEqual(messageDateOf(id));
  const late = after(61 * MINUTE_MS);
  expect(messageDateOf(id, late)).toEqual(late);
});

test("reports only move an email's status forward", () => {
  const allowed = EMAIL_STATUSES.flatMap((from) =>
    RETURNED_STATUSES.filter((to) => isForward(from, to)).map((to) => `${from} → ${to}`),
  );
  expect(allowed).toEqual([
    "SENDING → DELIVERED",
    "SENDING → BOUNCED",
    "SENDING → COMPLAINED",
    "SENT → DELIVERED",
    "SENT → OPENED",
    "SENT → CLICKED",
    "SENT → BOUNCED",
    "SENT → COMPLAINED",
    "UNCONFIRMED → DELIVERED",
    "UNCONFIRMED → OPENED",
    "UNCONFIRMED → CLICKED",
    "UNCONFIRMED → BOUNCED",
    "UNCONFIRMED → COMPLAINED",
    "DELIVERED → OPENED",
    "DELIVERED → CLICKED",
    "DELIVERED → BOUNCED",
    "DELIVERED → COMPLAINED",
    "OPENED → CLICKED",
    "OPENED → BOUNCED",
    "OPENED → COMPLAINED",
    "CLICKED → BOUNCED",
    "CLICKED → COMPLAINED",
    "BOUNCED → COMPLAINED",
  ]);
});
