// Tests TLS of SMTP submission: when clients may sign in, limits after STARTTLS, renewed certificates, settings, and the stop.
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect as connectTls } from "node:tls";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { createSelfSignedCertificate } from "../testing/self-signed-certificate.ts";
import {
  connectRaw,
  connectSignedIn,
  connectWithStartTls,
  FROM,
  signInLine,
  startSubmitting,
  submit,
  type Submitting,
} from "../testing/submission.ts";
import { useTestServer } from "../testing/test-server.ts";
import { faultsOfSubmission } from "./settings.ts";

const server = useTestServer({ ROLES: "api" });
const RELOAD = { timeout: 30_000, interval: 100 };
const ACCEPTED = /^250 2\.0\.0 Accepted/;

let folder: string;
let files: { SUBMISSION_TLS_CERT: string; SUBMISSION_TLS_KEY: string };
let at: Submitting;
async function writeCertificate(name: string): Promise<void> {
  const { cert, key } = createSelfSignedCertificate({ hostNames: [name] });
  await writeFile(files.SUBMISSION_TLS_KEY, key);
  await writeFile(files.SUBMISSION_TLS_CERT, cert);
}
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "postloft-certificate-"));
  files = { SUBMISSION_TLS_CERT: join(folder, "cert.pem"), SUBMISSION_TLS_KEY: join(folder, "key.pem") };
  await writeCertificate("first.example");
  at = await startSubmitting(server, { SUBMISSION_HOST: "0.0.0.0", SUBMISSION_TLS_PORT: "0", ...files });
});
afterAll(() => rm(folder, { recursive: true }));

/** Returns the DNS name in the certificate that the TLS port presents. */
function presentedName(): Promise<string | undefined> {
  return new Promise((resolve, reject) => {
    const socket = connectTls({ port: at.tlsPort, host: "127.0.0.1", rejectUnauthorized: false }, () => {
      resolve(socket.getPeerCertificate().subjectaltname?.split(",")[0]);
      socket.destroy();
    });
    socket.on("error", reject);
  });
}

test("offers no sign-in before TLS where there is a certificate", async () => {
  const client = await connectRaw(at.port);
  expect(await client.say(signInLine(server.project))).toMatch(/^538 .*STARTTLS/);
  expect(await client.say("MAIL FROM:<a@b.example>")).toMatch(/^530 /);
  client.close();
});

test("accepts messages after STARTTLS and over TLS from the first byte", async () => {
  const mail = { to: "ada@example.com" };
  expect(await submit(at, server.project, mail, { requireTLS: true })).toMatch(ACCEPTED);
  expect(await submit({ port: at.tlsPort }, server.project, mail, { secure: true })).toMatch(ACCEPTED);
});

test("accepts sign-ins without TLS where there is no certificate", async () => {
  const plain = await startSubmitting(server);
  expect(await submit(plain, server.project, { to: "ada@example.com" }, { ignoreTLS: true })).toMatch(
    ACCEPTED,
  );
});

test("ends the connection at a bare LF also after STARTTLS", async () => {
  const client = await connectWithStartTls(at.port);
  expect(await client.say(signInLine(server.project))).toMatch(/^235 /);
  expect(await client.write("NOOP\nNOOP\r\n")).toMatch(/^500 5\.5\.2 Lines must end in CR LF/);
  client.close();
});

test("presents a renewed certificate without a restart, and keeps the old one while the new one is incomplete", async () => {
  expect(await presentedName()).toBe("DNS:first.example");
  await writeFile(
    files.SUBMISSION_TLS_CERT,
    createSelfSignedCertificate({ hostNames: ["half.example"] }).cert,
  );
  expect(await presentedName()).toBe("DNS:first.example");
  await writeCertificate("second.example");
  await vi.waitFor(async () => expect(await presentedName()).toBe("DNS:second.example"), RELOAD);
  expect(await submit(at, server.project, { to: "ada@example.com" }, { requireTLS: true })).toMatch(ACCEPTED);
});

const faults = (settings: object) => faultsOfSubmission({ SUBMISSION_PORT: 587, ...settings });

test("rejects settings under which keys would travel unencrypted, or that lack a file", () => {
  expect(faults({})).toEqual([]);
  expect(faults({ SUBMISSION_HOST: "::1" })).toEqual([]);
  expect(faults({ SUBMISSION_HOST: "0.0.0.0" })).toEqual([
    expect.stringMatching(/^SUBMISSION_HOST: other machines would send their keys to 0\.0\.0\.0 unencrypted/),
  ]);
  expect(faults({ SUBMISSION_HOST: "0.0.0.0", SUBMISSION_PORT: undefined })).toEqual([]);
  expect(faults({ SUBMISSION_TLS_PORT: 465 })).toEqual([
    expect.stringMatching(/^SUBMISSION_TLS_CERT: required/),
  ]);
  expect(faults({ SUBMISSION_TLS_CERT: "a" })).toEqual([
    expect.stringMatching(/^SUBMISSION_TLS_KEY: required/),
  ]);
  expect(faults({ SUBMISSION_TLS_KEY: "a" })).toEqual([
    expect.stringMatching(/^SUBMISSION_TLS_CERT: required/),
  ]);
  expect(faults({ SUBMISSION_TLS_CERT: "/none/cert.pem", SUBMISSION_TLS_KEY: "/none/key.pem" })).toEqual([
    "SUBMISSION_TLS_CERT: the certificate of /none/cert.pem and /none/key.pem cannot be used (ENOENT)",
  ]);
  expect(faults({ SUBMISSION_HOST: "0.0.0.0", ...files })).toEqual([]);
});

test("stops after the message in progress, and says goodbye to idle connections", async () => {
  const stopping = await startSubmitting(server);
  const idle = await connectSignedIn(stopping.port, server.project);
  const busy = await connectSignedIn(stopping.port, server.project);
  await busy.say("MAIL FROM:<a@b.example>");
  await busy.say("RCPT TO:<ada@example.com>");
  await busy.say("DATA");
  const stopped = stopping.stop();
  expect(await idle.write("")).toMatch(/^421 4\.3\.2 The server is stopping/);
  expect(await busy.write(`From: ${FROM}\r\n\r\nHi\r\n.\r\n`)).toMatch(ACCEPTED);
  expect(await busy.say("NOOP")).toMatch(/^421 /);
  await stopped;
});
