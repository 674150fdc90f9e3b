// Tests how the outcome of an attempt changes an email.
import { expect, test } from "vitest";
import type { Category } from "../../transports/replies/replies.ts";
import { resultOf, type Attempt } from "./booking.ts";
import { attemptsUntilGivenUp } from "../rows/rules.ts";
import { rejectionOutcome } from "../../transports/transport.ts";

const attempt: Attempt = {
  kind: "CAMPAIGN",
  number: 1,
  earlierDoubts: 0,
  random: 0,
  transportName: "smtp",
};
const recordingFor = (category: Category, changes: Partial<Attempt> = {}, outage?: true) => {
  const outcome = rejectionOutcome(category, "the answer", outage);
  if (outcome.kind === "withdrawn") throw new Error("no answer withdraws a mail");
  return resultOf(outcome, { ...attempt, ...changes });
};

test.each([
  ["temporary", "QUEUED", 30_000, null],
  ["throttled", "QUEUED", 30_000, null],
  ["unavailable", "QUEUED", 30_000, null],
  ["hard-bounce", "FAILED", 0, "unknown-address"],
  ["soft-bounce", "FAILED", 0, "soft-bounced"],
  ["policy", "FAILED", 0, null],
  ["message", "FAILED", 0, null],
] as const)(
  "%s sets %s after %i ms with feedback %s and keeps the reply and its category",
  (meaning, status, waitMs, feedback) => {
    expect(recordingFor(meaning)).toEqual({
      status,
      reason: "the answer",
      waitMs,
      sent: null,
      attempt: {
        outcome: status === "QUEUED" ? "deferred" : "rejected",
        answer: "the answer",
        transport: "smtp",
        meaning,
      },
      feedback,
    });
  },
);

test.each([
  ["temporary", "soft-bounced"],
  ["throttled", null],
  ["unavailable", null],
] as const)("giving up after %s errors sets FAILED with feedback %s", (category, feedback) => {
  const input = recordingFor(category, { number: attemptsUntilGivenUp("CAMPAIGN") });
  expect(input).toMatchObject({ status: "FAILED", feedback });
});

test("keeps the transport, reply and provider id of a sent email and stores no attempt", () => {
  const outcome = {
    kind: "sent",
    answer: "200",
    providerMessageId: "0102-1",
    feedback: "delivered",
  } as const;
  expect(resultOf(outcome, attempt)).toEqual({
    status: "SENT",
    reason: null,
    waitMs: 0,
    sent: { transport: "smtp", answer: "200", providerMessageId: "0102-1" },
    attempt: null,
    feedback: "delivered",
  });
});

test("records the transport that replied if there are several", () => {
  const by = "smtp b.example:25";
  expect(resultOf({ kind: "sent", answer: "250 ok", by }, attempt).sent?.transport).toBe(by);
  expect(resultOf({ kind: "uncertain", answer: "?", by }, attempt).attempt?.transport).toBe(by);
});

test.each([
  ["TRANSACTIONAL", 1, 0, "QUEUED", 30_000],
  ["TRANSACTIONAL", 2, 0, "QUEUED", 120_000],
  ["TRANSACTIONAL", 2, 1, "UNCONFIRMED", 0],
  ["WORKFLOW", 1, 0, "UNCONFIRMED", 0],
  ["CAMPAIGN", 1, 0, "UNCONFIRMED", 0],
] as const)(
  "%s email in doubt at attempt %i after %i doubts becomes %s for %i ms without feedback",
  (kind, number, earlierDoubts, status, waitMs) => {
    const now = { ...attempt, kind, number, earlierDoubts };
    const recording = resultOf({ kind: "uncertain", answer: "no reply" }, now);
    expect(recording).toMatchObject({
      status,
      waitMs,
      sent: null,
      feedback: null,
      attempt: { meaning: null },
    });
  },
);

test("uses the wait that the transport asks for", () => {
  const outcome = { kind: "deferred", answer: "later", retryAfterMs: 7 } as const;
  expect(resultOf(outcome, attempt)).toMatchObject({ status: "QUEUED", waitMs: 7 });
});
