// Tests the forms of the setting MAIL_TRANSPORT, and that faulty ones are rejected without revealing secrets.
import { afterEach, expect, test } from "vitest";
import { ConfigError } from "../platform/settings/config.ts";
import { createDatabase, createPool } from "../platform/database/database.ts";
import { createLog } from "../platform/log.ts";
import { SES_KEY, SES_REGION, startSesFake } from "../testing/ses-fake.ts";
import { composeMail, saysYes } from "../testing/smtp-fixture.ts";
import { startSmtpSink } from "../testing/smtp-sink.ts";
import { createTransport, type TransportDependencies } from "./create-transport.ts";

const cleanups: Array<() => Promise<void>> = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).toReversed()) await cleanup();
});

const log = createLog({ level: "silent" });
const dependencies: TransportDependencies = {
  // Nothing here uses the database.
  database: createDatabase(createPool({ connection: {}, maxConnections: 1, log })),
  log,
  heloName: "client.test",
};
const key = {
  SES_ACCESS_KEY_ID: SES_KEY.accessKeyId,
  SES_SECRET_ACCESS_KEY: SES_KEY.secretAccessKey,
};

async function create(setting: string) {
  const made = await createTransport({ MAIL_TRANSPORT: setting, ...key }, dependencies);
  cleanups.push(() => made.transport.close());
  return made;
}

test.each([
  ["mailbox", "mailbox", 20],
  ["smtp://localhost", "smtp", 20],
  ["smtps://bob:secret@mail.example.com?connections=20", "smtp", 20],
  ["smtp://localhost?weight=3", "smtp", 20],
  ["ses://eu-west-1", "ses", 20],
  ["ses://eu-west-1?connections=3", "ses", 3],
  ["ses://eu-west-1, smtp://localhost?connections=20", "ses,smtp", 20],
  ["smtp://a.example,smtp://b.example", "smtp", 20],
  ["ses://eu-west-1?weight=3,smtp://a.example?connections=5&weight=1,smtp://b.example", "ses,smtp", 25],
] as const)("parses %s as the transport %s with %s connections", async (setting, name, connections) => {
  const made = await create(setting);
  expect(made.transport.name).toBe(name);
  expect(made.connections).toBe(connections);
});

test.each([
  ["", /^MAIL_TRANSPORT: must be `mailbox` or begin with/],
  ["s3cret", /^MAIL_TRANSPORT: must be/],
  ["http://bob:s3cret@host", /^MAIL_TRANSPORT: must be/],
  ["smtp://bob:s3cr%et@host", /^MAIL_TRANSPORT: The SMTP URL cannot be used: .*%25/],
  ["smtp://bob:s3,cret@host", /^MAIL_TRANSPORT, entry 1 of 2: The SMTP URL cannot be used/],
  ["smtp://a.example,smtp://bob:s3cret@host/x", /^MAIL_TRANSPORT, entry 2 of 2: The SMTP URL/],
  ["smtp://a.example,smtp://b.example,", /^MAIL_TRANSPORT, entry 3 of 3: must be/],
  [
    "smtp://a.example,,smtp://b.example",
    /^MAIL_TRANSPORT, entry 2 of 3: must be .* a comma in a password as %2C/,
  ],
  ["smtp://bob:s3cret@host,mailbox", /`mailbox` keeps all email on this machine/],
  ["mailbox,mailbox", /`mailbox` keeps all email on this machine/],
  ["ses://s3cret", /^MAIL_TRANSPORT: The SES URL cannot be used/],
  ["smtp://host?weight=0", /option weight must be a whole number from 1 to 1000/],
  ["smtp://host?weight=1001", /option weight must be/],
  ["smtp://host?weight=", /option weight must be/],
  ["smtp://host?weight=1.5", /option weight must be/],
  ["smtp://host?weight=1&connections=2&weight=1", /option weight is set twice/],
  ["smtp://bob:s3cret@host?weights=1", /unknown option/],
])("rejects %j with a reason that omits the password", async (setting, reason) => {
  const creating = createTransport({ MAIL_TRANSPORT: setting, ...key }, dependencies);
  await expect(creating).rejects.toBeInstanceOf(ConfigError);
  await expect(creating).rejects.toThrow(reason);
  await expect(creating).rejects.not.toThrow(/s3,?cr/);
});

test.each([{ SES_ACCESS_KEY_ID: undefined }, { SES_SECRET_ACCESS_KEY: undefined }])(
  "rejects ses:// without its access key: %o",
  async (missing) => {
    await expect(
      createTransport({ MAIL_TRANSPORT: "ses://eu-west-1", ...key, ...missing }, dependencies),
    ).rejects.toThrow("SES_ACCESS_KEY_ID and SES_SECRET_ACCESS_KEY");
  },
);

/** No server listens on this port (tcpmux, RFC 1078), and the system never assigns it as a free port to tests. */
const DEAD_PORT = 1;

test.each(["SES", "another SMTP server"])("sends email past a dead server to %s", async (taker) => {
  const fake = await startSesFake();
  const sink = await startSmtpSink();
  cleanups.push(fake.close, sink.close);
  const endpoint = taker === "SES" ? fake.endpoint : `http://127.0.0.1:${DEAD_PORT}`;
  const { transport } = await create(
    `smtp://127.0.0.1:${DEAD_PORT},ses://${SES_REGION}?endpoint=${endpoint},smtp://127.0.0.1:${sink.port}`,
  );
  expect((await transport.send(composeMail(1), saysYes)).kind).toBe("sent");
  expect([fake.messages.length, sink.journal.length]).toEqual(taker === "SES" ? [1, 0] : [0, 1]);
});
