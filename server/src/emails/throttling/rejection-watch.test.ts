// Tests when policy rejections throttle a destination for a campaign or for bulk mail outside campaigns.
import { expect, test } from "vitest";
import { createLog } from "../../platform/log.ts";
import type { Outcome } from "../../transports/transport.ts";
import { createRejectionMonitor, type RefusedDestination } from "./rejection-watch.ts";

const refused: Outcome = { kind: "rejected", answer: "550 5.7.1 no", meaning: "policy" };
const unknown: Outcome = { kind: "rejected", answer: "550 5.1.1 who", meaning: "hard-bounce" };
const sent: Outcome = { kind: "sent", answer: "250 ok" };
const later: Outcome = { kind: "deferred", answer: "451 later" };
const mail = (
  toAddress: string,
  campaignId: string | null = "c",
  listKind: "MARKETING" | "HEADLESS" | null = null,
) => ({ row: { projectId: "p", campaignId, toAddress }, listKind });

const settled = () => new Promise((resolve) => setImmediate(resolve));

function watch(isPaused = true) {
  const asked: RefusedDestination[] = [];
  let nowMs = 0;
  const rejections = createRejectionMonitor(
    async (one) => {
      asked.push(one);
      return isPaused;
    },
    createLog({ level: "silent" }),
    () => nowMs,
  );
  const note = (times: number, outcome: Outcome, to = "a@gmail.com", campaign: string | null = "c") => {
    for (let at = 0; at < times; at++) rejections.note(mail(to, campaign), outcome);
  };
  return { rejections, asked, note, pass: (ms: number) => (nowMs += ms) };
}

test("throttles all domains of a provider once at 11 rejections of the last 50 emails", async () => {
  const { rejections, asked, note } = watch();
  note(10, refused);
  note(100, later);
  expect(asked).toEqual([]);
  note(1, refused, "b@googlemail.com");
  note(5, refused);
  expect(asked).toEqual([{ projectId: "p", campaignId: "c", destination: "gmail", answer: "550 5.7.1 no" }]);
  await settled();
  const paused = ["a@gmail.com", "a@googlemail.com", "a@example.com"].map((to) =>
    rejections.isPaused(mail(to)),
  );
  expect([
    ...paused,
    rejections.isPaused(mail("a@gmail.com", null)),
    rejections.isPaused(mail("a@gmail.com", "d")),
  ]).toEqual([true, true, false, false, false]);
});

test.for([
  [
    "fewer rejections among the last 50 emails",
    [
      [10, refused],
      [41, sent],
      [1, refused],
    ],
  ],
  [
    "unknown addresses",
    [
      [50, unknown],
      [10, refused],
    ],
  ],
] as const)("does not throttle a destination for %s", ([, rounds]) => {
  const { asked, note } = watch();
  for (const [times, outcome] of rounds) note(times, outcome);
  expect(asked).toEqual([]);
});

test.for(["MARKETING", "HEADLESS"] as const)(
  "counts %s mail outside campaigns together and lets transactional mail pass",
  async (kind) => {
    const { rejections, asked, note } = watch();
    note(50, refused, "a@gmail.com", null);
    for (let at = 0; at < 11; at++) rejections.note(mail("a@gmail.com", null, kind), refused);
    expect(asked).toEqual([
      { projectId: "p", campaignId: null, destination: "gmail", answer: "550 5.7.1 no" },
    ]);
    await settled();
    const paused = [mail("a@gmail.com", null, kind), mail("a@gmail.com", null), mail("a@gmail.com")];
    expect(paused.map((one) => rejections.isPaused(one))).toEqual([true, false, false]);
  },
);

test("counts other campaigns, other destinations and transactional mail separately", () => {
  const { asked, note } = watch();
  note(10, refused);
  note(10, refused, "a@gmail.com", "d");
  note(10, refused, "a@example.com");
  note(50, refused, "a@gmail.com", null);
  expect(asked).toEqual([]);
});

test("resumes after a moment and asks again after as many rejections if not throttled", async () => {
  const paused = watch();
  paused.note(11, refused);
  await settled();
  paused.pass(10_001);
  expect(paused.rejections.isPaused(mail("a@gmail.com"))).toBe(false);

  const whole = watch(false);
  whole.note(11, refused);
  await settled();
  expect(whole.rejections.isPaused(mail("a@gmail.com"))).toBe(false);
  whole.note(11, refused);
  expect(whole.asked).toHaveLength(2);
});
