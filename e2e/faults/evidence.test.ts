// Tests the judge itself: each promise is broken once in otherwise correct evidence.
import { describe, expect, test } from "vitest";
import type { SinkMessage } from "../../server/src/testing/smtp-sink-rules.ts";
import {
  faultsOfSample,
  checkEvidence,
  type Campaign,
  type Evidence,
  type Expectation,
  type Recipient,
} from "./evidence.ts";

const NOW = Date.parse("2026-11-21T12:00:00Z");
const ADDRESSES = ["ada@example.net", "bob@example.net", "eve@example.net"];
const expected: Expectation = { name: "scene", recipients: ADDRESSES };

function recipientOf(email: string): Recipient {
  return { id: `id-of-${email.split("@")[0]}`, email, status: "SENT", reason: null, attempts: 1 };
}

function mailTo(email: string, messageId = `<${recipientOf(email).id}@mail.example.com>`): SinkMessage {
  return {
    messageId,
    sender: "news@mail.example.com",
    recipients: [email],
    raw: Buffer.alloc(0),
    at: NOW,
    mailParameters: "",
    heloName: "test",
    isEncrypted: false,
    user: undefined,
    connection: 1,
  };
}

const campaign: Campaign = {
  id: "id",
  status: "SENT",
  totalRecipients: 3,
  sentCount: 3,
  failedCount: 0,
  skippedCount: 0,
  unconfirmedCount: 0,
  pendingCount: 0,
  startedAt: new Date(NOW).toISOString(),
};
const inOrder: Evidence = {
  campaign,
  stats: campaign,
  recipients: ADDRESSES.map(recipientOf),
  journal: ADDRESSES.map((email) => mailTo(email)),
  sentEvents: ADDRESSES.map((email) => recipientOf(email).id),
  rows: { fixed: 3, mails: 3, addresses: 3, sent: 3 },
};

/** Returns evidence in which Eve's email ended with this status, consistently everywhere. */
function eveIs(
  status: string,
  count: "failedCount" | "unconfirmedCount" | "pendingCount",
  reason: string | null,
): Evidence {
  const counted = { ...campaign, sentCount: 2, [count]: 1 };
  return {
    campaign: counted,
    stats: counted,
    recipients: inOrder.recipients.map((one) =>
      one.email.startsWith("eve") ? { ...one, status, reason } : one,
    ),
    journal: inOrder.journal.slice(0, 2),
    sentEvents: inOrder.sentEvents.slice(0, 2),
    rows: { ...inOrder.rows, sent: 2 },
  };
}

test("accepts correct evidence, and an email in doubt where one is allowed", () => {
  expect(checkEvidence(inOrder, expected)).toEqual([]);
  const inDoubt = eveIs("UNCONFIRMED", "unconfirmedCount", "The sender stopped.");
  expect(checkEvidence(inDoubt, { ...expected, mayBeInDoubt: 1 })).toEqual([]);
  const taken = { ...inDoubt, journal: inOrder.journal };
  expect(checkEvidence(taken, { ...expected, mayBeInDoubt: 1 })).toEqual([]);
  const failed = eveIs("FAILED", "failedCount", "550 no such user");
  expect(checkEvidence(failed, { ...expected, mayRemainUnsent: true })).toEqual([]);
});

const dave = { ...mailTo("dave@example.net"), messageId: mailTo("eve@example.net").messageId };
const broken: Array<[what: string, evidence: Evidence, expected: Expectation, says: RegExp]> = [
  [
    "a recipient was mailed twice",
    { ...inOrder, journal: [...inOrder.journal, mailTo("ada@example.net")] },
    expected,
    /mailed more than once: ada@/,
  ],
  [
    "a sent email was never accepted",
    { ...inOrder, journal: inOrder.journal.slice(1) },
    expected,
    /lost: ada@/,
  ],
  ["an email is still waiting", eveIs("QUEUED", "pendingCount", null), expected, /still waiting: eve@/],
  [
    "an email is in doubt",
    eveIs("UNCONFIRMED", "unconfirmedCount", "Stopped."),
    expected,
    /in doubt, at most 0 allowed/,
  ],
  ["an email failed", eveIs("FAILED", "failedCount", "550 no"), expected, /were not sent: eve@/],
  [
    "an email failed without a reason",
    eveIs("FAILED", "failedCount", null),
    { ...expected, mayRemainUnsent: true },
    /no reason: eve@/,
  ],
  [
    "a failed email was accepted",
    { ...eveIs("FAILED", "failedCount", "550 no"), journal: inOrder.journal },
    { ...expected, mayRemainUnsent: true },
    /recorded as not sent: eve@/,
  ],
  [
    "a count of the campaign is wrong",
    { ...inOrder, campaign: { ...campaign, failedCount: 1 } },
    expected,
    /failedCount is 1/,
  ],
  [
    "the stats are wrong",
    { ...inOrder, stats: { ...campaign, sentCount: 2 } },
    expected,
    /sentCount is 3, in the stats 2/,
  ],
  [
    "the campaign ended with another status",
    { ...inOrder, campaign: { ...campaign, status: "CANCELLED" } },
    expected,
    /is CANCELLED and not SENT/,
  ],
  [
    "an event is missing",
    { ...inOrder, sentEvents: inOrder.sentEvents.slice(0, 2) },
    expected,
    /2 by their events/,
  ],
  [
    "one event is duplicated and another is missing",
    { ...inOrder, sentEvents: [...inOrder.sentEvents.slice(1), ...inOrder.sentEvents.slice(2)] },
    expected,
    /1 emails have several sent events/,
  ],
  [
    "a row has been added",
    { ...inOrder, rows: { ...inOrder.rows, mails: 4 } },
    expected,
    /4 emails to 3 addresses/,
  ],
  [
    "a recipient has two rows",
    { ...inOrder, recipients: [...inOrder.recipients, { ...recipientOf("ada@example.net"), id: "other" }] },
    expected,
    /several rows: ada@/,
  ],
  [
    "a recipient is missing",
    inOrder,
    { ...expected, recipients: [...ADDRESSES, "zoe@example.net"] },
    /no row: zoe@/,
  ],
  [
    "an unexpected recipient was mailed",
    inOrder,
    { ...expected, recipients: ADDRESSES.slice(1) },
    /unexpected: ada@/,
  ],
  [
    "an email went to another recipient",
    { ...inOrder, journal: [...inOrder.journal.slice(0, 2), dave] },
    expected,
    /Message-ID of another email/,
  ],
  [
    "a recipient had unsubscribed",
    inOrder,
    { ...expected, unsubscribedAt: new Map([["bob@example.net", NOW - 60_000]]) },
    /after unsubscribing: bob@/,
  ],
];

test.each(broken)("reports that %s", (_what, evidence, expectation, says) => {
  expect(checkEvidence(evidence, expectation)).toContainEqual(expect.stringMatching(says));
});

describe("samples of a campaign's counts", () => {
  const samples: Array<[what: string, now: Partial<Campaign>, mailed: number, says: RegExp]> = [
    ["do not add up", { sentCount: 2 }, 3, /do not balance: 2 counted, 3/],
    ["are final while an email waits", { sentCount: 2, pendingCount: 1 }, 3, /SENT while 1/],
    ["exceed the accepted emails", {}, 2, /3 are counted as sent and 2/],
    ["lose a sent email", { status: "SENDING", sentCount: 2, pendingCount: 1 }, 3, /fell from 3 to 2/],
    ["gain a recipient", { sentCount: 4, totalRecipients: 4 }, 4, /changed from 3 to 4/],
  ];
  test.each(samples)("reports counts that %s", (_what, now, mailed, says) => {
    expect(faultsOfSample({ ...campaign, ...now }, campaign, mailed)).toContainEqual(
      expect.stringMatching(says),
    );
  });
  test("accepts counts that balance", () => {
    expect(
      faultsOfSample(campaign, { ...campaign, status: "SENDING", sentCount: 1, pendingCount: 2 }, 3),
    ).toEqual([]);
  });
});
