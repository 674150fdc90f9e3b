// Tests the DNS server of the tests with Node.js's own resolver.
import { Resolver } from "node:dns/promises";
import { afterEach, beforeEach, expect, test } from "vitest";
import { startDnsServer, type DnsServer } from "./dns-server.ts";

let dns: DnsServer;
let resolver: Resolver;

beforeEach(async () => {
  dns = await startDnsServer();
  resolver = new Resolver({ timeout: 200, tries: 1 });
  resolver.setServers([dns.address]);
});
afterEach(() => dns.close());

test("returns a TXT record as published, a long one in strings of at most 255 octets", async () => {
  const key = `v=DKIM1; k=rsa; p=${"A".repeat(392)}`;
  dns.setTxt("Selector._domainkey.Example.com", [key, "second"]);
  const records = await resolver.resolveTxt("selector._domainkey.example.com");
  expect(records.map((strings) => strings.join(""))).toEqual([key, "second"]);
  expect(records.map((strings) => strings.map((string) => string.length))).toEqual([[255, 155], [6]]);
});

test("returns only the published records of each type for a name", async () => {
  dns.setRecords("Mail.Example.com", {
    A: ["192.0.2.7"],
    AAAA: ["2001:db8::7"],
    MX: ["10 mx.example.com", "0 ."],
    NS: ["ns.example.net"],
  });
  const name = "mail.example.com";
  expect(await resolver.resolve4(name)).toEqual(["192.0.2.7"]);
  expect(await resolver.resolve6(name)).toEqual(["2001:db8::7"]);
  expect(await resolver.resolveMx(name)).toEqual([
    { priority: 10, exchange: "mx.example.com", type: "MX" },
    { priority: 0, exchange: "", type: "MX" },
  ]);
  expect(await resolver.resolveNs(name)).toEqual(["ns.example.net"]);
  await expect(resolver.resolveTxt(name)).rejects.toMatchObject({ code: "ENODATA" });
  dns.setRecords("mail.example.com", {});
  await expect(resolver.resolve4(name)).rejects.toMatchObject({ code: "ENODATA" });
});

test("returns any bytes that a test makes up", async () => {
  dns.setReply("odd.example.com", (query) => query.subarray(0, 5));
  await expect(resolver.resolve4("odd.example.com")).rejects.toMatchObject({ code: expect.any(String) });
  expect(dns.questions).toMatchObject([{ name: "odd.example.com", type: 1 }]);
});

test("repeats a question over TCP when the response is too large for UDP", async () => {
  const large = "x".repeat(3_000);
  dns.setTxt("large.example.com", [large]);
  expect((await resolver.resolveTxt("large.example.com")).map((strings) => strings.join(""))).toEqual([
    large,
  ]);
  expect(dns.questions.map(({ transport }) => transport)).toEqual(["udp", "tcp"]);
});

test("reports a name without records as missing, and no other types for a name with TXT only", async () => {
  dns.setTxt("there.example.com", ["one"]);
  await expect(resolver.resolveTxt("nowhere.example.com")).rejects.toMatchObject({ code: "ENOTFOUND" });
  await expect(resolver.resolve4("there.example.com")).rejects.toMatchObject({ code: "ENODATA" });
  dns.setTxt("there.example.com", []);
  await expect(resolver.resolveTxt("there.example.com")).rejects.toMatchObject({ code: "ENOTFOUND" });
});

test("returns SERVFAIL for a server in trouble, and nothing for a silent one", async () => {
  dns.setTxt("there.example.com", ["one"]);
  dns.setMood("servfail");
  await expect(resolver.resolveTxt("there.example.com")).rejects.toMatchObject({ code: "ESERVFAIL" });
  dns.setMood("silent");
  await expect(resolver.resolveTxt("there.example.com")).rejects.toMatchObject({ code: "ETIMEOUT" });
  dns.setMood("answer");
  expect(await resolver.resolveTxt("there.example.com")).toEqual([["one"]]);
});

test("resolves an alias to its target's records, and reports it as missing without them", async () => {
  dns.setTxt("target.example.net", ["one"]);
  dns.setAlias("alias.example.com", "target.example.net");
  expect(await resolver.resolveTxt("alias.example.com")).toEqual([["one"]]);
  expect(await resolver.resolveCname("alias.example.com")).toEqual(["target.example.net"]);
  dns.setTxt("target.example.net", []);
  await expect(resolver.resolveTxt("alias.example.com")).rejects.toMatchObject({ code: "ENOTFOUND" });
});
