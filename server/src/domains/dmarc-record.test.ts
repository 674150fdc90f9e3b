// Tests DMARC advice (RFC 9989): the applicable record, compared with an independent verifier, and the advice about it.
import { dmarc } from "mailauth/lib/dmarc/index.js";
import { expect, test } from "vitest";
import { inWords } from "@postloft/contract/dns-advice.ts";
import { dmarcNames, classifyDmarc } from "./dmarc-record.ts";

const TO_BEGIN_WITH = "v=DMARC1; p=none";
/** Adds the advice in words. */
const evaluateIn = (...input: Parameters<typeof classifyDmarc>) => {
  const evaluated = classifyDmarc(...input);
  return { ...evaluated, advice: inWords(evaluated.advice) };
};
const evaluate = (...records: string[]) =>
  evaluateIn("example.com", { "_dmarc.example.com": records, "_dmarc.com": [] });

test("the walk covers the domain and its parents, or the last seven labels of a long name", () => {
  expect(dmarcNames("mail.example.com")).toEqual(
    ["mail.example.com", "example.com", "com"].map((name) => `_dmarc.${name}`),
  );
  const names = dmarcNames("a.b.c.d.e.f.g.h.i.example");
  expect(names).toHaveLength(8);
  expect(names.slice(0, 2)).toEqual(["_dmarc.a.b.c.d.e.f.g.h.i.example", "_dmarc.d.e.f.g.h.i.example"]);
});

test.for([
  "v=DMARC1; p=none",
  "v=DMARC1;p=reject;",
  "v = DMARC1 ; rua=mailto:a@example.com; adkim=s; aspf=s; p=Quarantine; sp=none; np=reject; t=y; psd=u; fo=1",
  "v=DMARC1; something=new; p=none; x",
])("gives no advice about %s", (record) => {
  expect(evaluate(record)).toMatchObject({ status: "FOUND", value: record, advice: null, found: [record] });
});

test.for([
  ["there is none", [], "MISSING", TO_BEGIN_WITH, "Start with `p=none`"],
  ["there are two", [TO_BEGIN_WITH, "v=DMARC1; p=reject"], "MISMATCH", TO_BEGIN_WITH, "2 DMARC records"],
  ["the version is misspelled", ["v=dmarc1; p=none"], "MISMATCH", TO_BEGIN_WITH, "does not begin with"],
  ["the version is not first", ["p=none; v=DMARC1"], "MISMATCH", TO_BEGIN_WITH, "does not begin with"],
  ["there is no policy", ["v=DMARC1"], "MISMATCH", TO_BEGIN_WITH, "no valid `p=`"],
  ["the policy is none known", ["v=DMARC1; p=monitor"], "MISMATCH", TO_BEGIN_WITH, "no valid `p=`"],
  ["the policy of subdomains is none known", ["v=DMARC1; p=none; sp=x"], "MISMATCH", TO_BEGIN_WITH, "`sp=`"],
  [
    "there are reports but no policy",
    ["v=DMARC1; rua=mailto:a@example.com"],
    "FOUND",
    "v=DMARC1; rua=mailto:a@example.com",
    "treat it as `p=none`",
  ],
  [
    "pct is used",
    ["v=DMARC1; p=reject; pct=50;"],
    "FOUND",
    "v=DMARC1; p=reject",
    "Obsolete since RFC 9989: pct.",
  ],
  ["more that is obsolete is used", ["v=DMARC1; RF=afrf; p=none; ri=3600"], "FOUND", TO_BEGIN_WITH, "rf, ri"],
  [
    "reports have no mailto:",
    ["v=DMARC1; p=none; rua=a@example.com, mailto:b@example.com; ruf=c@example.com; pct=5"],
    "FOUND",
    "v=DMARC1; p=none; rua=mailto:a@example.com,mailto:b@example.com; ruf=mailto:c@example.com",
    "Obsolete since RFC 9989: pct. Remove them; use `t=y` for a test. Reports are only sent to addresses with `mailto:`, which is missing in: rua, ruf.",
  ],
] as const)("gives advice when %s", ([, records, status, value, advice]) => {
  expect(evaluate(...records)).toEqual({
    status,
    value,
    advice: expect.stringContaining(advice),
    name: "_dmarc.example.com",
    found: records,
  });
});

test("names the place of two records above the domain", () => {
  const found = {
    "_dmarc.mail.example.com": [],
    "_dmarc.example.com": ["v=DMARC1; p=none", "v=DMARC1; p=reject"],
    "_dmarc.com": [],
  };
  expect(evaluateIn("mail.example.com", found)).toMatchObject({
    status: "MISMATCH",
    name: "_dmarc.example.com",
    advice: expect.stringContaining("2 DMARC records"),
  });
});

test("gives no advice before DNS has answered for every relevant name", () => {
  const unchecked = { status: "UNCHECKED", advice: null, found: null };
  expect(evaluateIn("example.com", {})).toMatchObject(unchecked);
  expect(evaluateIn("example.com", { "_dmarc.example.com": [] })).toMatchObject(unchecked);
  expect(evaluateIn("example.com", { "_dmarc.example.com": [TO_BEGIN_WITH] }).status).toBe("FOUND");
});

/** Records by domain, the sending domain, and the domain whose record applies (null: none). */
test.for([
  ["its own", { "a.example.com": "p=none", "example.com": "p=reject" }, "a.example.com", "a.example.com"],
  ["its organization's", { "example.com": "p=reject" }, "a.b.example.com", "example.com"],
  [
    "the highest on the way",
    { "b.example.com": "p=none", "example.com": "p=none" },
    "a.b.example.com",
    "example.com",
  ],
  [
    "one that says it is the organization",
    { "b.example.com": "p=none; psd=n", "example.com": "p=none" },
    "a.b.example.com",
    "b.example.com",
  ],
  [
    "the one below a public suffix",
    { "b.co.example": "p=none", "co.example": "p=none; psd=y" },
    "a.b.co.example",
    "b.co.example",
  ],
  ["the public suffix's", { "co.example": "p=none; psd=y" }, "a.b.co.example", "co.example"],
  [
    "none between organization and suffix",
    { "a.b.co.example": "p=none", "co.example": "p=none; psd=Y" },
    "x.a.b.co.example",
    "co.example",
  ],
  ["none", { "other.example": "p=none" }, "a.example.com", null],
  ["of a long name", { "d.e.f.g.h.i.example": "p=none" }, "a.b.c.d.e.f.g.h.i.example", "d.e.f.g.h.i.example"],
  ["not one the walk leaves out", { "b.c.d.e.f.g.h.i.example": "p=none" }, "a.b.c.d.e.f.g.h.i.example", null],
] as const)("applies the policy: %s", async ([, published, domain, policyDomain]) => {
  const records = new Map<string, string>(
    Object.entries(published).map(([name, tags]) => [`_dmarc.${name}`, `v=DMARC1; ${tags}`]),
  );
  const txt = (name: string) => [records.get(name) ?? []].flat();
  const evaluated = classifyDmarc(
    domain,
    Object.fromEntries(dmarcNames(domain).map((name) => [name, txt(name)])),
  );
  expect(evaluated.name).toBe(`_dmarc.${policyDomain ?? domain}`);
  expect(evaluated.status).toBe(policyDomain === null ? "MISSING" : "FOUND");
  const verdict = await dmarc({
    headerFrom: `a@${domain}`,
    spfDomains: [],
    dkimDomains: [],
    resolver: async (name: string) => {
      const answer = txt(name);
      if (answer.length === 0) throw Object.assign(new Error("none"), { code: "ENOTFOUND" });
      return answer.map((record) => [record]);
    },
  });
  expect(verdict === false ? undefined : (verdict.policyDomain ?? null)).toBe(policyDomain);
});
