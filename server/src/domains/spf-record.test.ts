// SPF advice: what is said about each record a domain may have, and what should stand there instead.
import { expect, test } from "vitest";
import { judgeSpf } from "./spf-record.ts";

const SKELETON = "v=spf1 ?all";

test.for([
  "v=spf1 include:relay.example ~all",
  "v=spf1 ip4:192.0.2.1 ip6:2001:db8::/32 a mx a:mail.example.com mx/24 -all",
  "V=SPF1 Include:relay.example ?ALL",
  "v=spf1 redirect=_spf.example.com",
  "v=spf1 exists:%{i}.spf.example.com exp=why.example.com ~all",
])("nothing is said about %s", (record) => {
  expect(judgeSpf(["google-site-verification=x", record])).toEqual({
    status: "FOUND",
    value: record,
    advice: null,
  });
});

test.for([
  ["there is none", [], "MISSING", SKELETON, "provider tells you"],
  ["other records only", ["v=spf10 x", "spf1", " v=spf1 -all"], "MISSING", SKELETON, "provider tells you"],
  ["two", ["v=spf1 a -all", "v=spf1 mx -all"], "MISMATCH", SKELETON, "2 SPF records"],
  ["+all", ["v=spf1 mx +all"], "MISMATCH", "v=spf1 mx ~all", "every machine in the world"],
  ["all", ["v=spf1 mx all exp=x.example"], "MISMATCH", "v=spf1 mx ~all exp=x.example", "every machine"],
  ["no mail at all", ["v=spf1 -all"], "MISMATCH", SKELETON, "sends no mail at all"],
  ["no end", ["v=spf1 mx "], "FOUND", "v=spf1 mx ~all", "does not say"],
  ["nothing", ["v=spf1"], "FOUND", "v=spf1 ~all", "does not say"],
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
] as const)("what is to be done is said for %s", ([, records, status, value, advice]) => {
  expect(judgeSpf(records)).toEqual({ status, value, advice: expect.stringContaining(advice) });
});

test("nothing is said while nobody answers", () => {
  expect(judgeSpf(undefined)).toEqual({ status: "UNCHECKED", value: SKELETON, advice: null });
});

test("the advised value is never made of servers we only guess, and always valid itself", () => {
  for (const records of [[], ["v=spf1 x"], ["v=spf1 a", "v=spf1 b"], ["v=spf1 +all"], ["v=spf1 mx"]]) {
    const { value } = judgeSpf(records);
    expect(value).not.toContain("include:");
    expect(judgeSpf([value])).toEqual({ status: "FOUND", value, advice: null });
  }
});
