// Tests which transport of a project an email takes.
import { expect, test } from "vitest";
import { chooseTransport, overlaps } from "./choose-transport.ts";

const all = { name: "all", kinds: null, domain: null };
const kind = { name: "kind", kinds: ["CAMPAIGN", "WORKFLOW"], domain: null };
const domain = { name: "domain", kinds: null, domain: "shop.example" };
const both = { name: "both", kinds: ["CAMPAIGN"], domain: "shop.example" };
const campaign = { kind: "CAMPAIGN", domain: "shop.example" } as const;

test.each([
  [[all, kind, domain, both], campaign, "both"],
  [[all, kind, domain], campaign, "domain"],
  [[all, kind], campaign, "kind"],
  [[all], campaign, "all"],
  [[], campaign, undefined],
  [[both, kind], { kind: "TRANSACTIONAL", domain: "shop.example" }, undefined],
  [[both, domain], { kind: "CAMPAIGN", domain: "other.example" }, undefined],
  [[all, both], { kind: "WORKFLOW", domain: "shop.example" }, "all"],
] as const)("chooses among %j for %j", (transports, email, name) => {
  expect(chooseTransport(transports, email)?.name).toBe(name);
});

test.each([
  [all, { ...all }, true],
  [kind, { ...kind, kinds: ["WORKFLOW"] }, true],
  [kind, { ...kind, kinds: ["TRANSACTIONAL"] }, false],
  [kind, both, false],
  [all, kind, false],
  [domain, { ...domain, domain: "other.example" }, false],
] as const)("finds whether %j and %j match equally well", (one, other, isEqual) => {
  expect(overlaps(one, other)).toBe(isEqual);
  expect(overlaps(other, one)).toBe(isEqual);
});
