// Tests how entries of the consent log are matched with events.
import { expect, test } from "vitest";
import { changesOfEvents } from "./consent-events.ts";
import type { Change } from "./consent-words.ts";

const change = (id: string, subscribed: boolean, source: Change["source"] = "api"): Change => ({
  id,
  subscribed,
  source,
  actor: "key",
  ip: null,
  email: null,
  at: "2026-11-01T12:00:00.000Z",
});

test("matches each subscription event with its entry, without the entry of the arrival", () => {
  const log = [
    change("c4", false, "page"),
    change("c3", true),
    change("c2", false, "bounce"),
    change("contact", true, "import"),
  ];
  const events = [
    { id: "e4", type: "contact.unsubscribed" },
    { id: "e3", type: "contact.subscribed" },
    { id: "e2b", type: "email.opened" },
    { id: "e2", type: "contact.unsubscribed" },
    // The log is cut at its oldest end.
    { id: "e1", type: "contact.unsubscribed" },
  ];
  const found = changesOfEvents(events, log, "contact");
  expect([...found].map(([event, { id }]) => [event, id]).toSorted()).toEqual([
    ["e2", "c2"],
    ["e3", "c3"],
    ["e4", "c4"],
  ]);
});

test("skips an opt-out that was repeated, because it has no event", () => {
  const log = [change("c3", false, "page"), change("c2", false, "import"), change("contact", true)];
  const events = [{ id: "e2", type: "contact.unsubscribed" }];
  expect([...changesOfEvents(events, log, "contact")].map(([event, { id }]) => [event, id])).toEqual([
    ["e2", "c2"],
  ]);
});
