// Data rules of spec §2.2 and field types of §2.3, case by case.
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { composePatches, inferFieldType, readDataPatch, readEventData, type DataPatch } from "./rules.ts";

const nothing = { set: {}, remove: [], transient: {} };

test.for([
  ["a string is stored", "a", { set: { k: "a" } }],
  ["a number is stored", 0, { set: { k: 0 } }],
  ["true is stored", true, { set: { k: true } }],
  ["false is stored", false, { set: { k: false } }],
  ["an object is stored", { a: { b: 1 } }, { set: { k: { a: { b: 1 } } } }],
  ["an empty object is stored", {}, { set: { k: {} } }],
  ["an array is stored", [1, "a", null], { set: { k: [1, "a", null] } }],
  ["a blank is stored: it is not empty", " ", { set: { k: " " } }],
  ["null deletes", null, { remove: ["k"] }],
  ["an empty string is ignored", "", {}],
  ["persistent: false lends the value", { value: 1, persistent: false }, { transient: { k: 1 } }],
  ["an empty string may be lent", { value: "", persistent: false }, { transient: { k: "" } }],
  ["null may be lent", { value: null, persistent: false }, { transient: { k: null } }],
  ["an object may be lent", { value: { a: 1 }, persistent: false }, { transient: { k: { a: 1 } } }],
  ["persistent: true stores the value", { value: 1, persistent: true }, { set: { k: 1 } }],
  ["persistent: true with null deletes", { value: null, persistent: true }, { remove: ["k"] }],
  ["persistent: true with an empty string is ignored", { value: "", persistent: true }, {}],
  [
    "a wrapper is opened once",
    { value: { value: 1, persistent: false }, persistent: true },
    { set: { k: { value: 1, persistent: false } } },
  ],
  [
    "a third key makes it a value",
    { value: 1, persistent: false, x: 1 },
    { set: { k: { value: 1, persistent: false, x: 1 } } },
  ],
  ["without value it is a value", { persistent: false }, { set: { k: { persistent: false } } }],
  [
    "persistent as text makes it a value",
    { value: 1, persistent: "false" },
    { set: { k: { value: 1, persistent: "false" } } },
  ],
] as Array<[string, unknown, Partial<DataPatch>]>)("%s", ([, value, expected]) => {
  expect(readDataPatch({ k: value })).toEqual({ ...nothing, ...expected });
});

test.for(["id", "svc_id", "svc_email", "email", "unsubscribeUrl", "subscribeUrl", "manageUrl"])(
  "drops the key %s in every form and accepts any other spelling",
  (key) => {
    for (const value of ["x", null, { value: "x", persistent: false }, { value: "x", persistent: true }])
      expect(readDataPatch({ [key]: value })).toEqual(nothing);
    expect(readDataPatch({ [key.toUpperCase()]: 1, [` ${key}`]: 2, [`${key}s`]: 3 }).set).toEqual({
      [key.toUpperCase()]: 1,
      [` ${key}`]: 2,
      [`${key}s`]: 3,
    });
    expect(readEventData({ [key]: 1 })).toBeNull();
  },
);

test("missing data and data without effect are an empty patch", () => {
  for (const data of [undefined, {}, { a: "" }, { id: 1 }]) expect(readDataPatch(data)).toEqual(nothing);
});

test("subscribed, createdAt and names of object methods are keys like others", () => {
  const data = { subscribed: false, createdAt: "x", toString: 1, hasOwnProperty: 2, locale: "de" };
  expect(readDataPatch(data).set).toEqual(data);
});

test("an event keeps the sent data, with wrappers opened and reserved keys removed", () => {
  expect(
    readEventData({
      a: null,
      b: "",
      c: { value: null, persistent: false },
      d: { value: 0, persistent: true },
      e: { value: 1 },
      id: 1,
    }),
  ).toEqual({ a: null, b: "", c: null, d: 0, e: { value: 1 } });
  expect(readEventData(undefined)).toBeNull();
  expect(readEventData({})).toBeNull();
});

const keys = fc.constantFrom("a", "b", "toString", "valueOf");
const values = fc.oneof(
  fc.constantFrom(null, "", "x", 1, { value: 2, persistent: false }, { value: 3, persistent: true }),
  fc.integer(),
);

function apply(data: Record<string, unknown>, patch: DataPatch): Record<string, unknown> {
  const kept = Object.entries(data).filter(([key]) => !patch.remove.includes(key));
  return { ...Object.fromEntries(kept), ...patch.set };
}

test("a composed patch equals its two parts applied in order", () => {
  fc.assert(
    fc.property(
      fc.dictionary(keys, fc.integer()),
      fc.dictionary(keys, values),
      fc.dictionary(keys, values),
      (data, one, other) => {
        const [first, second] = [readDataPatch(one), readDataPatch(other)];
        expect(apply(data, composePatches(first, second))).toEqual(apply(apply(data, first), second));
      },
    ),
  );
});

test.for([
  [1, "number"],
  [-0.5, "number"],
  [true, "boolean"],
  [false, "boolean"],
  ["2026-01-31", "date"],
  ["2026-01-31T10:00:00Z", "date"],
  ["2026-01-31T10:00:00.123Z", "date"],
  ["2026-01-31T10:00:00", "string"],
  ["2026-01-31T10:00:00+01:00", "string"],
  ["2026-01-31T10:00Z", "string"],
  ["2026-01-31 10:00:00Z", "string"],
  ["2026-1-31", "string"],
  [" 2026-01-31", "string"],
  ["2026-01-31\n", "string"],
  ["20260131", "string"],
  ["1", "string"],
  ["true", "string"],
  ["x", "string"],
  [[1], "string"],
  [{ a: 1 }, "string"],
] as const)("the type of %j is %s", ([value, type]) => {
  expect(inferFieldType(value)).toBe(type);
});
