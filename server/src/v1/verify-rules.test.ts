import { domainToASCII } from "node:url";
import { describe, expect, test } from "vitest";
import { parseDomain } from "@postloft/contract/address.ts";
import type { DnsAnswer } from "../platform/dns.ts";
import {
  DISPOSABLE_DOMAINS,
  FORWARDING_DOMAINS,
  MISTYPED_ENDINGS,
  NOT_MISSPELT,
  PERSONAL_DOMAINS,
  SQUATTED_TARGETS,
  TYPO_TARGETS,
} from "./verify-data.ts";
import { editDistance, verifyAddress, readDomain, suggestDomain, type DomainFacts } from "./verify-rules.ts";
import { leastCpuMs } from "../testing/cpu-timer.ts";

const none: DnsAnswer = { kind: "none" };
const silent: DnsAnswer = { kind: "unanswered", reason: "ETIMEOUT" };
const found = (...records: string[]): DnsAnswer => ({ kind: "records", records });

const MAIL_AND_WEB: DomainFacts = { exists: "yes", receives: "mx", hasWebsite: true, trouble: null };
const NOTHING: DomainFacts = { exists: "no", receives: "no", hasWebsite: false, trouble: null };
const NO_NETWORK: DomainFacts = {
  exists: "unknown",
  receives: "unknown",
  hasWebsite: false,
  trouble: "ECONNREFUSED",
};

describe("readDomain", () => {
  const MX = found("mx.example.com");
  const A = found("192.0.2.1");
  const AAAA = found("2001:db8::1");
  const NS = found("ns.example.com");
  test.for<[string, [DnsAnswer, DnsAnswer, DnsAnswer, DnsAnswer], DomainFacts]>([
    ["mail, web and a zone", [MX, A, AAAA, NS], MAIL_AND_WEB],
    ["a subdomain without a zone of its own", [MX, none, none, none], { ...MAIL_AND_WEB, hasWebsite: false }],
    ["no MX but IPv4", [none, A, none, NS], { ...MAIL_AND_WEB, receives: "address" }],
    ["no MX but IPv6", [none, none, AAAA, none], { ...MAIL_AND_WEB, receives: "address" }],
    ["no MX, IPv4 silent, IPv6 found", [none, silent, AAAA, NS], { ...MAIL_AND_WEB, receives: "address" }],
    ["a null MX", [found(""), A, none, NS], { ...MAIL_AND_WEB, receives: "refused" }],
    ["a null MX next to a real one", [found("", "mx.example.com"), A, none, NS], MAIL_AND_WEB],
    ["a zone and nothing in it", [none, none, none, NS], { ...NOTHING, exists: "yes" }],
    ["nothing at all", [none, none, none, none], NOTHING],
    ["a record set without records", [found(), found(), found(), found()], NOTHING],
    ["silence about everything", [silent, silent, silent, silent], { ...NO_NETWORK, trouble: "ETIMEOUT" }],
    [
      "silence about MX only",
      [silent, A, AAAA, NS],
      { ...MAIL_AND_WEB, receives: "unknown", trouble: "ETIMEOUT" },
    ],
    [
      "silence about the addresses, no MX",
      [none, silent, silent, NS],
      { exists: "yes", receives: "unknown", hasWebsite: false, trouble: "ETIMEOUT" },
    ],
    [
      "silence about the zone, nothing else there",
      [none, none, none, silent],
      { exists: "unknown", receives: "no", hasWebsite: false, trouble: "ETIMEOUT" },
    ],
    ["silence that changes nothing", [MX, A, silent, silent], MAIL_AND_WEB],
  ])("%s", ([, [mx, a, aaaa, ns], facts]) => {
    expect(readDomain({ MX: mx, A: a, AAAA: aaaa, NS: ns })).toEqual(facts);
  });
});

describe("judgeAddress", () => {
  test("returns one positive sentence for a valid address", () => {
    expect(verifyAddress("ada@example.com", MAIL_AND_WEB)).toEqual({
      email: "ada@example.com",
      valid: true,
      isDisposable: false,
      isAlias: false,
      isTypo: false,
      isPlusAddressed: false,
      isPersonalEmail: false,
      domainExists: true,
      hasWebsite: true,
      hasMxRecords: true,
      reasons: ["This address has no problems, and example.com receives email."],
    });
  });

  test("reports a personal mailbox without calling it a problem", () => {
    const { isPersonalEmail, reasons } = verifyAddress("ada@gmail.com", MAIL_AND_WEB);
    expect({ isPersonalEmail, reasons }).toEqual({
      isPersonalEmail: true,
      reasons: ["This address has no problems, and gmail.com receives email."],
    });
    expect(verifyAddress("ada@team.gmail.com", MAIL_AND_WEB)).toMatchObject({ isPersonalEmail: false });
  });

  test.for<[string, Partial<DomainFacts>, object, string]>([
    ["a domain that does not exist", NOTHING, { valid: false, domainExists: false }, "does not exist"],
    [
      "a domain without any way to receive",
      { receives: "no", hasWebsite: false },
      { valid: false, domainExists: true, hasMxRecords: false },
      "cannot receive email",
    ],
    [
      "a domain that refuses mail",
      { receives: "refused" },
      { valid: false, domainExists: true, hasMxRecords: false },
      "accepts no email",
    ],
    [
      "a domain that takes mail at its address",
      { receives: "address" },
      { valid: true, hasMxRecords: false },
      "has no mail server",
    ],
    [
      "a resolver in trouble",
      { ...NO_NETWORK, trouble: "ESERVFAIL" },
      { valid: true, domainExists: true, hasMxRecords: false },
      "the DNS server failed",
    ],
    ["no network at all", NO_NETWORK, { valid: true, domainExists: true }, "no DNS server can be reached"],
    ["an odd answer", { ...NO_NETWORK, trouble: "EBADRESP" }, { valid: true }, "unreadable response"],
    ["too much at once", { ...NO_NETWORK, trouble: "EBUSY" }, { valid: true }, "too many domains"],
  ])("returns a single reason for %s", ([, facts, flags, words]) => {
    const verdict = verifyAddress("ada@example.com", { ...MAIL_AND_WEB, ...facts });
    expect(verdict).toMatchObject(flags);
    expect(verdict.reasons).toEqual([expect.stringContaining(words)]);
  });

  test.for<[string, object, string]>([
    ["ada@mailinator.com", { isDisposable: true }, "disposable"],
    ["ada@mail.mailinator.com", { isDisposable: true }, "disposable"],
    ["ada@duck.com", { isAlias: true }, "DuckDuckGo"],
    ["shop@ada.anonaddy.com", { isAlias: true }, "addy.io"],
    ["ada+news@example.com", { isPlusAddressed: true }, '"+"'],
    ["ada@gmal.com", { isTypo: true, suggestedEmail: "ada@gmail.com" }, "misspelling of gmail.com"],
  ])("keeps %s valid with a single reason", ([email, flags, words]) => {
    const verdict = verifyAddress(email, MAIL_AND_WEB);
    expect(verdict).toMatchObject({ valid: true, ...flags });
    expect(verdict.reasons).toEqual([expect.stringContaining(words)]);
  });

  test("lists all reasons, beginning with those that make it invalid", () => {
    const verdict = verifyAddress("ada+x@gmial.con", NOTHING);
    expect(verdict).toMatchObject({ valid: false, suggestedEmail: "ada+x@gmail.com" });
    expect(verdict.reasons).toEqual([
      "The domain gmial.con does not exist.",
      "The domain gmial.con looks like a misspelling of gmail.com.",
      'The address has a tag after a "+".',
    ]);
  });
});

describe("suggestDomain", () => {
  test.for([
    ["gmial.com", "gmail.com"],
    ["gmal.com", "gmail.com"],
    ["gmaill.com", "gmail.com"],
    ["gamil.com", "gmail.com"],
    ["gnail.com", "gmail.com"],
    ["gmail.co", "gmail.com"],
    ["gmail.cm", "gmail.com"],
    ["hotmial.com", "hotmail.com"],
    ["hotmal.com", "hotmail.com"],
    ["yaho.com", "yahoo.com"],
    ["yahooo.com", "yahoo.com"],
    ["outlok.com", "outlook.com"],
    ["iclod.com", "icloud.com"],
    ["googlemial.com", "googlemail.com"],
    ["protonmial.com", "protonmail.com"],
  ] as const)("detects %s whatever DNS says", ([domain, meant]) => {
    for (const receives of ["mx", "address", "refused", "no", "unknown"] as const)
      expect(suggestDomain(domain, receives)).toBe(meant);
  });

  test.for([
    ["gmail.con", "gmail.com"],
    ["example.con", "example.com"],
    ["mail.example.cmo", "mail.example.com"],
    ["example.nte", "example.net"],
    ["example.ogr", "example.org"],
    ["gmial.con", "gmail.com"],
  ] as const)("corrects the unknown ending of %s if it receives no mail", ([domain, meant]) => {
    expect(suggestDomain(domain, "no")).toBe(meant);
    expect(suggestDomain(domain, "unknown")).toBe(meant);
  });

  test.for([
    ["gmsil.co", "gmail.com"],
    ["otmail.com", "hotmail.com"],
    ["yahoo.xyz", "yahoo.com"],
    ["gmail.com.br", "gmail.com"],
    ["wbe.de", "web.de"],
    ["gxm.de", "gmx.de"],
    ["comcasst.net", "comcast.net"],
    ["t-onlne.de", "t-online.de"],
    ["oarnge.fr", "orange.fr"],
  ] as const)("detects the distant %s only if it cannot receive mail", ([domain, meant]) => {
    expect(suggestDomain(domain, "no")).toBe(meant);
    expect(suggestDomain(domain, "refused")).toBe(meant);
    expect(suggestDomain(domain, "mx")).toBeNull();
    expect(suggestDomain(domain, "unknown")).toBeNull();
  });

  test.for([
    "cloud.com",
    "email.com",
    "mail.com",
    "grail.com",
    "life.com",
    "libera.it",
    "rmail.com",
    "att.com",
  ])("suggests nothing for %s if it receives mail", (domain) =>
    expect(suggestDomain(domain, "mx")).toBeNull(),
  );

  test.for(["example.com", "outlook.example.com", "orange.example.com", "mycompany.de", "xn--mnchen-3ya.de"])(
    "suggests nothing for %s even if it receives no mail",
    (domain) => expect(suggestDomain(domain, "no")).toBeNull(),
  );

  test("suggests nothing for a known domain", () => {
    const known = [...PERSONAL_DOMAINS.keys(), ...FORWARDING_DOMAINS.keys()];
    expect(known.filter((domain) => suggestDomain(domain, "no") !== null)).toEqual([]);
  });

  test("suggests a target for a disposable domain only if it is a misspelling of it", () => {
    const taken = [...DISPOSABLE_DOMAINS].filter((domain) => suggestDomain(domain, "no") !== null);
    expect(taken).toEqual(expect.arrayContaining(["gmial.com", "hotmial.com"]));
    expect(taken.length).toBeLessThan(20);
  });

  test("takes no time for the longest possible domain", async () => {
    const domain = `${`${"a".repeat(60)}.`.repeat(4)}example`;
    const suggest = () => expect(suggestDomain(domain, "no")).toBeNull();
    expect(await leastCpuMs(5, suggest)).toBeLessThan(5);
  });

  test.for([
    ["gmail.com", "gmail.com", 0],
    ["gmial.com", "gmail.com", 1],
    ["gmai.com", "gmail.com", 1],
    ["gmaill.com", "gmail.com", 1],
    ["gnail.com", "gmail.com", 1],
    ["gnial.com", "gmail.com", 2],
    ["", "ab", 2],
    ["", "abc", Infinity],
  ] as const)("measures the distance from %s to %s as %d", ([from, to, edits]) => {
    expect(editDistance(from, to)).toBe(edits);
    expect(editDistance(to, from)).toBe(edits);
  });
});

describe("the lists", () => {
  test("contain well-known domains of each kind", () => {
    const expected: Array<[{ has(domain: string): boolean }, string[]]> = [
      [DISPOSABLE_DOMAINS, ["mailinator.com", "guerrillamail.com", "10minutemail.com", "yopmail.com"]],
      [FORWARDING_DOMAINS, ["simplelogin.com", "anonaddy.me", "mozmail.com", "duck.com"]],
      [FORWARDING_DOMAINS, ["privaterelay.appleid.com", "passmail.net", "33mail.com"]],
      [PERSONAL_DOMAINS, ["gmail.com", "outlook.com", "yahoo.com", "icloud.com", "proton.me"]],
      [PERSONAL_DOMAINS, ["gmx.de", "gmx.net", "web.de", "t-online.de", "qq.com", "mail.ru"]],
    ];
    for (const [list, domains] of expected) expect(domains.filter((domain) => !list.has(domain))).toEqual([]);
    expect(DISPOSABLE_DOMAINS.size).toBeGreaterThan(5_000);
  });

  test("contain domains in the stored form of addresses", () => {
    const domains = [
      ...PERSONAL_DOMAINS.keys(),
      ...FORWARDING_DOMAINS.keys(),
      ...TYPO_TARGETS,
      ...NOT_MISSPELT,
      ...DISPOSABLE_DOMAINS,
    ];
    expect(domains.filter((domain) => domainToASCII(domain) !== domain)).toEqual([]);
    expect(domains.map(parseDomain).filter(({ ok }) => !ok)).toEqual([]);
  });

  test("do not contradict each other", () => {
    const personal = [...PERSONAL_DOMAINS.keys()];
    expect(personal.filter((domain) => DISPOSABLE_DOMAINS.has(domain))).toEqual([]);
    expect(personal.filter((domain) => FORWARDING_DOMAINS.has(domain))).toEqual([]);
    expect([...FORWARDING_DOMAINS.keys()].filter((domain) => DISPOSABLE_DOMAINS.has(domain))).toEqual([]);
    expect(TYPO_TARGETS.filter((domain) => !PERSONAL_DOMAINS.has(domain))).toEqual([]);
    expect([...SQUATTED_TARGETS].filter((domain) => !TYPO_TARGETS.includes(domain))).toEqual([]);
    expect([...MISTYPED_ENDINGS.values()].filter((ending) => MISTYPED_ENDINGS.has(ending))).toEqual([]);
  });
});
