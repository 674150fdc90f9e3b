// Tests reading bodies from bytes, including invalid JSON, bombs and values that must be rejected.
import { expect, test } from "vitest";
import { LIMITS } from "@postloft/contract/limits/limits.ts";
import { findHostileValues, parseJson } from "./body.ts";

const read = (text: string) => parseJson(Buffer.from(text));
const MEGABYTE = LIMITS.bodyBytes.value;
/** Longer than a normal body, so that its values are counted. */
const large = (text: string) => read(text + " ".repeat(MEGABYTE));
const faults = (body: unknown) =>
  findHostileValues(body).problems.map(({ field, code }) => `${field} ${code}`);

test("parses a body of any size", () => {
  const body = { a: 'x "quoted" \\ and \\\\" more', b: [1, null, { c: "," }], d: "🦀\u2028" };
  expect(read(JSON.stringify(body))).toEqual(body);
  expect(large(JSON.stringify(body))).toEqual(body);
  expect(read("")).toBeUndefined();
});

test.for([
  "{",
  "[1,]",
  "{'a':1}",
  "{a:1}",
  "1 2",
  "{}{}",
  "NaN",
  "\ufeff{}",
  '"\n"',
  "undefined",
  "[".repeat(9),
])("rejects %j as invalid JSON", (text) => {
  expect(() => read(text)).toThrow(expect.objectContaining({ code: "INVALID_REQUEST_BODY" }));
  expect(() => large(text)).toThrow(expect.objectContaining({ code: "INVALID_REQUEST_BODY" }));
});

test("rejects bytes that are not UTF-8", () => {
  for (const bytes of [
    [0x22, 0xff, 0x22],
    [0xc0, 0x80],
    [0xed, 0xa0, 0x80],
    [0x1f, 0x8b, 0x08],
  ])
    expect(() => parseJson(Buffer.from(bytes))).toThrow(
      expect.objectContaining({ code: "INVALID_REQUEST_BODY" }),
    );
});

test("accepts a body with the maximum number of values and rejects one more", () => {
  const most = LIMITS.bodyValues.value;
  expect(read(`[${"0,".repeat(most - 2)}0]`)).toHaveLength(most - 1);
  expect(large(`[${"0,".repeat(most - 1)}0]`)).toHaveLength(most);
  for (const bomb of [
    `[${"0,".repeat(most)}0]`,
    `[${"[],".repeat(most)}0]`,
    `[${"{},".repeat(most)}0]`,
    `[${'"",'.repeat(most)}0]`,
    "[".repeat(most + 1),
    '{"a":'.repeat(most + 1),
  ])
    expect(() => large(bomb)).toThrow(expect.objectContaining({ code: "VALIDATION_ERROR" }));
});

test("does not count commas, brackets and quotes inside strings", () => {
  for (const text of [
    ",".repeat(MEGABYTE),
    "[{".repeat(MEGABYTE),
    '",'.repeat(MEGABYTE),
    '\\",'.repeat(MEGABYTE),
  ])
    expect(read(JSON.stringify({ text }))).toEqual({ text });
});

test("finds hostile texts, names and numbers at any depth", () => {
  const body = {
    ok: ["", "x\u0001", 0, -0, 1e308, null, true, { toString: 1 }],
    nul: "a\u0000",
    "key\u0000": 1,
    list: [[{ deep: "\ud800x" }]],
    numbers: [Infinity, -Infinity],
    constructor: { a: 1 },
    nested: { prototype: [] },
    ...(JSON.parse('{"__proto__":1}') as object),
  };
  Object.defineProperty(body, "__proto__", { value: 1, enumerable: true });
  expect(faults(body).toSorted()).toEqual([
    "__proto__ custom",
    "constructor custom",
    "key\u0000 custom",
    "list.0.0.deep custom",
    "nested.prototype custom",
    "nul custom",
    "numbers.0 custom",
    "numbers.1 custom",
  ]);
});

function nested(levels: number): unknown {
  let value: unknown = "end";
  for (let at = 0; at < levels; at++) value = at % 2 === 0 ? [value] : { a: value };
  return value;
}

test("follows nesting to its limit without recursion", () => {
  const limit = LIMITS.jsonDepth.value;
  expect(findHostileValues(nested(limit))).toEqual({ problems: [], tooDeep: false });
  for (const levels of [limit + 1, 100_000]) {
    const { problems, tooDeep } = findHostileValues(nested(levels));
    expect(tooDeep).toBe(true);
    expect(problems).toHaveLength(1);
    expect(problems[0]?.code).toBe("too_big");
  }
});

test("reports up to 50 of many invalid fields, with truncated names", () => {
  const many = Object.fromEntries(
    Array.from({ length: 10_000 }, (_, at) => [`${at}${"x".repeat(500)}\u0000`, 1]),
  );
  for (const body of [many, Array(10_000).fill("\u0000"), { a: Array(10_000).fill(Infinity) }]) {
    const { problems } = findHostileValues(body);
    expect(problems).toHaveLength(50);
    expect(Math.max(...problems.map(({ field }) => field.length))).toBeLessThanOrEqual(200);
  }
});
