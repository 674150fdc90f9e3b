// Pure rules of segments: slugs, dependencies, and causes of changes.
import { describe, expect, test } from "vitest";
import type { Filter } from "@postloft/contract/filters.ts";
import {
  allCauses,
  canMove,
  eventNamesOf,
  freeSlug,
  segmentsOver,
  segmentsUnder,
  slugOf,
  type Node,
} from "./rules.ts";

describe("a slug", () => {
  test.each([
    ["Pro users!", "pro-users"],
    ["  --Ünï cödé--  ", "ünï-cödé"],
    ["日本 語", "日本-語"],
    ["!!!", "segment"],
    ["a".repeat(100), "a".repeat(60)],
    [`${"a".repeat(59)} b`, "a".repeat(59)],
  ])("of %j is %j", (name, slug) => expect(slugOf(name)).toBe(slug));

  test("names the events of its segment, which carry id and name", () => {
    expect(eventNamesOf({ id: "s", name: "VIP", slug: "vip-2" })).toEqual({
      entry: "segment.vip-2.entry",
      exit: "segment.vip-2.exit",
      data: { segmentId: "s", segmentName: "VIP" },
    });
  });

  test("gets the first free number if it is taken", () => {
    expect(freeSlug("vip", new Set())).toBe("vip");
    expect(freeSlug("vip", new Set(["vip", "vip-2"]))).toBe("vip-3");
  });
});

const A = "00000000-0000-7000-8000-00000000000a";
const B = "00000000-0000-7000-8000-00000000000b";
const C = "00000000-0000-7000-8000-00000000000c";
const on = (...ids: string[]): Filter => ({
  operator: "OR",
  conditions: ids.map((id) => ({ field: `segment.${id}`, operator: "memberOfSegment" })),
});
const event = (name: string): Filter => ({
  operator: "AND",
  conditions: [{ field: `event.${name}`, operator: "triggered" }],
});
const nodes = (filters: Record<string, Filter | null>): Map<string, Node> =>
  new Map(Object.entries(filters).map(([id, one]) => [id, { id, filters: one }]));

test("a segment depends on the segments in its filters, also indirectly, and cycles end", () => {
  const all = nodes({ [A]: on(B), [B]: on(C, A), [C]: null });
  expect([...segmentsUnder(on(A), all)].toSorted()).toEqual([A, B, C]);
  expect(segmentsOver(C, all).toSorted()).toEqual([A, B]);
});

test("the causes of a segment include the causes of its dependencies", () => {
  const all = nodes({ [B]: event("bought") });
  expect(allCauses(on(B), all)).toEqual({ causes: ["bought"], timeBased: false });
  // Members of a static segment change without an event.
  const onStatic = nodes({ [B]: on(C), [C]: null });
  expect(allCauses(on(B), onStatic)).toEqual({ causes: ["*"], timeBased: false });
  const recent: Filter = {
    operator: "AND",
    conditions: [{ field: "data.seen", operator: "within", value: 3, unit: "days" }],
  };
  expect(allCauses(recent, all)).toEqual({ causes: ["*"], timeBased: true });
  expect(allCauses(on(A), nodes({ [A]: recent }))).toEqual({ causes: ["*"], timeBased: true });
  // A deleted segment causes nothing.
  expect(allCauses(on(C), all)).toEqual({ causes: [], timeBased: false });
});

test.each([
  [["bought"], "bought", true],
  [["bought"], "sold", false],
  [["*"], "sold", true],
  [["*"], "email.open", false],
  [["*"], "segment.x.entry", false],
  [["email.open"], "email.open", true],
  [["bought"], null, true],
  [["*"], "contact.subscribed", true],
  [["*"], "my.email.open", true],
])("a segment that depends on %j is moved by %j: %s", (causes, cause, moved) =>
  expect(canMove(causes, cause)).toBe(moved),
);
