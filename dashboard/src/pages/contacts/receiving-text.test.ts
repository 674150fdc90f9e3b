// Tests the reason why an address doesn't get some or all email.
import { expect, test, vi } from "vitest";
import type { Change } from "./consent-words.ts";
import type { Explained } from "./receiving-text.ts";

vi.stubGlobal("localStorage", { getItem: () => null });
vi.stubGlobal("navigator", { languages: ["en-US"] });
// Imported after the stubs, because texts are translated when their modules load. Another file of the same worker may have loaded them.
vi.resetModules();
const { receivingText } = await import("./receiving-text.ts");

const explained = (subscribed: boolean | null, more: Partial<Explained> = {}): Explained => ({
  email: "ada@example.com",
  contact: subscribed === null ? null : { id: "ada", subscribed },
  suppression: null,
  suppressionList: false,
  ...more,
});
const suppression: Explained["suppression"] = {
  id: "s",
  email: "ada@example.com",
  reason: "HARD_BOUNCE",
  emailId: null,
  actor: null,
  createdAt: "2026-11-03T12:00:00.000Z",
};
const change = (id: string, subscribed: boolean, source: Change["source"], day: string): Change => ({
  id,
  subscribed,
  source,
  actor: null,
  ip: null,
  email: null,
  at: `2026-11-${day}T12:00:00.000Z`,
});
const SKIPPED = "This contact gets transactional email only.";

test("gives no reason for an address that gets all email", () => {
  expect(receivingText(explained(true), [])).toBeNull();
  expect(receivingText(explained(null), [])).toBeNull();
});

test("names the change that ended the subscription, not an opt-out that repeats it", () => {
  const log = [
    change("c3", false, "page", "03"),
    change("c2", false, "bounce", "02"),
    change("ada", true, "import", "01"),
  ];
  expect(receivingText(explained(false), log)).toBe(`Unsubscribed on Nov 2, 2026 (Hard bounce). ${SKIPPED}`);
});

const arrivals = (source: Change["source"]) => [change("ada", false, source, "01")];

test("names the first opt-out of a contact that was added as not subscribed", () => {
  const log = [change("c3", false, "bounce", "03"), change("c2", false, "page", "02"), ...arrivals("import")];
  expect(receivingText(explained(false), log)).toMatch(/^Unsubscribed on Nov 2, 2026/);
});

test("gives no date while the log is newer than the explanation", () => {
  expect(receivingText(explained(false), [change("c2", true, "api", "02"), ...arrivals("api")])).toBe(
    "This contact doesn't get marketing email. Transactional email is still sent.",
  );
});

test("tells a contact that was added as not subscribed from one that opted out before", () => {
  expect(receivingText(explained(false), arrivals("api"))).toMatch(
    /^Not subscribed since it was added on Nov 1, 2026 \(.+\)\. This contact gets transactional email only\.$/,
  );
  expect(receivingText(explained(false), arrivals("opt-out"))).toBe(
    `Unsubscribed on Nov 1, 2026 (Earlier opt-out of this address). ${SKIPPED}`,
  );
});

test("names a suppression list that is applied, for every address on it", () => {
  for (const subscribed of [true, false, null])
    expect(receivingText(explained(subscribed, { suppression, suppressionList: true }), [])).toBe(
      "On the suppression list since Nov 3, 2026 (Hard bounce). This address gets no email.",
    );
});

test("says that a list isn't applied, unless the contact isn't subscribed anyway", () => {
  expect(receivingText(explained(true, { suppression }), [])).toBe(
    "On the suppression list since Nov 3, 2026 (Hard bounce), but this project doesn't apply the list.",
  );
  const log = [change("c2", false, "bounce", "02"), change("ada", true, "import", "01")];
  expect(receivingText(explained(false, { suppression }), log)).toContain("Unsubscribed on Nov 2, 2026");
});
