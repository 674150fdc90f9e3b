// Sends signed and forged messages over real sockets, with the DNS records of a test server, and hostile ones to the verifier.
import { generateKeyPairSync } from "node:crypto";
import { dkimSign } from "mailauth/lib/dkim/sign.js";
import { createTransport, type SendMailOptions } from "nodemailer";
import { afterAll, beforeEach, expect, test } from "vitest";
import * as events from "@postloft/contract/events.ts";
import * as received from "@postloft/contract/received-emails.ts";
import { LIMITS } from "@postloft/contract/limits/limits.ts";
import { createDns } from "../../platform/dns.ts";
import { createLog } from "../../platform/log.ts";
import { startDnsServer } from "../../testing/dns-server.ts";
import { freePort } from "../../testing/free-port.ts";
import { leastWallMs } from "../../testing/least-time.ts";
import { personalMail } from "../../testing/incoming-mail.ts";
import { useTestServer, type TestProject } from "../../testing/test-server.ts";
import { createSenderChecker } from "./check-sender.ts";
import { provesDomain, type SenderChecks } from "./proves-domain.ts";
import { verifySignatures } from "./verify-signatures.ts";

const dns = await startDnsServer();
const port = await freePort();
const server = useTestServer({
  ROLES: "api,worker,smtp",
  INBOUND_DOMAIN: "in.example",
  SMTP_PORT: String(port),
  DNS_SERVERS: dns.address,
});
const checker = createSenderChecker({
  dns: createDns([dns.address]),
  name: "mx.in.example",
  log: createLog({ level: "silent" }),
});
afterAll(async () => {
  await checker.close();
  await dns.close();
});

const WAIT = { timeout: 30_000 };
const { privateKey, publicKey } = generateKeyPairSync("rsa", {
  modulusLength: 2048,
  publicKeyEncoding: { type: "spki", format: "der" },
  privateKeyEncoding: { type: "pkcs8", format: "pem" },
});
const KEY = `v=DKIM1; k=rsa; p=${publicKey.toString("base64")}`;
const signedBy = (domainName: string) => ({ domainName, keySelector: "s1", privateKey });

beforeEach(() => {
  dns.setMood("answer");
  dns.setTxt("s1._domainkey.sender.example", [KEY]);
  dns.setTxt("s1._domainkey.other.example", [KEY]);
  dns.setTxt("sender.example", ["v=spf1 ip4:192.0.2.1 -all"]);
  dns.setTxt("_dmarc.sender.example", ["v=DMARC1; p=reject"]);
});

/** Sends a message to a new project and returns its checks, after comparing those of the list, the event and the email. */
async function write(message: SendMailOptions) {
  const project = await server.createProject();
  const client = createTransport({ host: "127.0.0.1", port, ignoreTLS: true, name: "client.example" });
  const to = await inboundAddressOf(project);
  const envelope = { from: "ada@sender.example", to };
  const whole = { from: "Ada <ada@sender.example>", to, subject: "Hi", text: "Hello", envelope, ...message };
  expect((await client.sendMail(whole)).response).toMatch(/^250/);
  await expect.poll(async () => (await list(project)).length, WAIT).toBe(1);
  const [row] = await list(project);
  const params = { id: row?.id ?? "" };
  const { body } = await server.call(received.getReceived, project.byKey, { params });
  expect(body.authentication).toEqual(row?.authentication);
  const ofContact = { params: { contactId: body.contactId } };
  const { data } = (await server.call(events.listContactEvents, project.byKey, ofContact)).body;
  expect(data[0]?.data).toMatchObject({ authentication: body.authentication });
  return body.authentication;
}

const list = async ({ byKey }: TestProject) => (await server.call(received.listReceived, byKey)).body.data;

async function inboundAddressOf({ id, owner }: TestProject): Promise<string> {
  const { body } = await server.call<Array<{ id: string; inboundAddress: string }>>(
    "GET",
    "/users/@me/projects",
    { cookie: owner.cookie },
  );
  return body.find((one) => one.id === id)?.inboundAddress ?? "";
}

test("verifies the sender of a signed message, and shows all results", async () => {
  dns.setTxt("sender.example", ["v=spf1 include:_spf.sender.example -all"]);
  dns.setTxt("_spf.sender.example", ["v=spf1 ip4:127.0.0.1 -all"]);
  expect(await write({ dkim: signedBy("sender.example") })).toEqual({
    verified: true,
    spf: { result: "pass", domain: "sender.example" },
    dkim: [{ result: "pass", domain: "sender.example" }],
    dmarc: { result: "pass", domain: "sender.example", policy: "reject" },
  });
});

test("does not verify a forged sender", async () => {
  expect(await write({})).toEqual({
    verified: false,
    spf: { result: "fail", domain: "sender.example" },
    dkim: [],
    dmarc: { result: "fail", domain: "sender.example", policy: "reject" },
  });
});

test("does not verify a sender by the signature of another domain", async () => {
  expect(await write({ dkim: signedBy("other.example") })).toMatchObject({
    verified: false,
    dkim: [{ result: "pass", domain: "other.example" }],
    dmarc: { result: "fail" },
  });
});

test("verifies a domain without DMARC by its own signature only", async () => {
  dns.setTxt("_dmarc.sender.example", []);
  const dmarc = { result: "none", domain: "sender.example", policy: null };
  expect(await write({ dkim: signedBy("sender.example") })).toMatchObject({ verified: true, dmarc });
  expect(await write({ dkim: signedBy("other.example") })).toMatchObject({ verified: false, dmarc });
});

test("stores a message whose DNS servers fail, with undecided results", async () => {
  dns.setMood("servfail");
  expect(await write({ dkim: signedBy("sender.example") })).toEqual({
    verified: false,
    spf: { result: "temperror", domain: "sender.example" },
    dkim: [{ result: "temperror", domain: "sender.example" }],
    dmarc: { result: "temperror", domain: "sender.example", policy: null },
  });
});

const connection = { remoteAddress: "192.0.2.1", helo: "mx.sender.example", sender: "ada@sender.example" };

const checkInVain = async () => {
  const { spf, dmarc } = await checker.check({
    ...connection,
    raw: personalMail({ from: "ada@sender.example" }),
  });
  expect([spf.result, dmarc.result]).toEqual(["temperror", "temperror"]);
};

test("ends the questions when DNS does not respond", async () => {
  dns.setMood("silent");
  expect(await leastWallMs(10_000, checkInVain)).toBeLessThan(10_000);
});

test("does not count a signature that covers only the beginning of the body", async () => {
  dns.setTxt("sender.example", ["v=spf1 -all"]);
  const whole = (await sign("Hello")).toString("latin1");
  expect(await checker.check({ ...connection, raw: Buffer.from(whole, "latin1") })).toMatchObject({
    dmarc: { result: "pass" },
  });
  const message = "From: ada@sender.example\r\n\r\nHello\r\n";
  const signer = { signingDomain: "sender.example", selector: "s1", privateKey: privateKey.toString() };
  const { signatures } = await dkimSign(message, {
    ...signer,
    signatureData: [{ ...signer, maxBodyLength: 7 }],
  });
  const raw = Buffer.from(`${signatures}${message}Pay here: https://evil.example\r\n`);
  expect(await checker.check({ ...connection, raw })).toMatchObject({
    dkim: [{ result: "policy", domain: "sender.example" }],
    dmarc: { result: "fail" },
  });
});

test("leaves DMARC undecided if DNS returns the policy but not the key", async () => {
  dns.setReply("s1._domainkey.sender.example", (query) => {
    const reply = Buffer.from(query);
    reply.writeUInt16BE(0x8182, 2);
    return reply;
  });
  const raw = await sign("Hello\r\n");
  dns.setTxt("sender.example", []);
  const { dkim, dmarc } = await checker.check({ ...connection, raw });
  expect([dkim[0]?.result, dmarc.result]).toEqual(["temperror", "temperror"]);
});

/** Returns the bytes of a message that nodemailer signs. */
async function sign(text: string): Promise<Buffer> {
  const client = createTransport({ streamTransport: true, buffer: true, newline: "windows" });
  const dkim = signedBy("sender.example");
  const { message } = await client.sendMail({ from: "ada@sender.example", to: "us@in.example", text, dkim });
  return message as Buffer;
}

const keys = new Map([["s1._domainkey.sender.example", [KEY]]]);

test("does not accept a changed body", async () => {
  const raw = await sign("Hello");
  expect((await verifySignatures({ raw, keys })).signatures).toMatchObject([{ result: "pass" }]);
  const changed = Buffer.from(raw.toString("latin1").replace("Hello", "Howdy"), "latin1");
  expect((await verifySignatures({ raw: changed, keys })).signatures).toMatchObject([{ result: "neutral" }]);
});

test.for([
  ["name and colon", "DKIM-Signature:"],
  ["many spaces before the colon", `DKIM-Signature${" ".repeat(70)}:`],
  ["a line break before the colon", "DKIM-Signature\r\n :"],
])("verifies only the first signatures, with %s", async ([, field]) => {
  const most = LIMITS.inboundSignatures.value;
  const surplus = Array.from(
    { length: 300 },
    (_, at) =>
      `${field} v=1; a=rsa-sha256; c=relaxed/simple; d=d${at}.example; s=s1;\r\n h=from; l=${at}; bh=YQ==; b=YQ==\r\n`,
  );
  const raw = Buffer.concat([Buffer.from(surplus.join("")), await sign("Hello")]);
  const { signatures, authors } = await verifySignatures({ raw, keys });
  expect(signatures.map(({ domain }) => domain)).toEqual(
    Array.from({ length: most }, (_, at) => `d${at}.example`),
  );
  expect(authors).toEqual(["ada@sender.example"]);
});

test.for([
  ["two authors at different domains", "From: ada@sender.example, eve@other.example"],
  ["two fields", "From: ada@sender.example\r\nFrom: eve@other.example"],
  ["no address", "From: Ada"],
])("does not decide for a From with %s", async ([, from]) => {
  const { dmarc } = await checker.check({ ...connection, raw: Buffer.from(`${from}\r\n\r\nHi\r\n`) });
  expect(dmarc).toEqual({ result: "none", domain: null, policy: null });
});

test("reads no author that is longer than an address can be", async () => {
  const long = String.fromCodePoint(...Array.from({ length: 1_000 }, (_, at) => 0x4e00 + at));
  const raw = Buffer.from(`From: a@${long}\r\n\r\nHi\r\n`);
  expect((await verifySignatures({ raw, keys })).authors).toEqual([]);
});

test("proves the domain only that DMARC was checked for", () => {
  const passed: SenderChecks = {
    spf: { result: "pass", domain: "sender.example" },
    dkim: [],
    dmarc: { result: "pass", domain: "sender.example", policy: "none" },
  };
  expect(provesDomain(passed, "sender.example")).toBe(true);
  expect(provesDomain(passed, "other.example")).toBe(false);
  const failed: SenderChecks = { ...passed, dmarc: { ...passed.dmarc, result: "fail" } };
  expect(provesDomain(failed, "sender.example")).toBe(false);
});
