// Verifies a domain over DNS and sends signed emails from the official client to a real SMTP server.
import type plunk from "@plunk/node";
import { dkimVerify } from "mailauth/lib/dkim/verify.js";
import { Resolver } from "node:dns/promises";
import { createRequire } from "node:module";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createApiClient, type ApiClient, type EmailItem } from "./api-client.ts";
import { startDnsServer, type DnsServer } from "../server/src/testing/dns-server.ts";
import { BOOTSTRAP, makeDataFolder, SECRET_KEY, startProgram, type Program } from "./program.ts";
import { startSmtpReceiver, type SmtpReceiver } from "./smtp-receiver.ts";
import { verifyDomain, type DomainItem } from "./verify-domain.ts";
import { waitUntil } from "./wait-until.ts";

const DELIVERY_TIMEOUT_MS = 45_000;
const DOMAIN = "mail.example.com";
const { default: Plunk }: typeof plunk = createRequire(import.meta.url)("@plunk/node");

let dns: DnsServer;
let receiver: SmtpReceiver;
let folder: Awaited<ReturnType<typeof makeDataFolder>>;
let program: Program;
let api: ApiClient;

beforeAll(async () => {
  dns = await startDnsServer();
  receiver = await startSmtpReceiver();
  folder = await makeDataFolder();
  program = await startProgram({
    DATA_DIR: folder.path,
    ...BOOTSTRAP,
    MAIL_TRANSPORT: receiver.url,
    DNS_SERVERS: dns.address,
  });
  api = createApiClient(program.url);
});
afterAll(async () => {
  await program.kill();
  await folder.remove();
  await receiver.close();
  await dns.close();
});

/** Queries the test's DNS server, as a receiving mail server would. */
async function resolveTxt(name: string): Promise<string[][]> {
  const resolver = new Resolver();
  resolver.setServers([dns.address]);
  return resolver.resolveTxt(name);
}

test("sends signed emails from verified domains only, once, with the address as envelope", async () => {
  const client = new Plunk(SECRET_KEY, { baseUrl: `${program.url}/v1/` });
  const sendFrom = (from: string) =>
    client.emails.send({ to: "Ada <Ada@Example.net>", from, subject: "Grüße", body: "<p>Schön!</p>" });
  for (const domain of ["sandbox.localhost", DOMAIN]) {
    const appError = `The domain ${domain} is not verified in this project.`;
    await expect(sendFrom(`us@${domain}`)).rejects.toThrow(appError);
    const mail = { to: "ada@example.net", from: `us@${domain}`, subject: "s", body: "b" };
    expect(await api.call("POST", "/v1/send", mail)).toMatchObject({
      status: 403,
      body: { message: appError, error: { code: "DOMAIN_NOT_VERIFIED" } },
    });
  }

  expect(await verifyDomain(api, dns, DOMAIN)).toMatchObject({ status: "VERIFIED" });
  await sendFrom(`Us <us@${DOMAIN}>`);
  const email = await waitUntil("the end of the mail", DELIVERY_TIMEOUT_MS, async () => {
    const [sent] = await api.listAll<EmailItem>("/emails?status=SENT");
    return sent;
  });
  expect(email).toMatchObject({ to: "ada@example.net", attempts: 1 });
  expect(receiver.mails.map(({ envelope }) => envelope)).toEqual([
    { from: `us@${DOMAIN}`, to: ["ada@example.net"] },
  ]);
  const raw = receiver.mails[0]?.raw ?? Buffer.alloc(0);
  const { results } = await dkimVerify(raw, { resolver: resolveTxt, strict: true });
  expect(results.map(({ status, signingDomain }) => [status.result, signingDomain])).toEqual([
    ["pass", DOMAIN],
  ]);
});

test("verifies a domain only by its own record and keeps its status if DNS fails", async () => {
  const { id, records } = await api.post<DomainItem>("/domains", { domain: "other.example.com" });
  const { name = "", value = "" } = records[0] ?? {};
  const check = async () => {
    const found = await api.get<DomainItem>(`/domains/${id}/verify`);
    return [found.status, found.records[0]?.status];
  };
  expect(await check()).toEqual(["PENDING", "MISSING"]);
  dns.setTxt(name, [value.replace(/p=..../, "p=AAAA")]);
  expect(await check()).toEqual(["PENDING", "MISMATCH"]);
  dns.setTxt(name, ["something else", value]);
  expect(await check()).toEqual(["VERIFIED", "FOUND"]);
  dns.setMood("servfail");
  expect(await check()).toEqual(["VERIFIED", "FOUND"]);
  dns.setMood("silent");
  expect(await check()).toEqual(["VERIFIED", "FOUND"]);
  dns.setMood("answer");
  dns.setTxt(name, []);
  // One failed check changes nothing, while the third in a row would.
  expect(await check()).toEqual(["VERIFIED", "MISSING"]);
});
