// Tests SPF advice: the classification of each kind of record and the recommended value.
import { expect, test } from "vitest";
import { inWords } from "@postloft/contract/dns-advice.ts";
import { classifySpf } from "./spf-record.ts";
import { walkSpf } from "./spf-walk.ts";

const SKELETON = "v=spf1 ?all";
const DOMAIN = "example.com";
/** Adds the advice in words. */
const evaluate = (records: readonly string[], others: Record<string, readonly string[]> = {}) => {
  const evaluated = classifySpf(DOMAIN, { [DOMAIN]: records, ...others });
  return { ...evaluated, advice: inWords(evaluated.advice) };
};

test.for([
  "v=spf1 include:relay.example ~all",
  "v=spf1 ip4:192.0.2.1 ip6:2001:db8::/32 a mx a:mail.example.com mx/24 -all",
  "V=SPF1 Include:relay.example ?ALL",
  "v=spf1 redirect=_spf.example.com",
  "v=spf1 exists:%{i}.spf.example.com exp=why.example.com ~all",
])("gives no advice about %s", (record) => {
  expect(evaluate(["google-site-verification=x", record])).toEqual({
    status: "FOUND",
    value: record,
    advice: null,
  });
});

test.for([
  ["there is none", [], "MISSING", SKELETON, "provider documents"],
  ["other records only", ["v=spf10 x", "spf1", " v=spf1 -all"], "MISSING", SKELETON, "provider documents"],
  ["two", ["v=spf1 a -all", "v=spf1 mx -all"], "MISMATCH", SKELETON, "2 SPF records"],
  ["+all", ["v=spf1 mx +all"], "MISMATCH", "v=spf1 mx ~all", "every server in the world"],
  ["all", ["v=spf1 mx all exp=x.example"], "MISMATCH", "v=spf1 mx ~all exp=x.example", "every server"],
  ["sends no email", ["v=spf1 -all"], "MISMATCH", SKELETON, "sends no email"],
  ["no end", ["v=spf1 mx "], "FOUND", "v=spf1 mx ~all", "has no rule"],
  ["nothing", ["v=spf1"], "FOUND", "v=spf1 ~all", "has no rule"],
  ["a mechanism nobody knows", ["v=spf1 ipv4:192.0.2.1 -all"], "MISMATCH", SKELETON, "`ipv4:192.0.2.1`"],
  ["an include of nothing", ["v=spf1 include: -all"], "MISMATCH", SKELETON, "`include:`"],
  ["a bare host name", ["v=spf1 mail.example.com -all"], "MISMATCH", SKELETON, "`mail.example.com`"],
  [
    "eleven lookups",
    [
      `v=spf1 ${Array.from({ length: 10 }, (_, at) => `include:r${at}.example`).join(" ")} mx ip4:192.0.2.1 ~all`,
    ],
    "MISMATCH",
    SKELETON,
    "11 lookups",
  ],
  ["a name that is none", ["v=spf1 include:constructor -all"], "MISMATCH", SKELETON, "contains no host"],
] as const)("gives advice for %s", ([, records, status, value, advice]) => {
  expect(evaluate(records)).toEqual({ status, value, advice: expect.stringContaining(advice) });
});

test("gives no advice while DNS has not answered", () => {
  expect(classifySpf(DOMAIN, {})).toEqual({ status: "UNCHECKED", value: SKELETON, advice: [] });
});

test("the recommended value is always valid and contains no guessed servers", () => {
  for (const records of [[], ["v=spf1 x"], ["v=spf1 a", "v=spf1 b"], ["v=spf1 +all"], ["v=spf1 mx"]]) {
    const { value } = evaluate(records);
    expect(value).not.toContain("include:");
    expect(evaluate([value])).toEqual({ status: "FOUND", value, advice: null });
  }
});

const includes = (...names: string[]) => `v=spf1 ${names.map((name) => `include:${name}`).join(" ")} ~all`;

test.for([
  [
    "eleven lookups, most of them two levels down",
    [includes("a.example", "b.example")],
    {
      "a.example": [`v=spf1 ${"exists:%{i}.a.example ".repeat(5)}-all`],
      "b.example": [`v=spf1 ${"exists:%{i}.b.example ".repeat(4)}-all`],
    },
    "needs 11 lookups",
  ],
  [
    "more lookups than are counted",
    [includes("a.example")],
    { "a.example": [`v=spf1 ${"exists:%{i}.a.example ".repeat(300)}-all`] },
    "more than 20 lookups",
  ],
  [
    "a loop",
    [includes("a.example")],
    { "a.example": [includes("b.example")], "b.example": [includes("a.example")] },
    "`b.example` includes `a.example`, which leads back to itself",
  ],
  ["a record that includes itself", [includes(DOMAIN)], {}, "leads back to itself"],
  [
    "a loop of redirects",
    ["v=spf1 redirect=a.example"],
    { "a.example": ["v=spf1 redirect=example.com"] },
    "leads back",
  ],
  ["an include without a record", [includes("a.example")], { "a.example": [] }, "has no SPF record"],
  [
    "an include with two records",
    [includes("a.example")],
    { "a.example": ["v=spf1 a -all", "v=spf1 mx -all"] },
    "`a.example`, which has 2 SPF records",
  ],
  [
    "an include with a fault",
    [includes("a.example")],
    { "a.example": ["v=spf1 ip:192.0.2.1 -all"] },
    "`ip:192.0.2.1` in the record of `a.example` is not valid in SPF",
  ],
  [
    "three void lookups",
    ["v=spf1 a mx exists:x.example -all"],
    { "A example.com": [], "MX example.com": [], "A x.example": [] },
    "3 names in the record do not exist in DNS (example.com, example.com, x.example)",
  ],
  [
    "too many hosts behind one mx",
    ["v=spf1 mx:m.example -all"],
    { "MX m.example": Array.from({ length: 11 }, (_, at) => `m${at}.example`) },
    "more than 10 hosts",
  ],
] as const)("names an error that receivers reject: %s", ([, records, others, advice]) => {
  expect(evaluate(records, others)).toEqual({
    status: "MISMATCH",
    value: SKELETON,
    advice: expect.stringContaining(advice),
  });
});

test.for([
  ["ten lookups", includes("a.example"), { "a.example": [`v=spf1 ${"exists:%{i}.a ".repeat(9)}-all`] }],
  ["two void lookups", "v=spf1 a mx -all", { "A example.com": [], "MX example.com": [] }],
  ["the same include twice", includes("a.example", "a.example"), { "a.example": ["v=spf1 -all"] }],
  ["what stands behind all", "v=spf1 -all include:a.example redirect=b.example", { "a.example": [] }],
  ["answers that are not there yet", includes("a.example", "b.example"), { "a.example": ["v=spf1 -all"] }],
] as const)("finds no error: %s", ([, record, others]) => {
  expect(evaluate([record], others)).toEqual({ status: "FOUND", value: record, advice: null });
});

test("accepts ptr anywhere but advises against it", () => {
  const evaluated = evaluate([includes("a.example")], { "a.example": ["v=spf1 ptr -all"] });
  expect(evaluated).toMatchObject({
    status: "FOUND",
    advice: expect.stringContaining("`a.example` uses `ptr`"),
  });
  expect(evaluate(["v=spf1 ptr:example.com"]).advice).toMatch(/End it with `~all`. .* uses `ptr`/);
});

test("a walk asks each question once and only a limited number for any input", () => {
  const found = {
    [DOMAIN]: ["v=spf1 a a:Mail.example.com/24 mx include:a.example include:a.example exists:%{i}.x ~all"],
  };
  expect(walkSpf(DOMAIN, found).questions.map(({ key }) => key)).toEqual([
    "A example.com",
    "A mail.example.com",
    "MX example.com",
    "a.example",
  ]);
  const wide = `v=spf1 ${Array.from({ length: 500 }, (_, at) => `include:r${at}.example`).join(" ")} -all`;
  expect(walkSpf(DOMAIN, { [DOMAIN]: [wide] }).questions.length).toBeLessThanOrEqual(21);
});
