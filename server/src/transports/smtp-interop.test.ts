// Tests the SMTP transport against the npm package smtp-server, with STARTTLS and login.
import { EventEmitter, once } from "node:events";
import { SMTPServer, type SMTPServerAddress, type SMTPServerOptions } from "smtp-server";
import { afterEach, expect, test } from "vitest";
import { createSelfSignedCertificate } from "../testing/self-signed-certificate.ts";
import { composeMail, saysYes } from "../testing/smtp-fixture.ts";
import { createSmtpTransport, type SmtpOptions } from "./smtp.ts";
import { parseSmtpUrl } from "./smtp-url.ts";
import { testTransportContract, type ReceivedMessage } from "./transport-contract.ts";
import type { Transport } from "./transport.ts";

interface Interop {
  transport: Transport;
  received: ReceivedMessage[];
  logins: (string | undefined)[];
  close: () => Promise<void>;
}

const certificate = createSelfSignedCertificate();
const PASSWORD = "p@ss/word";

async function startInterop(
  serverOptions: SMTPServerOptions = {},
  options: Partial<SmtpOptions> = {},
  password = PASSWORD,
): Promise<Interop> {
  const received: ReceivedMessage[] = [];
  const logins: (string | undefined)[] = [];
  const server = new SMTPServer({
    ...certificate,
    onAuth({ username, password: input, method }, _session, callback) {
      logins.push(`${method} ${username}`);
      if (input === PASSWORD) callback(null, { user: username });
      else callback(new Error("wrong password"));
    },
    onRcptTo({ address }, _session, callback) {
      if (address.startsWith("nobody@"))
        callback(Object.assign(new Error("5.1.1 no such user"), { responseCode: 550 }));
      else callback();
    },
    onData(stream, session, callback) {
      const { mailFrom, rcptTo } = session.envelope;
      const from = mailFrom === false ? "" : mailFrom.address;
      const to = rcptTo.map(({ address }: SMTPServerAddress) => address);
      const chunks: Buffer[] = [];
      stream.on("data", (chunk: Buffer) => chunks.push(chunk));
      stream.on("end", () => {
        received.push({ raw: Buffer.concat(chunks), envelope: { from, to } });
        callback();
      });
    },
    ...serverOptions,
  });
  const { port } = await new Promise<{ port: number }>((resolve, reject) => {
    server.on("error", reject);
    const listening = server.listen(0, "127.0.0.1", () => {
      const address = listening.address();
      if (address === null || typeof address === "string") return reject(new Error("no port"));
      resolve(address);
    });
  });
  const scheme = serverOptions.secure === true ? "smtps" : "smtp";
  const login = `bob%40x.test:${encodeURIComponent(password)}`;
  const transport = createSmtpTransport({
    url: parseSmtpUrl(`${scheme}://${login}@127.0.0.1:${port}?requireTls=true&connections=4`),
    heloName: "client.test",
    tls: { ca: certificate.cert },
    ...options,
  });
  const close = (): Promise<void> => new Promise((resolve) => server.close(() => resolve()));
  return { transport, received, logins, close };
}

testTransportContract("SMTP to smtp-server with STARTTLS and AUTH", async () => {
  const { transport, received, close } = await startInterop();
  return { transport, received: async () => received, close };
});

const open: Interop[] = [];
afterEach(async () => {
  for (const { transport, close } of open.splice(0)) {
    await transport.close();
    await close();
  }
});

async function use(...parameters: Parameters<typeof startInterop>): Promise<Interop> {
  const interop = await startInterop(...parameters);
  open.push(interop);
  return interop;
}

test("logs in once per connection with PLAIN", async () => {
  const { transport, logins, received } = await use({}, { maxConnections: 1 });
  for (const id of [1, 2, 3]) expect((await transport.send(composeMail(id), saysYes)).kind).toBe("sent");
  expect(logins).toEqual(["PLAIN bob@x.test"]);
  expect(received).toHaveLength(3);
});

test("logs in with LOGIN, also over TLS from the first byte", async () => {
  const { transport, logins } = await use({ authMethods: ["LOGIN"], secure: true });
  expect((await transport.send(composeMail(1), saysYes)).kind).toBe("sent");
  expect(logins).toEqual(["LOGIN bob@x.test"]);
});

test("defers when the password is wrong", async () => {
  const { transport, received } = await use({}, {}, "another");
  expect(await transport.send(composeMail(1), saysYes)).toEqual({
    kind: "deferred",
    outage: true,
    answer: expect.stringMatching(/^AUTH: 535/),
  });
  expect(received).toEqual([]);
});

test("rejects a refused recipient and reuses the connection for the next message", async () => {
  const { transport, logins } = await use({}, { maxConnections: 1 });
  expect(await transport.send(composeMail(1, { to: ["nobody@to.test"] }), saysYes)).toEqual({
    kind: "rejected",
    answer: "RCPT: 550 5.1.1 no such user",
    meaning: "hard-bounce",
  });
  expect((await transport.send(composeMail(2), saysYes)).kind).toBe("sent");
  expect(logins).toHaveLength(1);
});

test("is rejected at MAIL when the message exceeds the announced size", async () => {
  const { transport } = await use({ size: 20 });
  expect(await transport.send(composeMail(1), saysYes)).toEqual({
    kind: "rejected",
    answer: expect.stringMatching(/^MAIL: 552/),
    meaning: "message",
  });
});

test("is rejected when the server refuses the message after the dot", async () => {
  const { transport } = await use({
    onData(stream, _session, callback) {
      stream.resume();
      stream.on("end", () => callback(Object.assign(new Error("5.7.1 spam"), { responseCode: 554 })));
    },
  });
  expect(await transport.send(composeMail(1), saysYes)).toEqual({
    kind: "rejected",
    answer: "DOT: 554 5.7.1 spam",
    meaning: "policy",
  });
});

test("reconnects for the next message when the server closes idle connections", async () => {
  const closed = new EventEmitter();
  const { transport, logins } = await use(
    { socketTimeout: 500, onClose: () => void closed.emit("closed") },
    { maxConnections: 1 },
  );
  for (const id of [1, 2, 3]) {
    const closing = once(closed, "closed");
    expect((await transport.send(composeMail(id), saysYes)).kind).toBe("sent");
    await closing;
  }
  expect(logins).toHaveLength(3);
});
