import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { Verification } from "@postloft/contract/verify.ts";
import { createDns, type Dns, type DnsAnswer } from "../platform/dns.ts";
import { startDnsServer, type DnsServer } from "../testing/dns-server.ts";
import { faultsOf, refusalOf, useTestServer } from "../testing/test-server.ts";
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
  // Knowledge is kept per domain, so each test asks about its own.
  const verify = (email: unknown, headers: Record<string, string> = {}) =>
    server.call<{ success: boolean; data: Verification }>(
      "POST",
      "/v1/verify",
      { ...server.project.byKey, headers },
      { email },
    );

  test("an address at a domain with everything is valid, in its canonical form, with one sentence", async () => {
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
        reasons: ["Nothing is wrong with this address; whole.example receives mail."],
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
  ])("%s is told by what DNS says about it", async ([domain, publish, expected]) => {
    publish();
    const { status, body } = await verify(`ada@${domain}`);
    expect(status).toBe(200);
    expect(body.data).toMatchObject(expected);
    expect(body.data.reasons).toHaveLength(1);
  });

  test("a misspelled address comes back corrected", async () => {
    const { body } = await verify("ada+x@gmaill.con");
    expect(body.data).toMatchObject({ isTypo: true, suggestedEmail: "ada+x@gmail.com", valid: false });
  });

  test.for(["ada", "ada@", "ada@@example.com", "ada@example", "a b@example.com", "ada@[192.0.2.1]", ""])(
    "what is no e-mail address at all (%j) is refused with 422",
    async (email) => {
      const reply = await server.call("POST", "/v1/verify", server.project.byKey, { email });
      expect(refusalOf(reply)).toBe("422 VALIDATION_ERROR");
      expect(faultsOf(reply)).toEqual(["email invalid_string"]);
    },
  );

  test("a missing address and one that is no text are refused with 422, without a key nobody is answered", async () => {
    expect(faultsOf(await server.call("POST", "/v1/verify", server.project.byKey, {}))).toEqual([
      "email required",
    ]);
    expect(faultsOf(await server.call("POST", "/v1/verify", server.project.byKey, { email: 1 }))).toEqual([
      "email invalid_type",
    ]);
    expect((await server.call("POST", "/v1/verify", {}, { email: "ada@example.com" })).status).toBe(401);
    const publicKey = { key: server.project.publicKey };
    expect((await server.call("POST", "/v1/verify", publicKey, { email: "a@b.example" })).status).toBe(401);
  });

  test("a retry under the same Idempotency-Key gets the same answer", async () => {
    dns.setRecords("again.example", MAIL_AND_WEB);
    const headers = { "idempotency-key": "verify-1" };
    const first = await verify("ada@again.example", headers);
    const second = await verify("ada@again.example", headers);
    expect(second.status).toBe(200);
    expect(second.body).toEqual(first.body);
    expect(second.headers.get("idempotency-replayed")).toBe("true");
  });

  test("a resolver that fails is a reason, not an error", async () => {
    dns.setMood("servfail");
    const { status, body } = await verify("ada@unlucky.example");
    dns.setMood("answer");
    expect(status).toBe(200);
    expect(body.data).toMatchObject({ valid: true, domainExists: true, hasMxRecords: false });
    expect(body.data.reasons).toEqual([expect.stringContaining("could not be checked")]);
  });
});

/** A response to a query: its header with these flags, its question, then any bytes, said to be `answers` records. */
function respond(query: Buffer, flags: number, answers: number, bytes: Buffer): Buffer {
  const header = Buffer.from(query.subarray(0, 12));
  header.writeUInt16BE(flags, 2);
  header.writeUInt16BE(answers, 6);
  header.writeUInt16BE(0, 10);
  const questionEnd = query.indexOf(0, 12) + 5;
  return Buffer.concat([header, query.subarray(12, questionEnd), bytes]);
}

/** One record with the type that was asked for. */
function record(query: Buffer, name: readonly number[], data: Buffer): Buffer {
  const type = query.readUInt16BE(query.indexOf(0, 12) + 1);
  const head = Buffer.from([...name, 0, type, 0, 1, 0, 0, 0, 60, 0, 0]);
  head.writeUInt16BE(data.length, head.length - 2);
  return Buffer.concat([head, data]);
}

const ANSWER = 0x8180;
const TRUNCATED = 0x8380;
const QUESTION = [0xc0, 12];
const hostile: Record<string, Parameters<DnsServer["setReply"]>[1]> = {
  "a name that points at itself": (query) =>
    respond(query, ANSWER, 1, record(query, [0xc0, query.indexOf(0, 12) + 5], Buffer.alloc(4))),
  "a mail server whose name points at itself": (query) => {
    const at = query.indexOf(0, 12) + 5 + 12 + 2;
    return respond(query, ANSWER, 1, record(query, QUESTION, Buffer.from([0, 10, 0xc0, at])));
  },
  "a pointer past the end": (query) =>
    respond(query, ANSWER, 1, record(query, [0xff, 0xff], Buffer.alloc(4))),
  "65,535 records, none of them there": (query) => respond(query, ANSWER, 65_535, Buffer.alloc(0)),
  "a record longer than the message": (query) =>
    respond(query, ANSWER, 1, record(query, QUESTION, Buffer.alloc(4)).fill(0xff, 10, 12)),
  "nothing but a header": (query) => query.subarray(0, 12),
  "half a header": (query) => query.subarray(0, 5),
  "no octet at all": () => Buffer.alloc(0),
  "the query sent back": (query) => query,
  "an answer to another question": (query) =>
    respond(
      Buffer.concat([query.subarray(0, 12), Buffer.from("\x05other\0\0\x0f\0\x01", "latin1")]),
      ANSWER,
      0,
      Buffer.alloc(0),
    ),
  "an answer under another id": (query) => {
    const answer = respond(query, ANSWER, 0, Buffer.alloc(0));
    answer.writeUInt16BE(answer.readUInt16BE(0) ^ 1, 0);
    return answer;
  },
  "truncated over UDP, silent over TCP": (query, transport) =>
    transport === "udp" ? respond(query, TRUNCATED, 0, Buffer.alloc(0)) : null,
  "truncated over UDP and over TCP": (query) => respond(query, TRUNCATED, 0, Buffer.alloc(0)),
  "64 kB of noise over TCP": (query, transport) =>
    transport === "udp"
      ? respond(query, TRUNCATED, 0, Buffer.alloc(0))
      : respond(query, ANSWER, 4_000, Buffer.alloc(65_000, 0xc1)),
};

/** Well-formed enough for the resolver, which takes them at their word: there is no such record. */
const READ_AS_EMPTY = new Set(["the query sent back", "truncated over UDP and over TCP"]);

describe("trouble with DNS", () => {
  let dns: DnsServer;
  beforeEach(async () => {
    dns = await startDnsServer();
  });
  afterEach(() => dns.close());

  /** The verdict on one address of a domain, after checking that it came in time. */
  async function verdictOf(domain: string, servers = [dns.address]): Promise<Verification> {
    const start = performance.now();
    const verdict = await createVerifier({ dns: createDns(servers) })(`ada@${domain}`);
    expect(performance.now() - start).toBeLessThan(MAX_CALL_MS);
    return verdict;
  }

  test("that is silence ends after 2 s with a reason", async () => {
    dns.setMood("silent");
    const start = performance.now();
    const verdict = await verdictOf("silent.example");
    expect(performance.now() - start).toBeGreaterThan(1_500);
    expect(performance.now() - start).toBeLessThan(3_000);
    expect(verdict).toMatchObject({ valid: true, domainExists: true });
    expect(verdict.reasons).toEqual([expect.stringContaining("DNS did not answer in time")]);
  });

  test("that is several silent resolvers still ends within 5 s", async () => {
    const others = await Promise.all([startDnsServer(), startDnsServer(), startDnsServer()]);
    [dns, ...others].forEach((server) => server.setMood("silent"));
    const servers = [dns, ...others].map(({ address }) => address);
    expect((await verdictOf("silent.example", servers)).reasons).toEqual([
      expect.stringContaining("DNS did not answer in time"),
    ]);
    await Promise.all(others.map((server) => server.close()));
  });

  test("that is one silent resolver is helped by the next one", async () => {
    dns.setMood("silent");
    const other = await startDnsServer();
    other.setRecords("helped.example", MAIL_AND_WEB);
    const verdict = await verdictOf("helped.example", [dns.address, other.address]);
    expect(verdict).toMatchObject({ valid: true, hasMxRecords: true });
    expect(verdict.reasons).toHaveLength(1);
    await other.close();
  });

  test("that is no network at all is a reason at once, and misspellings are seen all the same", async () => {
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

  test("that is about one type of record hides none of the others", async () => {
    const MX = 15;
    dns.setReply("half.example", (query) => {
      const answer = Buffer.from(query);
      const isMx = query.readUInt16BE(query.indexOf(0, 12) + 1) === MX;
      answer.writeUInt16BE(isMx ? 0x8182 : 0x8180, 2);
      return answer;
    });
    const verdict = await verdictOf("half.example");
    expect(verdict).toMatchObject({ valid: true, domainExists: true, hasMxRecords: false });
    expect(verdict.reasons).toEqual([expect.stringContaining("the DNS server could not answer")]);
  });

  test("that is a hostile answer of any kind neither fails, hangs nor condemns an address", async () => {
    const names = Object.keys(hostile);
    names.forEach((name, at) => dns.setReply(`hostile${at}.example`, hostile[name] ?? (() => null)));
    const verdicts = await Promise.all(names.map((_, at) => verdictOf(`hostile${at}.example`)));
    const outcomes = names.map((name, at) => ({
      name,
      valid: verdicts[at]?.valid,
      reasons: verdicts[at]?.reasons.length,
    }));
    expect(outcomes).toEqual(names.map((name) => ({ name, valid: !READ_AS_EMPTY.has(name), reasons: 1 })));
  });

  test("is not what a very large honest answer is taken for", async () => {
    const addresses = Array.from({ length: 3_000 }, (_, at) => `10.0.${at >> 8}.${at & 255}`);
    dns.setRecords("large.example", { ...MAIL_AND_WEB, A: addresses });
    const verdict = await verdictOf("large.example");
    expect(verdict).toMatchObject({ valid: true, hasWebsite: true, hasMxRecords: true });
    expect(verdict.reasons).toEqual([expect.stringContaining("Nothing is wrong")]);
  });
});

const MAIL: DnsAnswer = { kind: "records", records: ["mx.example.net"] };
const SILENCE: DnsAnswer = { kind: "unanswered", reason: "ETIMEOUT" };

/** A resolver that always says the same, with a count of what it was asked, and a clock that stands still. */
function makeVerifier(answer: DnsAnswer | Promise<DnsAnswer>) {
  const state = { questions: 0, nowMs: 1_000 };
  const dns: Dns = {
    txt: async () => answer,
    async records() {
      state.questions += 1;
      return answer;
    },
    servers: () => [],
  };
  return { state, verify: createVerifier({ dns, nowMs: () => state.nowMs }) };
}

describe("what was learned about a domain", () => {
  test.for<[string, DnsAnswer, number]>([
    ["that it receives mail is kept for an hour", MAIL, 60 * MINUTE_MS],
    ["that it does not is kept for five minutes", { kind: "none" }, 5 * MINUTE_MS],
    ["that nobody answered is kept for half a minute", SILENCE, MINUTE_MS / 2],
  ])("%s, for every address", async ([, answer, keptMs]) => {
    const { state, verify } = makeVerifier(answer);
    await verify("ada@example.com");
    const { questions } = state;
    state.nowMs += keptMs;
    expect(await verify("bob@example.com")).toMatchObject({ email: "bob@example.com" });
    expect(state.questions).toBe(questions);
    state.nowMs += 1;
    await verify("ada@example.com");
    expect(state.questions).toBe(2 * questions);
  });

  test("is asked for once by all who want to know at the same time", async () => {
    const answered = Promise.withResolvers<DnsAnswer>();
    const { state, verify } = makeVerifier(answered.promise);
    const verdicts = Array.from({ length: 50 }, (_, at) => verify(`person${at}@example.com`));
    answered.resolve(MAIL);
    expect((await Promise.all(verdicts)).map(({ email }) => email)).toContain("person49@example.com");
    expect(state.questions).toBe(4);
  });

  test("is kept for the 10,000 domains asked about last", async () => {
    const { state, verify } = makeVerifier(MAIL);
    for (let at = 0; at <= 10_000; at++) await verify(`ada@domain${at}.example`);
    const { questions } = state;
    await verify("ada@domain1.example");
    expect(state.questions).toBe(questions);
    await verify("ada@domain0.example");
    expect(state.questions).toBe(questions + 4);
  });

  test("is not asked for while 250 others are being looked up, and nothing is kept of that", async () => {
    const answered = Promise.withResolvers<DnsAnswer>();
    const { state, verify } = makeVerifier(answered.promise);
    const others = Array.from({ length: 250 }, (_, at) => verify(`ada@domain${at}.example`));
    const refused = await verify("ada@example.com");
    expect(refused).toMatchObject({ valid: true, domainExists: true });
    expect(refused.reasons).toEqual([expect.stringContaining("too many domains")]);
    expect(state.questions).toBe(4 * 250);
    answered.resolve(MAIL);
    await Promise.all(others);
    expect(await verify("ada@example.com")).toMatchObject({ valid: true, hasMxRecords: true });
  });
});
