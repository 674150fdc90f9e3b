// Forms, masked addresses, and IP addresses that the log can store.
import { expect, test } from "vitest";
import { LINK_PURPOSES } from "../links.ts";
import { maskAddress, readIp, readRequestedChange, type Form } from "./rules.ts";

const NOTHING = { unsubscribe: null, subscribe: null, manage: null };
const OUT = { subscribed: false, source: "page" };
const IN = { subscribed: true, source: "page" };

const FORMS: Array<[Form, object]> = [
  [
    { "List-Unsubscribe": "One-Click" },
    { ...NOTHING, unsubscribe: { subscribed: false, source: "one-click" } },
  ],
  [{ action: "unsubscribe" }, { ...NOTHING, unsubscribe: OUT, manage: OUT }],
  [{ action: "subscribe" }, { ...NOTHING, subscribe: IN, manage: IN }],
  [{ "List-Unsubscribe": "one-click-ish" }, NOTHING],
  [{ action: "delete" }, NOTHING],
  [{ action: "" }, NOTHING],
  [{}, NOTHING],
];

test.for(FORMS)("the form %j is accepted only on its own pages", ([form, expected]) => {
  expect(
    Object.fromEntries(LINK_PURPOSES.map((purpose) => [purpose, readRequestedChange(purpose, form)])),
  ).toEqual(expected);
});

test.for([
  ["ada@example.com", "a•••@example.com"],
  ["a@example.com", "a•••@example.com"],
  ['"a@b"@example.com', '"•••@example.com'],
  ["🦀crab@example.com", "🦀•••@example.com"],
] as const)("a page masks %s as %s", ([email, masked]) => {
  expect(maskAddress(email)).toBe(masked);
});

test.for([
  ["192.0.2.7", "192.0.2.7"],
  ["::1", "::1"],
  ["fe80::1%eth0", "fe80::1"],
  ["::ffff:192.0.2.7", "192.0.2.7"],
  ["unknown", null],
  ["192.0.2.7, 10.0.0.1", null],
  ["", null],
  [undefined, null],
] as const)("the log stores %j as %j", ([text, expected]) => {
  expect(readIp(text)).toBe(expected);
});
