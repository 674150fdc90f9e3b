// Tests that messages of every shape arrive at a mail server with their bytes unchanged, over STARTTLS, TLS and dot-stuffing.
import { Resolver } from "node:dns/promises";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { dkimVerify } from "mailauth/lib/dkim/verify.js";
import { createTransport } from "nodemailer";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startDnsServer, type DnsServer } from "../testing/dns-server.ts";
import { corpusMessage } from "../testing/message-corpus.ts";
import { proveDomain } from "../testing/prove-domain.ts";
import { createSelfSignedCertificate } from "../testing/self-signed-certificate.ts";
import { startSmtpSink, type SmtpSink } from "../testing/smtp-sink.ts";
import { startSubmitting, type Submitting } from "../testing/submission.ts";
import { startTestServer, type TestServer } from "../testing/test-server.ts";

const DOMAIN = "mail.shop.example";
const FROM = `app@${DOMAIN}`;
const MESSAGES = 300;
const ARRIVAL_MS = 90_000;

let dns: DnsServer;
let sink: SmtpSink;
let server: TestServer;
let folder: string;
let at: Submitting;
const certificate = createSelfSignedCertificate();
beforeAll(async () => {
  dns = await startDnsServer();
  sink = await startSmtpSink();
  server = await startTestServer({
    MAIL_TRANSPORT: `smtp://127.0.0.1:${sink.port}`,
    DNS_SERVERS: dns.address,
  });
  folder = await mkdtemp(join(tmpdir(), "postloft-certificate-"));
  const files = {
    SUBMISSION_TLS_CERT: join(folder, "cert.pem"),
    SUBMISSION_TLS_KEY: join(folder, "key.pem"),
  };
  await writeFile(files.SUBMISSION_TLS_CERT, certificate.cert);
  await writeFile(files.SUBMISSION_TLS_KEY, certificate.key);
  at = await startSubmitting(server, { SUBMISSION_TLS_PORT: "0", ...files });
  await proveDomain(server, dns, server.project.byKey, DOMAIN);
});
afterAll(async () => {
  await server.stop();
  await sink.close();
  await dns.close();
  await rm(folder, { recursive: true });
});

function createClient(secure: boolean) {
  return createTransport({
    host: "localhost",
    port: secure ? at.tlsPort : at.port,
    secure,
    requireTLS: true,
    pool: true,
    maxConnections: 4,
    auth: { user: server.project.id, pass: server.project.secretKey },
    tls: { ca: certificate.cert },
  });
}

/** Verifies signatures with the keys that the domain publishes, as a receiving server does. */
async function dkimResultsOf(raw: Buffer): Promise<string[]> {
  const resolver = new Resolver();
  resolver.setServers([dns.address]);
  const { results } = await dkimVerify(raw, { resolver: (name) => resolver.resolveTxt(name), strict: true });
  return results.map(({ status }) => status.result);
}

test("delivers varied messages with body and kept headers byte for byte", async () => {
  const clients = [createClient(false), createClient(true)];
  const messages = Array.from({ length: MESSAGES }, (_, n) => corpusMessage(n + 1, FROM));
  const replies = await Promise.all(
    messages.map(({ sent }, n) => {
      const envelope = { from: "any@elsewhere.example", to: `p${n + 1}@example.com` };
      return clients[n % 2]?.sendMail({ envelope, raw: sent });
    }),
  );
  for (const client of clients) client.close();
  for (const reply of replies) expect(reply?.response).toMatch(/^250 2\.0\.0 Accepted as/);
  await sink.waitForMessages(MESSAGES, ARRIVAL_MS);
  const arrived = new Map(sink.journal.map((message) => [message.recipients[0], message.raw]));
  for (const [n, { kept }] of messages.entries()) {
    const raw = arrived.get(`p${n + 1}@example.com`) ?? Buffer.alloc(0);
    expect(raw.subarray(-kept.length).toString("latin1"), `message ${n + 1}`).toBe(kept.toString("latin1"));
    expect(await dkimResultsOf(raw), `signature of message ${n + 1}`).toEqual(["pass"]);
    expect(raw.subarray(0, -kept.length).toString("latin1")).toMatch(
      /^DKIM-Signature: [^]*\r\nFeedback-ID: [^\r]*\r\n$/,
    );
  }
}, 150_000);
