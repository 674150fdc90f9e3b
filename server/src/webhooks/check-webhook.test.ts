// Rules for targets and headers of webhooks when they are saved, and for retries.
import { expect, test } from "vitest";
import { LIMITS } from "@postloft/contract/limits/limits.ts";
import { checkWebhookHeaders, checkWebhookUrl } from "./check-webhook.ts";
import { mayCall, parseNetworks, type CallTargets } from "./networks.ts";
import { parseRetryAfter, readResponse, sharePlaces, waitAfter } from "./rules.ts";

const REFUSED_ADDRESSES = {
  unspecified: ["0.0.0.0", "0.1.2.3", "::"],
  private: ["10.0.0.1", "172.16.0.1", "172.31.255.255", "192.168.1.1", "fc00::1", "fd12::1"],
  loopback: ["127.0.0.1", "127.255.0.1", "::1"],
  "link-local": ["169.254.0.1", "fe80::1", "fec0::1"],
  metadata: [
    "169.254.169.254",
    "169.254.170.2",
    "fd00:ec2::254",
    "100.100.100.200",
    "192.0.0.192",
    "168.63.129.16",
  ],
  shared: ["100.64.0.1", "100.127.255.255"],
  multicast: ["224.0.0.1", "239.255.255.255", "ff02::1"],
  broadcast: ["255.255.255.255"],
  documentation: ["192.0.2.1", "198.51.100.1", "203.0.113.1", "2001:db8::1", "3fff::1"],
  benchmarks: ["198.18.0.1", "198.19.255.255", "2001:2::1"],
  reserved: ["192.0.0.1", "240.0.0.1", "100::1", "4000::1", "5f00::1"],
  "6to4 and Teredo": ["192.88.99.1", "2002:7f00:1::", "2002:808:808::1", "2001::1"],
  "IPv4 in IPv6": ["::ffff:127.0.0.1", "::ffff:10.0.0.1", "::127.0.0.1", "::7f00:1", "::ffff:0:127.0.0.1"],
  NAT64: ["64:ff9b::7f00:1", "64:ff9b::a9fe:a9fe", "64:ff9b:1::7f00:1", "64:ff9b:1::808:808"],
  "no address": ["", "example.com", "1.2.3", "127.0.0.1:80"],
};

for (const [what, addresses] of Object.entries(REFUSED_ADDRESSES))
  test(`forbids webhooks to ${what}`, () => {
    expect(addresses.filter((address) => mayCall(address, []))).toEqual([]);
  });

test("allows webhooks to the public internet, through NAT64 too", () => {
  const addresses = ["1.1.1.1", "172.32.0.1", "2606:4700::1", "::ffff:8.8.8.8", "64:ff9b::808:808"];
  expect(addresses.filter((address) => !mayCall(address, []))).toEqual([]);
});

test("allows in each notation exactly what the instance admin allows", () => {
  const allowed = parseNetworks(["10.1.0.0/16", "127.0.0.1", "fd00:1::/32"]);
  const may = (address: string) => mayCall(address, allowed);
  expect(
    ["10.1.2.3", "::ffff:10.1.2.3", "127.0.0.1", "fd00:1::5", "1.1.1.1"].filter((one) => !may(one)),
  ).toEqual([]);
  expect(["10.2.0.1", "127.0.0.2", "fd00:2::5", "::1", "169.254.169.254"].filter(may)).toEqual([]);
});

test("rejects addresses that are not public in each spelling when they are saved", () => {
  const refused = [
    "",
    "example.com",
    "ftp://example.com",
    "file:///etc/passwd",
    "javascript:alert(1)",
    "https://",
    "https://ada@example.com",
    "https://ada:secret@example.com",
    "https://:secret@example.com",
    "http://127.0.0.1",
    "http://0x7f.1",
    "http://2130706433",
    "http://017700000001",
    "http://127.1",
    "http://127.0.0.1.",
    "http://１２７.0.0.1",
    "http://[::1]",
    "http://[::ffff:127.0.0.1]",
    "http://[::ffff:7f00:1]",
    "http://[64:ff9b::7f00:1]",
    "http://169.254.169.254/latest/meta-data",
    "http://[fd00:ec2::254]",
    "http://10.0.0.1",
    "http://localhost",
    "http://LOCALHOST.",
    "http://api.localhost",
    "http://printer.local",
    "http://metadata.google.internal",
    "http://database",
    "http://example.com:0",
    "http://example.com:25",
    "http://example.com:3000",
    "http://example.com:7999",
    "http://example.com:9000",
    "https://example.com:465",
    `https://example.com/${"a".repeat(LIMITS.webhookUrlLength.value)}`,
  ];
  expect(refused.filter((url) => checkWebhookUrl(url) === null)).toEqual([]);
});

test("accepts addresses of the public internet, and local ones that the instance admin allows", () => {
  const fine = [
    "https://example.com",
    "http://example.com:8080/hook?a=b#c",
    "http://example.com:443",
    "http://example.com:8000",
    "http://example.com:8999",
    "https://1.1.1.1",
    "https://bücher.example/ü",
  ];
  expect(fine.map((url) => checkWebhookUrl(url))).toEqual(fine.map(() => null));
  const allowed: CallTargets = { networks: parseNetworks(["10.0.0.0/8"]), ports: [[3000, 3001]] };
  expect(checkWebhookUrl("http://10.1.1.1:3000", allowed)).toBeNull();
  expect(checkWebhookUrl("https://example.com:3001", allowed)).toBeNull();
  expect(checkWebhookUrl("http://10.1.1.1:3002", allowed)?.message).toContain("WEBHOOK_ALLOW_PORTS");
  expect(checkWebhookUrl("http://database.internal", allowed)).toBeNull();
  expect(checkWebhookUrl("http://127.0.0.1", allowed)?.code).toBe("invalid_string");
});

test("rejects headers with line breaks or reserved names, each by its name", () => {
  const refused = [
    ["x-a", "b\r\nx-c: d"],
    ["x-a", "b\nc"],
    ["x-a", "b\u0000"],
    ["x-a", "ключ"],
    ["x-a", "a".repeat(LIMITS.webhookHeaderLength.value + 1)],
    ["x-a\r\nx-b", "c"],
    ["x a", "b"],
    ["x:a", "b"],
    ["", "b"],
    ["x".repeat(LIMITS.headerNameLength.value + 1), "b"],
    ...[
      "Host",
      "Content-Length",
      "transfer-encoding",
      "Connection",
      "webhook-id",
      "Webhook-Timestamp",
      "webhook-signature",
    ].map((name) => [name, "b"]),
  ] as Array<[string, string]>;
  const passed = refused.filter(([name, value]) => checkWebhookHeaders({ [name]: value })[0]?.name !== name);
  expect(passed).toEqual([]);
  expect(checkWebhookHeaders({ "x-a": "1", "X-A": "2" })).toHaveLength(1);
});

const headers = (count: number) =>
  Object.fromEntries(
    Array.from({ length: count }, (_, at) => [`x-${at}`, "é".repeat(LIMITS.webhookHeaderLength.value)]),
  );

test("accepts the maximum number of headers with the longest values, but not one more", () => {
  expect(
    checkWebhookHeaders({ ...headers(18), Authorization: "Bearer a", "content-type": "text/plain" }),
  ).toEqual([]);
  expect(checkWebhookHeaders(headers(21))).toMatchObject([{ name: "", code: "too_big" }]);
});

test("retries a call five times after the documented waits", () => {
  expect([1, 2, 3, 4, 5, 6].map((tries) => waitAfter(tries, null))).toEqual([5, 30, 120, 600, 2700, null]);
  expect(LIMITS.webhookRetries.value).toBe(5);
});

test("accepts a longer wait from the endpoint up to the limit, but no shorter one", () => {
  const nowMs = Date.parse("2027-01-31T12:00:00Z");
  const wait = (header: string) => waitAfter(2, parseRetryAfter(header, nowMs));
  expect(wait("120")).toBe(120);
  expect(wait("1")).toBe(30);
  expect(wait("86400")).toBe(2700);
  expect(wait("Sun, 31 Jan 2027 12:01:30 GMT")).toBe(90);
  expect(wait("Sun, 31 Jan 2027 11:00:00 GMT")).toBe(30);
  for (const header of ["soon", "", "-5", "1e9"]) expect(wait(header)).toBe(30);
  expect(waitAfter(6, 60)).toBeNull();
});

test("gives free connections to the projects with the fewest, in order and up to their limit", () => {
  const projects = [
    { projectId: "a", running: 4 },
    { projectId: "b", running: 2 },
    { projectId: "c", running: 0 },
    { projectId: "d", running: 0 },
  ];
  const share = (free: number, kept = 0) =>
    Object.fromEntries(sharePlaces(free, projects, { most: 4, kept }));
  expect(share(3)).toEqual({ c: 2, d: 1 });
  expect(share(99)).toEqual({ b: 2, c: 4, d: 4 });
  expect(share(0)).toEqual({});
  expect(share(10, 7)).toEqual({ c: 2, d: 1 });
  expect(share(2, 7)).toEqual({ c: 1, d: 1 });
});

test("reads a response as JSON if jsonb accepts it, or else as text", () => {
  expect(readResponse('{"a":[1,null]}')).toEqual({ a: [1, null] });
  const deep = "[".repeat(30_000) + "]".repeat(30_000);
  const texts = ["<html>", "", '"\\u0000"', '{"a\\u0000":1}', '{"a":["\\ud800"]}', deep];
  expect(texts.map(readResponse)).toEqual(texts);
});
