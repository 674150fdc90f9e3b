// Tests the detection of mistakes in DNS records, and that correct or missing records have none.
import { afterEach, beforeEach, expect, test } from "vitest";
import { createDns } from "../platform/dns.ts";
import { startDnsServer, type DnsServer } from "../testing/dns-server.ts";
import { askMistakes } from "./ask-mistakes.ts";
import type { DomainView, RecordView } from "./present-domain.ts";

let dns: DnsServer;
beforeEach(async () => {
  dns = await startDnsServer();
});
afterEach(() => dns.close());

const DOMAIN = "mail.shop.example";
const DKIM = `pl1._domainkey.${DOMAIN}`;
const DMARC = `_dmarc.${DOMAIN}`;
const KEY = `v=DKIM1; k=rsa; p=${"MIIB".repeat(98)}`;

function view(changes: Partial<Record<RecordView["purpose"], RecordView["status"]>> = {}): DomainView {
  const record = (purpose: RecordView["purpose"], name: string, value: string): RecordView => ({
    type: "TXT",
    name,
    value,
    purpose,
    required: purpose === "dkim",
    found: null,
    status: changes[purpose] ?? "MISSING",
    advice: null,
    adviceParts: [],
    lookedUpAt: null,
    servers: [],
  });
  return {
    id: "",
    domain: DOMAIN,
    verified: false,
    status: "PENDING",
    records: [
      record("dkim", DKIM, KEY),
      ...(changes["return-path"] === undefined
        ? []
        : [record("return-path", "bounces.host.example", "v=spf1 ?all")]),
      record("spf", DOMAIN, "v=spf1 ?all"),
      record("dmarc", DMARC, "v=DMARC1; p=none"),
    ],
    dkimTokens: [],
    ed25519: false,
    receiving: null,
    lastError: null,
    lastErrorParts: [],
    lastCheckedAt: null,
    createdAt: "",
    updatedAt: "",
  };
}

/** By purpose: the codes of its mistakes with their values. */
async function mistakes(domain = view()) {
  const asked = await askMistakes(createDns([dns.address]), domain);
  return Object.fromEntries(
    asked.map(({ purpose, mistakes: found }) => [purpose, found.map(({ code, values }) => [code, values])]),
  );
}

test("finds no mistake in missing or working records", async () => {
  expect(await mistakes()).toEqual({ dkim: [], spf: [], dmarc: [] });
  expect(await mistakes(view({ dkim: "FOUND", spf: "UNCHECKED", dmarc: "FOUND" }))).toEqual({});
  expect(await mistakes(view({ "return-path": "MISMATCH" }))).toEqual({ dkim: [], dmarc: [] });
});

test.for([DOMAIN, "shop.example"])("detects a name with the zone %s appended twice", async (zone) => {
  dns.setTxt(`${DKIM}.${zone}`, [KEY]);
  dns.setTxt(`${DMARC}.${zone}`, ["v=DMARC1; p=none"]);
  const short = zone === DOMAIN ? "pl1._domainkey" : "pl1._domainkey.mail";
  expect(await mistakes()).toMatchObject({
    dkim: [["name.doubled", { found: `${DKIM}.${zone}`, zone, short }]],
    dmarc: [["name.doubled", { zone }]],
  });
});

test("detects a record entered at the domain itself", async () => {
  dns.setTxt(DOMAIN, [KEY, "v=DMARC1; p=none", "something else"]);
  expect(await mistakes()).toEqual({
    dkim: [["name.left", { found: DOMAIN, name: DKIM }]],
    spf: [],
    dmarc: [["name.left", { found: DOMAIN, name: DMARC }]],
  });
});

test("detects an alias or address in the record's place, unless a wildcard answers", async () => {
  dns.setAlias(DKIM, "keys.other.example");
  dns.setRecords(DMARC, { A: ["192.0.2.7"] });
  expect(await mistakes()).toMatchObject({
    dkim: [["type.alias", { name: DKIM, target: "keys.other.example" }]],
    dmarc: [["type.address", { name: DMARC, address: "192.0.2.7" }]],
  });
  dns.setAlias(`postloft-looks-for-a-wildcard._domainkey.${DOMAIN}`, "keys.other.example");
  dns.setRecords(`postloft-looks-for-a-wildcard.${DOMAIN}`, { A: ["192.0.2.7"] });
  expect(await mistakes()).toMatchObject({ dkim: [], dmarc: [] });
});

test("detects typed or curly quotation marks in a value", async () => {
  dns.setTxt(DKIM, [`"${KEY}"`]);
  dns.setTxt(DOMAIN, ["“v=spf1 include:relay.example ~all”"]);
  dns.setTxt(DMARC, ['"v=DMARC1; p=none"']);
  const quoted = [["value.quoted", {}]];
  expect(await mistakes(view({ dkim: "MISMATCH" }))).toEqual({ dkim: quoted, spf: quoted, dmarc: quoted });
});

test("detects a truncated key and a different key", async () => {
  dns.setTxt(DKIM, [KEY.slice(0, 255)]);
  const length = 255 - KEY.indexOf("MIIB");
  expect(await mistakes()).toMatchObject({
    dkim: [["value.cutOff", { length, expected: 392 }]],
  });
  dns.setTxt(DKIM, [KEY.replace("MIIB", "MIIC")]);
  expect(await mistakes()).toMatchObject({ dkim: [["value.otherKey", {}]] });
  dns.setTxt(DKIM, [KEY]);
  expect(await mistakes()).toMatchObject({ dkim: [] });
});

test("detects two records where only one is allowed, among irrelevant ones", async () => {
  dns.setTxt(DOMAIN, ["v=spf1 mx ~all", "verification=1", "v=spf1 a ~all"]);
  dns.setTxt(DMARC, ["v=DMARC1; p=none", "v=DMARC1; p=reject"]);
  const several = [["record.several", { count: 2 }]];
  expect(await mistakes(view({ spf: "MISMATCH", dmarc: "MISMATCH" }))).toEqual({
    dkim: [],
    spf: several,
    dmarc: several,
  });
});

test("reports no mistakes when DNS does not answer or answers without end", async () => {
  dns.setMood("servfail");
  expect(await mistakes()).toEqual({ dkim: [], spf: [], dmarc: [] });
  dns.setMood("answer");
  dns.setTxt(
    DOMAIN,
    Array.from({ length: 30 }, (_, at) => `v=spf1 ip4:192.0.2.${at} ${"x".repeat(900)}`),
  );
  expect(await mistakes()).toMatchObject({ spf: [["record.several", { count: 20 }]] });
  expect(dns.questions.length).toBeLessThan(120);
});
