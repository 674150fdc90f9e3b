import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import * as verifyContract from "@postloft/contract/verify.ts";
import type { Verification } from "@postloft/contract/verify.ts";
import { createDns, type Dns, type DnsAnswer } from "../platform/dns.ts";
import { startDnsServer, type DnsServer } from "../testing/dns-server.ts";
import { leastWallMs } from "../testing/least-time.ts";
import { faultsOf, errorOf, useTestServer } from "../testing/test-server.ts";
import { createVerifier } from "./verify.ts";

const MAX_CALL_MS = 5_000;
const MINUTE_MS = 60_000;
const MAIL_AND_WEB = {
  MX: ["10 mx.example.net"],
  A: ["192.0.2.1"],
  AAAA: ["2001:db8::1"],
  NS: ["ns.example.net"],
};

describe("over HTTP", () => {
  const settings: Record<string, string> = {};
  let dns: DnsServer;
  beforeAll(async () => {
    dns = await startDnsServer();
    settings["DNS_SERVERS"] = dns.address;
  });
  const server = useTestServer(settings);
  afterAll(() => dns.close());
  // Results are cached per domain, so each test uses a different one.
  const verify = (email: unknown, headers: Record<string, string> = {}) =>
    server.call<{ success: boolean; data: Verification }>(
      "POST",
      "/v1/verify",
      { ...server.project.byKey, headers },
      { email },
    );

  test("returns a valid address in canonical form with one sentence", async () => {
    dns.setRecords("whole.example", MAIL_AND_WEB);
    const before = await server.countRows();
    const { status, body } = await verify(" Ada@Whole.EXAMPLE ");
    expect(status).toBe(200);
    expect(body).toEqual({
      success: true,
      data: {
        email: "ada@whole.example",
        valid: true,
        isDisposable: false,
        isAlias: false,
        isTypo: false,
        isPlusAddressed: false,
        isPersonalEmail: false,
        domainExists: true,
        hasWebsite: true,
        hasMxRecords: true,
        reasons: ["This address has no problems, and whole.example receives email."],
      },
    });
    expect(await server.countRows()).toEqual(before);
  });

  test.for<[string, () => void, object]>([
    [
      "mail.sub.example",
      () => dns.setRecords("mail.sub.example", { MX: ["10 mx.example.net"] }),
      { valid: true, domainExists: true, hasMxRecords: true, hasWebsite: false },
    ],
    [
      "host.example",
      () => dns.setRecords("host.example", { A: ["192.0.2.1"] }),
      { valid: true, domainExists: true, hasMxRecords: false, hasWebsite: true },
    ],
    [
      "null-mx.example",
      () => dns.setRecords("null-mx.example", { ...MAIL_AND_WEB, MX: ["0 ."] }),
      { valid: false, domainExists: true, hasMxRecords: false, hasWebsite: true },
    ],
    [
      "empty-zone.example",
      () => dns.setRecords("empty-zone.example", { NS: ["ns.example.net"] }),
      { valid: false, domainExists: true, hasMxRecords: false, hasWebsite: false },
    ],
    [
      "no-data.example",
      () => dns.setRecords("no-data.example", {}),
      { valid: false, domainExists: false, hasMxRecords: false, hasWebsite: false },
    ],
    [
      "no-domain.example",
      () => undefined,
      { valid: false, domainExists: false, hasMxRecords: false, hasWebsite: false },
    ],
    [
      "münchen.example",
      () => dns.setRecords("xn--mnchen-3ya.example", MAIL_AND_WEB),
      { valid: true, email: "ada@xn--mnchen-3ya.example", hasMxRecords: true },
    ],
  ])("judges %s by its DNS records", async ([domain, publish, expected]) => {
    publish();
    const { status, body } = await verify(`ada@${domain}`);
    expect(status).toBe(200);
    expect(body.data).toMatchObject(expected);
    expect(body.data.reasons).toHaveLength(1);
  });

  test("returns the correction of a misspelled address", async () => {
    const { body } = await verify("ada+x@gmaill.con");
    expect(body.data).toMatchObject({ isTypo: true, suggestedEmail: "ada+x@gmail.com", valid: false });
  });

  test.for(["ada", "ada@", "ada@@example.com", "ada@example", "a b@example.com", "ada@[192.0.2.1]", ""])(
    "rejects the invalid address %j with 422",
    async (email) => {
      const reply = await server.call(verifyContract.verify, server.project.byKey, { body: { email } });
      expect(errorOf(reply)).toBe("422 VALIDATION_ERROR");
      expect(faultsOf(reply)).toEqual(["email invalid_string"]);
    },
  );

  test("rejects a missing or non-text address with 422, and requests without a key", async () => {
    expect(faultsOf(await server.call("POST", "/v1/verify", server.project.byKey, {}))).toEqual([
      "email required",
    ]);
    expect(faultsOf(await server.call("POST", "/v1/verify", server.project.byKey, { email: 1 }))).toEqual([
      "email invalid_type",
    ]);
    expect(
      (await server.call(verifyContract.verify, {}, { body: { email: "ada@example.com" } })).status,
    ).toBe(401);
    const publicKey = { key: server.project.publicKey };
    expect(
      (await server.call(verifyContract.verify, publicKey, { body: { email: "a@b.example" } })).status,
    ).toBe(401);
  });

  test("returns the same response to a retry with the same Idempotency-Key", async () => {
    dns.setRecords("again.example", MAIL_AND_WEB);
    const headers = { "idempotency-key": "verify-1" };
    const first = await verify("ada@again.example", headers);
    const second = await verify("ada@again.example", headers);
    expect(second.status).toBe(200);
    expect(second.body).toEqual(first.body);
    expect(second.headers.get("idempotency-replayed")).toBe("true");
  });

  test("reports a failing resolver as a reason instead of an error", async () => {
    dns.setMood("servfail");
    const { status, body } = await verify("ada@unlucky.example");
    dns.setMood("answer");
    expect(status).toBe(200);
    expect(body.data).toMatchObject({ valid: true, domainExists: true, hasMxRecords: false });
    expect(body.data.reasons).toEqual([expect.stringContaining("could not be checked")]);
  });
});

/** A DNS response: a header with these flags, its question, then any bytes, with a claimed count of `answers` records. */
function respond(query: Buffer, flags: number, responses: number, bytes: Buffer): Buffer {
  const header = Buffer.from(query.subarray(0, 12));
  header.writeUInt16BE(flags, 2);
  header.writeUInt16BE(responses, 6);
  header.writeUInt16BE(0, 10);
  const questionEnd = query.indexOf(0, 12) + 5;
  return Buffer.concat([header, query.subarray(12, questionEnd), bytes]);
}

/** One record of the requested type. */
function record(query: Buffer, name: readonly number[], data: Buffer): Buffer {
  const type = query.readUInt16BE(query.indexOf(0, 12) + 1);
  const head = Buffer.from([...name, 0, type, 0, 1, 0, 0, 0, 60, 0, 0]);
  head.writeUInt16BE(data.length, head.length - 2);
  return Buffer.concat([head, data]);
}

const RESPONSE = 0x8180;
const TRUNCATED = 0x8380;
const QUESTION = [0xc0, 12];
const hostile: Record<string, Parameters<DnsServer["setReply"]>[1]> = {
  "a name that points at itself": (query) =>
    respond(query, RESPONSE, 1, record(query, [0xc0, query.indexOf(0, 12) + 5], Buffer.alloc(4))),
  "a mail server whose name points at itself": (query) => {
    const at = query.indexOf(0, 12) + 5 + 12 + 2;
    return respond(query, RESPONSE, 1, record(query, QUESTION, Buffer.from([0, 10, 0xc0, at])));
  },
  "a pointer past the end": (query) =>
    respond(query, RESPONSE, 1, record(query, [0xff, 0xff], Buffer.alloc(4))),
  "65,535 records, none of them there": (query) => respond(query, RESPONSE, 65_535, Buffer.alloc(0)),
  "a record longer than the message": (query) =>
    respond(query, RESPONSE, 1, record(query, QUESTION, Buffer.alloc(4)).fill(0xff, 10, 12)),
  "nothing but a header": (query) => query.subarray(0, 12),
  "half a header": (query) => query.subarray(0, 5),
  "no octet at all": () => Buffer.alloc(0),
  "the query sent back": (query) => query,
  "an answer to another question": (query) =>
    respond(
      Buffer.concat([query.subarray(0, 12), Buffer.from("\x05other\0\0\x0f\0\x01", "latin1")]),
      RESPONSE,
      0,
      Buffer.alloc(0),
    ),
  "an answer under another id": (query) => {
    const response = respond(query, RESPONSE, 0, Buffer.alloc(0));
    response.writeUInt16BE(response.readUInt16BE(0) ^ 1, 0);
    return response;
  },
  "truncated over UDP, silent over TCP": (query, transport) =>
    transport === "udp" ? respond(query, TRUNCATED, 0, Buffer.alloc(0)) : null,
  "truncated over UDP and over TCP": (query) => respond(query, TRUNCATED, 0, Buffer.alloc(0)),
  "64 kB of noise over TCP": (query, transport) =>
    transport === "udp"
      ? respond(query, TRUNCATED, 0, Buffer.alloc(0))
      : respond(query, RESPONSE, 4_000, Buffer.alloc(65_000, 0xc1)),
};

/** The resolver accepts these as valid and takes them to mean that the record does not exist. */
const READ_AS_EMPTY = new Set(["the query sent back", "truncated over UDP and over TCP"]);

describe("with DNS failures", () => {
  let dns: DnsServer;
  beforeEach(async () => {
    dns = await startDnsServer();
  });
  afterEach(() => dns.close());

  /** Verifies one address of a domain. */
  const verdictOf = (domain: string, servers = [dns.address]): Promise<Verification> =>
    createVerifier({ dns: createDns(servers) })(`ada@${domain}`);

  /** Like verdictOf, and checks that the result comes in time. Returns the result that did. */
  async function verdictInTime(
    domain: string,
    servers?: string[],
    maxMs = MAX_CALL_MS,
  ): Promise<{ verdict: Verification; tookMs: number }> {
    const verdicts: Verification[] = [];
    const tookMs = await leastWallMs(maxMs, async () => verdicts.push(await verdictOf(domain, servers)));
    expect(tookMs).toBeLessThan(maxMs);
    const verdict = verdicts.at(-1);
    if (verdict === undefined) throw new Error("There is no verdict.");
    return { verdict, tookMs };
  }

  test("returns a reason after 2 s when the resolver is silent", async () => {
    dns.setMood("silent");
    const { verdict, tookMs } = await verdictInTime("silent.example", [dns.address], 3_000);
    expect(tookMs).toBeGreaterThan(1_500);
    expect(verdict).toMatchObject({ valid: true, domainExists: true });
    expect(verdict.reasons).toEqual([expect.stringContaining("DNS did not respond in time")]);
  });

  test("returns within 5 s when several resolvers are silent", async () => {
    const others = await Promise.all([startDnsServer(), startDnsServer(), startDnsServer()]);
    [dns, ...others].forEach((server) => server.setMood("silent"));
    const servers = [dns, ...others].map(({ address }) => address);
    expect((await verdictInTime("silent.example", servers)).verdict.reasons).toEqual([
      expect.stringContaining("DNS did not respond in time"),
    ]);
    await Promise.all(others.map((server) => server.close()));
  });

  test("asks the next resolver when one is silent", async () => {
    dns.setMood("silent");
    const other = await startDnsServer();
    other.setRecords("helped.example", MAIL_AND_WEB);
    // A query that takes longer than 4.5 s in total ends without asking the next one.
    const { verdict } = await verdictInTime("helped.example", [dns.address, other.address], 4_500);
    expect(verdict).toMatchObject({ valid: true, hasMxRecords: true });
    expect(verdict.reasons).toHaveLength(1);
    await other.close();
  });

  test("returns a reason immediately without a network, and still detects misspellings", async () => {
    const { address } = dns;
    await dns.close();
    const verdict = await verdictOf("gmaill.com", [address]);
    expect(verdict).toMatchObject({ valid: true, isTypo: true, suggestedEmail: "ada@gmail.com" });
    expect(verdict.reasons).toEqual([
      expect.stringContaining("could not be checked"),
      expect.stringContaining("misspelling of gmail.com"),
    ]);
    dns = await startDnsServer();
  });

  test("uses the other record types when one fails", async () => {
    const MX = 15;
    dns.setReply("half.example", (query) => {
      const response = Buffer.from(query);
      const isMx = query.readUInt16BE(query.indexOf(0, 12) + 1) === MX;
      response.writeUInt16BE(isMx ? 0x8182 : 0x8180, 2);
      return response;
    });
    const verdict = await verdictOf("half.example");
    expect(verdict).toMatchObject({ valid: true, domainExists: true, hasMxRecords: false });
    expect(verdict.reasons).toEqual([expect.stringContaining("the DNS server failed")]);
  });

  test("neither fails, hangs nor calls an address invalid for any hostile response", async () => {
    const names = Object.keys(hostile);
    names.forEach((name, at) => dns.setReply(`hostile${at}.example`, hostile[name] ?? (() => null)));
    const verdicts = await Promise.all(names.map((_, at) => verdictInTime(`hostile${at}.example`)));
    const outcomes = names.map((name, at) => ({
      name,
      valid: verdicts[at]?.verdict.valid,
      reasons: verdicts[at]?.verdict.reasons.length,
    }));
    expect(outcomes).toEqual(names.map((name) => ({ name, valid: !READ_AS_EMPTY.has(name), reasons: 1 })));
  });

  test("accepts a very large valid response", async () => {
    const addresses = Array.from({ length: 3_000 }, (_, at) => `10.0.${at >> 8}.${at & 255}`);
    dns.setRecords("large.example", { ...MAIL_AND_WEB, A: addresses });
    const verdict = await verdictOf("large.example");
    expect(verdict).toMatchObject({ valid: true, hasWebsite: true, hasMxRecords: true });
    expect(verdict.reasons).toEqual([expect.stringContaining("no problems")]);
  });
});

const MAIL: DnsAnswer = { kind: "records", records: ["mx.example.net"] };
const SILENCE: DnsAnswer = { kind: "unanswered", reason: "ETIMEOUT" };

/** A resolver that always returns the same and counts its queries, with a stopped clock. */
function makeVerifier(response: DnsAnswer | Promise<DnsAnswer>) {
  const state = { questions: 0, nowMs: 1_000 };
  const dns: Dns = {
    txt: async () => response,
    async records() {
      state.questions += 1;
      return response;
    },
    servers: () => [],
  };
  return { state, verify: createVerifier({ dns, nowMs: () => state.nowMs }) };
}

describe("the cache of a domain's facts", () => {
  test.for<[string, DnsAnswer, number]>([
    ["keeps for an hour that the domain receives mail", MAIL, 60 * MINUTE_MS],
    ["keeps for five minutes that it does not", { kind: "none" }, 5 * MINUTE_MS],
    ["keeps for half a minute that DNS did not respond", SILENCE, MINUTE_MS / 2],
  ])("%s, for every address", async ([, response, keptMs]) => {
    const { state, verify } = makeVerifier(response);
    await verify("ada@example.com");
    const { questions } = state;
    state.nowMs += keptMs;
    expect(await verify("bob@example.com")).toMatchObject({ email: "bob@example.com" });
    expect(state.questions).toBe(questions);
    state.nowMs += 1;
    await verify("ada@example.com");
    expect(state.questions).toBe(2 * questions);
  });

  test("serves concurrent requests with a single lookup", async () => {
    const responded = Promise.withResolvers<DnsAnswer>();
    const { state, verify } = makeVerifier(responded.promise);
    const verdicts = Array.from({ length: 50 }, (_, at) => verify(`person${at}@example.com`));
    responded.resolve(MAIL);
    expect((await Promise.all(verdicts)).map(({ email }) => email)).toContain("person49@example.com");
    expect(state.questions).toBe(4);
  });

  test("keeps the 10,000 most recently requested domains", async () => {
    const { state, verify } = makeVerifier(MAIL);
    for (let at = 0; at <= 10_000; at++) await verify(`ada@domain${at}.example`);
    const { questions } = state;
    await verify("ada@domain1.example");
    expect(state.questions).toBe(questions);
    await verify("ada@domain0.example");
    expect(state.questions).toBe(questions + 4);
  });

  test("skips a lookup while 250 others are running, without caching the result", async () => {
    const responded = Promise.withResolvers<DnsAnswer>();
    const { state, verify } = makeVerifier(responded.promise);
    const others = Array.from({ length: 250 }, (_, at) => verify(`ada@domain${at}.example`));
    const refused = await verify("ada@example.com");
    expect(refused).toMatchObject({ valid: true, domainExists: true });
    expect(refused.reasons).toEqual([expect.stringContaining("too many domains")]);
    expect(state.questions).toBe(4 * 250);
    responded.resolve(MAIL);
    await Promise.all(others);
    expect(await verify("ada@example.com")).toMatchObject({ valid: true, hasMxRecords: true });
  });
});
