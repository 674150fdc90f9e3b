// Tests that each violation of the protocol or the message format gets one clear reply and stores nothing.
import { afterEach, beforeAll, expect, test } from "vitest";
import {
  connectRaw,
  connectSignedIn,
  FROM,
  startSubmitting,
  type RawClient,
  type Submitting,
} from "../testing/submission.ts";
import { useTestServer } from "../testing/test-server.ts";

const server = useTestServer({ ROLES: "api" });
const open: RawClient[] = [];
const HEADER = `From: ${FROM}\r\nTo: ada@example.com\r\nSubject: s\r\n`;

let at: Submitting;
beforeAll(async () => {
  at = await startSubmitting(server);
});
afterEach(() => {
  for (const client of open.splice(0)) client.close();
});

async function signIn(): Promise<RawClient> {
  const client = await connectSignedIn(at.port, server.project);
  open.push(client);
  return client;
}

/** Sends a message with everything before its final dot as given. */
async function sendBytes(
  bytes: string | Buffer,
  parameters = "",
): Promise<{ reply: string; client: RawClient }> {
  const client = await signIn();
  await client.say(`MAIL FROM:<a@b.example>${parameters}`);
  await client.say("RCPT TO:<ada@example.com>");
  expect(await client.say("DATA")).toMatch(/^354 /);
  const reply = await client.write(Buffer.concat([Buffer.from(bytes), Buffer.from("\r\n.\r\n")]));
  return { reply, client };
}

const countStored = async () => {
  const [row] = await server.rows<{ count: number }>(
    `select (select count(*) from emails)::int + (select count(*) from email_contents)::int
      + (select count(*) from idempotency_keys)::int + (select count(*) from contacts)::int as count`,
  );
  return row?.count;
};

const BARE = /^550 5\.6\.0 Lines must end in CR LF/;
const UTF8 = Buffer.from("Grüße").toString("latin1");

test.each([
  ["a bare LF in the body", `${HEADER}\r\na\nb`, BARE],
  ["a bare CR in the body", `${HEADER}\r\na\rb`, BARE],
  ["a bare LF in the header", `${HEADER}X-A: 1\nBcc: x\r\n\r\na`, BARE],
  ["<LF>.<LF>", `${HEADER}\r\na\n.\nMAIL FROM:<evil@b.example>\r\n`, BARE],
  ["<LF>.<CR><LF>", `${HEADER}\r\na\n.\r\nMAIL FROM:<evil@b.example>\r\n`, BARE],
  ["<CR>.<CR><LF>", `${HEADER}\r\na\r.\r\nMAIL FROM:<evil@b.example>\r\n`, BARE],
  ["<CR><LF>.<CR>", `${HEADER}\r\na\r\n.\rb`, BARE],
  ["<CR><LF>.<LF>", `${HEADER}\r\na\r\n.\nb`, BARE],
  ["a NUL byte", `${HEADER}\r\na\0b`, /^550 5\.6\.0 The message has a NUL byte/],
  [
    "two From headers",
    `${HEADER}From: x@sandbox.localhost\r\n\r\na`,
    /^550 5\.6\.0 The header From is repeated/,
  ],
  ["two addresses in From", "From: a@sandbox.localhost, b@sandbox.localhost\r\n\r\na", /exactly one address/],
  ["a group in From", "From: us:a@sandbox.localhost;\r\n\r\na", /^550 5\.6\.0 The header From is not valid/],
  ["two angle addresses in From", "From: <a@x.example> <b@sandbox.localhost>\r\n\r\na", /From is not valid/],
  ["no From", "To: ada@example.com\r\n\r\na", /^550 5\.6\.0 The message has no From header/],
  ["no header", "\r\nHello", /^550 5\.6\.0 The header has a line that is not a field/],
  ["a header line without a colon", `${HEADER}Hello you\r\n\r\na`, /is not a field: Hello you$/],
  ["two Subjects", `${HEADER}subject: t\r\n\r\na`, /^550 5\.6\.0 The header subject is repeated/],
  [
    "a long header line",
    `${HEADER}X-Long: ${"x".repeat(991)}\r\n\r\na`,
    /The header X-Long has a line with more than 998/,
  ],
  [
    "an endless header",
    `${HEADER}${`X-A: ${"x".repeat(900)}\r\n`.repeat(200)}\r\na`,
    /The header has more than 131072/,
  ],
  [
    "a header outside ASCII",
    Buffer.from(`${HEADER}X-A: ${UTF8}\r\n\r\na`, "latin1"),
    /^550 5\.6\.7 The header X-A has/,
  ],
])("rejects %s with one reply and stores nothing", async (_, bytes, expected) => {
  const before = await countStored();
  const { reply, client } = await sendBytes(bytes);
  expect(reply).toMatch(expected);
  // The next command gets its own reply, so nothing of the message was read as a command.
  expect(await client.say("NOOP")).toBe("250 OK");
  expect(client.rest()).toBe("");
  expect(await countStored()).toBe(before);
});

test("rejects a header that is not valid UTF-8 although SMTPUTF8 was declared", async () => {
  const { reply } = await sendBytes(Buffer.from(`${HEADER}X-A: \xe4\r\n\r\na`, "latin1"), " SMTPUTF8");
  expect(reply).toBe("550 5.6.0 The header X-A is not valid UTF-8");
});

test.each([
  ["a header line with 998 bytes", `${HEADER}X-Long: ${"x".repeat(990)}\r\n\r\na`, ""],
  ["a body outside ASCII without BODY=8BITMIME", Buffer.from(`${HEADER}\r\n${UTF8}`, "latin1"), ""],
  ["a header in UTF-8 with SMTPUTF8", Buffer.from(`${HEADER}X-A: ${UTF8}\r\n\r\na`, "latin1"), " SMTPUTF8"],
  ["an @ in an unquoted name", `From: ${FROM} <${FROM}>\r\n\r\na`, ""],
  ["a message without a body", HEADER, ""],
])("accepts %s", async (_, bytes, parameters) => {
  expect((await sendBytes(bytes, parameters)).reply).toMatch(/^250 2\.0\.0 Accepted/);
});

test("rejects MAIL FROM with a SIZE above the limit before DATA", async () => {
  const client = await signIn();
  expect(await client.say("MAIL FROM:<a@b.example> SIZE=99999999")).toMatch(
    /^552 .*maximum message size 41877504/,
  );
  expect(await client.say("DATA")).toMatch(/^503 /);
});

test("rejects a message that is larger than declared at its end", async () => {
  const small = await startSubmitting(server);
  const client = await connectSignedIn(small.port, server.project);
  open.push(client);
  await client.say("MAIL FROM:<a@b.example> SIZE=10");
  await client.say("RCPT TO:<ada@example.com>");
  await client.say("DATA");
  const line = `${"x".repeat(998)}\r\n`;
  const before = await countStored();
  expect(await client.write(`${HEADER}\r\n${line.repeat(42_000)}.\r\n`)).toBe(
    "552 5.3.4 The message is larger than 41877504 bytes",
  );
  expect(await client.say("NOOP")).toBe("250 OK");
  expect(await countStored()).toBe(before);
});

test("accepts a hundred recipients, and defers each of the others", async () => {
  const client = await signIn();
  await client.say("MAIL FROM:<a@b.example>");
  const replies: string[] = [];
  for (let n = 0; n < 5_000; n += 1) replies.push(await client.say(`RCPT TO:<p${n}@example.com>`));
  expect(replies.slice(0, 100).every((reply) => reply === "250 Accepted")).toBe(true);
  expect(new Set(replies.slice(100))).toEqual(
    new Set(["452 4.5.3 A message may have 100 recipients. Send it to the others in a separate message"]),
  );
  await client.say("DATA");
  expect(await client.write(`${HEADER}\r\na\r\n.\r\n`)).toMatch(/^250 2\.0\.0 Accepted as 100 emails/);
});

test.each(["nobody", "a..b@example.com", "a@localhost", "a@[127.0.0.1]", '"a b"@example.com'])(
  "rejects the recipient %s",
  async (address) => {
    const client = await signIn();
    await client.say("MAIL FROM:<>");
    expect(await client.say(`RCPT TO:<${address}>`)).toMatch(/^(553 5\.1\.3|501) /);
    expect(await client.say("DATA")).toMatch(/^503 /);
  },
);

test("ends the connection at a bare LF among commands", async () => {
  const client = await signIn();
  expect(await client.write("NOOP\nNOOP\r\n")).toMatch(/^500 5\.5\.2 Lines must end in CR LF/);
});

test.each(["MAIL FROM:<a@b.example>", "RCPT TO:<a@b.example>", "DATA"])(
  "requires a sign-in before %s",
  async (command) => {
    const client = await connectRaw(at.port);
    open.push(client);
    expect(await client.say(command)).toMatch(/^530 5\.7\.0 Sign in first/);
  },
);
