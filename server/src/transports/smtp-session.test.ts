// Tests the connection setup: TLS with certificates, extensions before and after TLS, and the login.
import { afterEach, expect, test } from "vitest";
import { createSelfSignedCertificate } from "../testing/self-signed-certificate.ts";
import type { SmtpSinkOptions } from "../testing/smtp-sink-rules.ts";
import { SmtpConnection } from "./smtp-connection.ts";
import { commandLines, composeMail, saysYes, useSmtp } from "../testing/smtp-fixture.ts";
import { openSession } from "./smtp-session.ts";
import { DEFAULT_SMTP_TIMEOUTS } from "./smtp-timeouts.ts";

const start = useSmtp();
const withTls: SmtpSinkOptions = { advertise: { startTls: true } };
const withLogin: SmtpSinkOptions = {
  advertise: { startTls: true, auth: ["LOGIN", "PLAIN"] },
  credentials: { user: "bob@x.test", password: "pässword:%" },
};
const login = { user: "bob@x.test", password: "pässword:%" };

test("upgrades to TLS when offered and sends only EHLO and STARTTLS in plaintext", async () => {
  const { sink, transport } = await start(withTls);
  expect((await transport.send(composeMail(1), saysYes)).kind).toBe("sent");
  expect(sink.commands.filter(({ isEncrypted }) => !isEncrypted).map(({ line }) => line)).toEqual([
    "EHLO client.test",
    "STARTTLS",
  ]);
  expect(sink.journal[0]).toMatchObject({ isEncrypted: true, heloName: "client.test" });
});

test("uses TLS from the first byte with an smtps server, by name and by address", async () => {
  for (const host of ["localhost", "127.0.0.1"]) {
    const { sink, transport } = await start(
      { secure: true },
      { url: { host, secure: true, requireTls: true } },
    );
    expect((await transport.send(composeMail(1), saysYes)).kind).toBe("sent");
    expect(sink.commands.every(({ isEncrypted }) => isEncrypted)).toBe(true);
  }
});

test("sends many messages over few TLS connections", async () => {
  const { sink, transport } = await start(withTls, { maxConnections: 3 });
  const ids = Array.from({ length: 50 }, (_, index) => index);
  const outcomes = await Promise.all(ids.map((id) => transport.send(composeMail(id), saysYes)));
  expect(new Set(outcomes.map(({ kind }) => kind))).toEqual(new Set(["sent"]));
  expect(sink.journal).toHaveLength(50);
  expect(sink.connectionCount()).toBe(3);
});

const day = 86_400_000;
const badCertificates = {
  "is not trusted": {
    ca: createSelfSignedCertificate().cert,
    certificate: createSelfSignedCertificate(),
  },
  "belongs to another host": vouchedFor({ hostNames: ["other.test"], addresses: ["127.0.0.2"] }),
  "has expired": vouchedFor({ validTo: new Date(Date.now() - day / 2) }),
  "is not valid yet": vouchedFor({ validFrom: new Date(Date.now() + day) }),
};

function vouchedFor(options: Parameters<typeof createSelfSignedCertificate>[0]): {
  ca: string;
  certificate: ReturnType<typeof createSelfSignedCertificate>;
} {
  const certificate = createSelfSignedCertificate(options);
  return { ca: certificate.cert, certificate };
}

for (const [title, { ca, certificate }] of Object.entries(badCertificates))
  for (const secure of [false, true])
    test(`defers on a certificate that ${title} and sends no plaintext (secure: ${secure})`, async () => {
      const { sink, transport } = await start(
        { ...withTls, secure, certificate },
        { url: { secure }, tls: { ca } },
      );
      const outcome = await transport.send(composeMail(1), saysYes);
      expect(outcome).toEqual({
        kind: "deferred",
        outage: true,
        answer: expect.stringMatching(/^TLS: .*(certificate|IP)/i),
      });
      expect(commandLines(sink)).toEqual(secure ? [] : ["EHLO client.test", "STARTTLS"]);
    });

test("accepts any certificate when the URL says so unless the options override it", async () => {
  const { ca } = badCertificates["is not trusted"];
  const lax = await start(withTls, { url: { rejectUnauthorized: false }, tls: { ca } });
  expect((await lax.transport.send(composeMail(1), saysYes)).kind).toBe("sent");
  const strict = await start(withTls, {
    url: { rejectUnauthorized: false },
    tls: { ca, rejectUnauthorized: true },
  });
  expect((await strict.transport.send(composeMail(1), saysYes)).kind).toBe("deferred");
});

test("defers without revealing the sender when requireTls is set and STARTTLS is missing", async () => {
  const { sink, transport } = await start({}, { url: { requireTls: true, ...login } });
  const outcome = await transport.send(composeMail(1), saysYes);
  expect(outcome).toEqual({
    kind: "deferred",
    answer: expect.stringMatching(/^STARTTLS: .*not offered/),
    outage: true,
  });
  expect(commandLines(sink)).toEqual(["EHLO client.test"]);
});

test.each([
  ["a whole reply", "220 go ahead\r\n250 injected\r\n"],
  ["half a reply", "220 go ahead\r\n250-inj"],
])("closes the connection on %s in plaintext after the STARTTLS reply", async (_title, bytes) => {
  const { transport } = await start({ ...withTls, rules: [{ phase: "STARTTLS", action: { bytes } }] });
  const outcome = await transport.send(composeMail(1), saysYes);
  expect(outcome).toEqual({
    kind: "deferred",
    outage: true,
    answer: "TLS: the server sent plaintext after agreeing to TLS",
  });
});

test("ignores plaintext offers after TLS", async () => {
  const { sink, transport } = await start({
    ...withTls,
    rules: [{ phase: "EHLO", skip: 1, action: { reply: "250-sink\r\n250 HELP" } }],
  });
  expect((await transport.send(composeMail(1), saysYes)).kind).toBe("sent");
  expect(sink.journal[0]?.mailParameters).toBe("");
});

test.each([["PLAIN"], ["LOGIN"], ["LOGIN", "PLAIN"]])("logs in with %s", async (...auth) => {
  const { sink, transport } = await start(
    { ...withLogin, advertise: { startTls: true, auth } },
    { url: { ...login, requireTls: true } },
  );
  expect((await transport.send(composeMail(1), saysYes)).kind).toBe("sent");
  expect(sink.journal[0]).toMatchObject({ user: login.user, isEncrypted: true });
});

test("parses AUTH= of old servers and lower-case mechanisms", async () => {
  const rules = [
    { phase: "EHLO", action: { reply: "250-sink\r\n250-auth=login plain\r\n250 pipelining" } },
  ] as const;
  const { sink, transport } = await start({ ...withLogin, rules }, { url: login });
  expect((await transport.send(composeMail(1), saysYes)).kind).toBe("sent");
  expect(sink.journal[0]?.user).toBe(login.user);
});

test("defers with the server's words when the password is wrong", async () => {
  const { transport } = await start(withLogin, { url: { ...login, password: "another" } });
  expect(await transport.send(composeMail(1), saysYes)).toEqual({
    kind: "deferred",
    outage: true,
    answer: "AUTH: 535 5.7.8 wrong user or password",
  });
});

test("defers when the server requires a login that is not configured", async () => {
  const { transport } = await start(withLogin);
  expect(await transport.send(composeMail(1), saysYes)).toEqual({
    kind: "deferred",
    outage: true,
    answer: "MAIL: our login or encryption does not satisfy the server: 530 5.7.0 log in first",
  });
});

test("defers with the reason when the server has no AUTH or only unknown mechanisms", async () => {
  for (const auth of [[], ["GSSAPI", "XOAUTH2"]]) {
    const { transport } = await start({ advertise: { auth } }, { url: login });
    expect(await transport.send(composeMail(1), saysYes)).toEqual({
      kind: "deferred",
      outage: true,
      answer: expect.stringContaining("neither PLAIN nor LOGIN"),
    });
  }
});

test("masks a password that the server repeats in its reply", async () => {
  const secret = Buffer.from(`\0${login.user}\0${login.password}`).toString("base64");
  const reply = `535 5.7.8 wrong: AUTH PLAIN ${secret} ${login.password} ${Buffer.from(login.password).toString("base64")}`;
  const { transport } = await start(
    { ...withLogin, rules: [{ phase: "AUTH", action: { reply } }] },
    { url: login },
  );
  expect(await transport.send(composeMail(1), saysYes)).toEqual({
    kind: "deferred",
    outage: true,
    answer: "AUTH: 535 5.7.8 wrong: AUTH PLAIN *** *** ***",
  });
});

/** Simulates a server on another machine. */
class DistantConnection extends SmtpConnection {
  override isLoopback(): boolean {
    return false;
  }
}

const connections: SmtpConnection[] = [];
afterEach(() => {
  for (const connection of connections.splice(0)) connection.destroy("test over");
});

test("sends the password in plaintext only to this machine", async () => {
  const { sink } = await start({ ...withLogin, advertise: { auth: ["PLAIN", "LOGIN"] } });
  const server = { host: "127.0.0.1", port: sink.port, secure: false, ...login };
  const settings = {
    server,
    heloName: "client.test",
    rejectUnauthorized: true,
    timeouts: DEFAULT_SMTP_TIMEOUTS,
  };
  const distant = new DistantConnection(server.host, server.port, () => undefined);
  const near = new SmtpConnection(server.host, server.port, () => undefined);
  connections.push(distant, near);
  await expect(openSession(distant, settings)).rejects.toThrow("AUTH: the connection is not encrypted");
  expect(commandLines(sink)).toEqual(["EHLO client.test"]);
  expect((await openSession(near, settings)).connection.isLoopback()).toBe(true);
});
