// Tests the SMTP endpoint with a real client. It accepts returned mail and mail to projects, and nothing else.
import { connect, type Socket } from "node:net";
import { sql } from "kysely";
import { createTransport } from "nodemailer";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { LIMITS } from "@postloft/contract/limits/limits.ts";
import { createDatabase, createPool, type Database } from "./platform/database/database.ts";
import { newId } from "./platform/ids.ts";
import { createDns } from "./platform/dns.ts";
import { createLog } from "./platform/log.ts";
import { createRateLimiter } from "./platform/http/rate-limit.ts";
import { createTestDatabase, type TestDatabase } from "./platform/database/test-database.ts";
import { createNoticeStore } from "./deliveries/notices.ts";
import {
  domainReportBytesTakes,
  domainReportTakes,
  inboundBytesTakes,
  operatorBytesTakes,
  reportBytesTakes,
} from "./deliveries/smtp-rates.ts";
import { createReturnPaths } from "./deliveries/return-path.ts";
import { startSmtp, type SmtpEndpoint, type SmtpDependencies } from "./smtp.ts";
import { bounceMail, personalMail } from "./testing/incoming-mail.ts";
import { reportMail } from "./testing/report-mail.ts";
import { inOneWindow } from "./testing/test-server.ts";

const returnPaths = createReturnPaths("a secret that is long enough");
const mail = { projectId: newId(), emailId: newId() };
const path = `${returnPaths.localPartOf(mail.projectId, mail.emailId)}@bounce.example`;
const forged = `b+${"a".repeat(61)}@bounce.example`;
const project = `${mail.projectId}@in.example`;

/** Refuses connections. */
const NO_LISTENER = { host: "127.0.0.1", port: 9 };

let testDatabase: TestDatabase;
let database: Database;
const open: SmtpEndpoint[] = [];
const sockets: Socket[] = [];
const UNREACHABLE_DNS = "127.0.0.1:9";

const start = async (over: Partial<SmtpDependencies> = {}): Promise<SmtpEndpoint> => {
  const endpoint = await startSmtp({
    notices: createNoticeStore(database),
    rateLimiter: createRateLimiter(database),
    returnPaths,
    bounceDomain: "bounce.example",
    inboundDomain: "in.example",
    operator: null,
    domains: { findReceivers: async () => new Map() },
    dns: createDns([UNREACHABLE_DNS]),
    host: "127.0.0.1",
    port: 0,
    name: "mx.in.example",
    log: createLog({ level: "silent" }),
    ...over,
  });
  open.push(endpoint);
  return endpoint;
};

let endpoint: SmtpEndpoint;
beforeAll(async () => {
  testDatabase = await createTestDatabase();
  database = createDatabase(testDatabase.pool);
});
beforeEach(async () => {
  await sql`delete from notices`.execute(database);
  await sql`delete from rate_windows`.execute(database);
  endpoint = await start();
});
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  await Promise.all(open.splice(0).map((one) => one.stop()));
});
afterAll(async () => testDatabase.drop());

const stored = async () =>
  (
    await sql<{ sender: string; recipient: string; raw: Buffer }>`
      select sender, recipient, raw from notices order by recipient`.execute(database)
  ).rows;

/** Submits a message and returns the last reply or the rejection. */
async function send(raw: Buffer, to: string | string[], { from = "", at = endpoint } = {}): Promise<string> {
  const client = createTransport({
    host: "127.0.0.1",
    port: at.port,
    ignoreTLS: true,
    name: "client.example",
  });
  try {
    const { response } = await client.sendMail({ envelope: { from, to }, raw });
    return response;
  } catch (error) {
    return (error as { response?: string }).response ?? String(error);
  }
}

/** Sends lines one at a time, each after the reply to the previous one. */
async function talk(...said: string[]): Promise<string[]> {
  const socket = connect(endpoint.port, "127.0.0.1").setEncoding("utf8");
  sockets.push(socket);
  socket.on("error", () => undefined);
  const replies: string[] = [];
  for (const line of ["", ...said]) {
    if (line !== "") socket.write(`${line}\r\n`);
    replies.push(await nextReply(socket));
  }
  return replies;
}

async function nextReply(socket: Socket): Promise<string> {
  let text = "";
  while (!/^\d{3} .*\r\n$/m.test(text))
    text += await new Promise<string>((resolve) => {
      const listen = (chunk: string) => done(chunk);
      const end = () => done("000 closed\r\n");
      function done(chunk: string) {
        socket.off("data", listen).off("close", end);
        resolve(chunk);
      }
      socket.on("data", listen).on("close", end);
    });
  return text.trimEnd();
}

test("stores a bounce with its envelope before replying, and a repeated bounce once", async () => {
  const raw = bounceMail({ messageId: "one" });
  expect(await send(raw, path)).toMatch(/^250 .*Stored/);
  expect(await send(Buffer.concat([Buffer.from("Received: from elsewhere\r\n"), raw]), path)).toMatch(/^250/);
  const [notice, ...others] = await stored();
  expect([notice?.sender, notice?.recipient, others]).toEqual(["", path, []]);
  expect(notice?.raw.toString()).toContain("Final-Recipient: rfc822; ada@example.com");
});

test("replies to a forged address like to a real one and drops the message", async () => {
  const replies = [await send(bounceMail(), path), await send(bounceMail(), forged)];
  expect(replies[0]).toBe(replies[1]);
  expect((await stored()).map(({ recipient }) => recipient)).toEqual([path]);
});

test("stores a message for each recipient and does not reveal whether a project exists", async () => {
  const other = `${newId()}@in.example`;
  expect(await send(personalMail(), [project, other], { from: "ada@example.com" })).toMatch(/^250/);
  expect((await stored()).map(({ sender, recipient }) => [sender, recipient])).toEqual(
    [project, other].toSorted().map((recipient) => ["ada@example.com", recipient]),
  );
});

const FOREIGN = [
  "ada@example.com",
  "b+x@example.com",
  "ada@bounce.example",
  "ada@in.example",
  "b+x@in.example",
  `${mail.projectId}@bounce.example`,
  `${mail.projectId}@in.example.evil.example`,
  "fbl@in.example",
  "fbl-aaaaaaaaaaaaaaaa@bounce.example",
  "postmaster@example.com",
];

test("relays no mail for other domains", async () => {
  const recipients = FOREIGN.map((to) => `RCPT TO:<${to}>`);
  const replies = await talk("EHLO client.example", "MAIL FROM:<a@example.com>", ...recipients, "DATA");
  const refused = FOREIGN.map((to, at) => [to, /^5\d\d /.test(replies[3 + at] ?? "")]);
  expect(refused).toEqual(FOREIGN.map((to) => [to, true]));
  expect([replies.at(-1), await stored()]).toEqual([expect.stringMatching(/^503 /), []]);
});

test("announces its size limit and offers neither authentication nor encryption", async () => {
  const [, hello = ""] = await talk("EHLO client.example");
  expect(hello).toContain(`SIZE ${41 * 1024 * 1024}`);
  expect(hello).not.toMatch(/AUTH|STARTTLS/);
  const refused = await talk("EHLO client.example", "AUTH PLAIN AGEAYg==");
  expect(refused[2]).toMatch(/^5\d\d /);
});

test("rejects mail for a domain that is not configured", async () => {
  const quiet = await start({ bounceDomain: null });
  expect(await send(bounceMail(), path, { at: quiet })).toMatch(/^550 5\.7\.1/);
  expect(await send(personalMail(), project, { at: quiet, from: "ada@example.com" })).toMatch(/^250/);
});

test("rejects a message that is too large regardless of its announced SIZE", async () => {
  const large = Buffer.concat([personalMail(), Buffer.alloc(10 * 1024 * 1024, "a line of text\r\n")]);
  expect(await send(large, project, { from: "ada@example.com" })).toMatch(/^552 /);
  expect(await stored()).toEqual([]);
});

test("rejects MAIL FROM with a SIZE above the limit before DATA", async () => {
  const size = 11 * 1024 * 1024;
  const opening = ["EHLO client.example", `MAIL FROM:<a@example.com> SIZE=${size}`];
  const [toProject, toPath] = [`RCPT TO:<${project}>`, `RCPT TO:<${path}>`];
  const reported = (await talk(...opening, toProject, toPath, toProject)).slice(3);
  expect(reported.map((reply) => reply.slice(0, 3))).toEqual(["552", "250", "250"]);
});

test("accepts a bounce that contains the largest email and keeps only its beginning", async () => {
  const returned = Buffer.alloc(LIMITS.messageBytes.value, "a line of text\r\n");
  expect(await send(Buffer.concat([bounceMail(), returned]), path)).toMatch(/^250/);
  expect((await stored()).map(({ raw }) => raw.length)).toEqual([512 * 1024]);
  const [, , larger] = await talk("EHLO client.example", `MAIL FROM:<> SIZE=${42 * 1024 * 1024}`);
  expect(larger).toMatch(/^552 /);
});

test("keeps a long message to a project whole, and the beginning of its copy for others", async () => {
  const long = Buffer.concat([personalMail(), Buffer.alloc(2 * 1024 * 1024, "a line of text\r\n")]);
  const to = [project, "abuse@in.example"];
  expect(await send(long, to, { from: "ada@example.com" })).toMatch(/^250/);
  expect((await stored()).map(({ recipient, raw }) => [recipient, raw.length])).toEqual([
    [project, long.length],
    ["abuse@in.example", 512 * 1024],
  ]);
});

test("defers a long message while others use the memory for messages, and frees it after each", async () => {
  const long = Buffer.concat([personalMail(), Buffer.alloc(2 * 1024 * 1024, "a line of text\r\n")]);
  const small = await start({ memoryBytes: 1024 * 1024 });
  const from = "ada@example.com";
  expect(await send(long, project, { at: small, from })).toMatch(/^450 4\.3\.1/);
  expect(await send(personalMail(), project, { at: small, from })).toMatch(/^250/);
  const enough = await start({ memoryBytes: 2 * 1024 * 1024 });
  for (let times = 0; times < 3; times++)
    expect(await send(Buffer.concat([personalMail(), long]), project, { at: enough, from })).toMatch(/^250/);
  expect(await stored()).toHaveLength(4);
});

test("accepts up to ten recipients per message", async () => {
  const many = Array.from({ length: 11 }, () => `RCPT TO:<${newId()}@in.example>`);
  const replies = await talk("EHLO client.example", "MAIL FROM:<a@example.com>", ...many);
  expect(replies.slice(3, 13).every((reply) => reply.startsWith("250"))).toBe(true);
  expect(replies[13]).toMatch(/^452 4\.5\.3/);
});

test("accepts ten connections per address and another one after one of them ends", async () => {
  const greetings = await Promise.all(Array.from({ length: 10 }, () => talk()));
  expect(greetings.flat().every((reply) => reply.startsWith("220"))).toBe(true);
  expect((await talk())[0]).toMatch(/^421 /);
  sockets[0]?.destroy();
  await expect.poll(async () => (await talk())[0]?.slice(0, 3)).toBe("220");
});

const SLOTS = { most: 3, mostOfNetwork: 10 };

test("closes the connection that was idle longest when all slots are taken", async () => {
  endpoint = await start({ slotLimits: { ...SLOTS, quietMs: 0 } });
  for (let count = 0; count < 3; count++) expect((await talk())[0]).toMatch(/^220 /);
  const [first, second] = sockets;
  if (first === undefined || second === undefined) throw new Error("no sockets");
  first.write("NOOP\r\n");
  expect(await nextReply(first)).toMatch(/^250 /);
  const reported = nextReply(second);
  expect((await talk())[0]).toMatch(/^220 /);
  expect(await reported).toMatch(/^421 4\.4\.2 Idle for too long/);
  first.write("NOOP\r\n");
  expect(await nextReply(first)).toMatch(/^250 /);
});

test("keeps a connection that is waiting for the reply to a message", async () => {
  const store = Promise.withResolvers<"stored">();
  const notices = { store: () => store.promise, hasRoom: async () => true };
  endpoint = await start({ notices, slotLimits: { ...SLOTS, most: 1, quietMs: 0 } });
  const opening = ["EHLO client.example", "MAIL FROM:<a@example.com>", `RCPT TO:<${project}>`, "DATA"];
  expect((await talk(...opening)).at(-1)).toMatch(/^354 /);
  const [sender] = sockets;
  if (sender === undefined) throw new Error("no socket");
  sender.write("Subject: x\r\n\r\nx\r\n.\r\n");
  const answer = nextReply(sender);
  expect((await talk())[0]).toMatch(/^421 4\.3\.2/);
  store.resolve("stored");
  expect(await answer).toMatch(/^250 2\.0\.0 Stored/);
  expect((await talk())[0]).toMatch(/^220 /);
});

test("keeps connections that were active just now, so a new one waits for a free slot", async () => {
  endpoint = await start({ slotLimits: { ...SLOTS, quietMs: 60_000 } });
  for (let count = 0; count < 3; count++) expect((await talk())[0]).toMatch(/^220 /);
  expect((await talk())[0]).toMatch(/^421 4\.3\.2/);
  sockets[0]?.destroy();
  await expect.poll(async () => (await talk())[0]?.slice(0, 3)).toBe("220");
});

test("rejects input that is not SMTP and stays open", async () => {
  for (const bytes of [
    "GET / HTTP/1.1",
    "\u0000\u0001\u0002",
    `EHLO ${"a".repeat(100_000)}`,
    "DATA",
    "BDAT 10",
  ]) {
    const replies = await talk(bytes);
    expect(replies[1]).toMatch(/^(000|4\d\d|5\d\d|250)/);
  }
  expect(await send(bounceMail(), path)).toMatch(/^250/);
});

test("replies 451 while the database is away, so that the server tries again", async () => {
  const away = createPool({
    connection: NO_LISTENER,
    maxConnections: 1,
    log: createLog({ level: "silent" }),
  });
  const at = await start({
    notices: createNoticeStore(createDatabase(away)),
    rateLimiter: createRateLimiter(createDatabase(away)),
  });
  expect(await send(bounceMail(), path, { at })).toMatch(/^451 4\.3\.0/);
  expect(await send(personalMail(), project, { at, from: "ada@example.com" })).toMatch(/^451 4\.3\.0/);
});

test("accepts mail to the admin addresses of each domain, and complaints at the secret address", async () => {
  const addresses = ["postmaster", "Postmaster@in.example", "abuse@in.example"];
  addresses.push("abuse@bounce.example", "postmaster@bounce.example");
  addresses.push("fbl@bounce.example", `${returnPaths.feedbackName}@bounce.example`);
  for (const to of addresses)
    expect(await send(personalMail(), to, { from: "a@example.com" })).toMatch(/^250/);
  expect((await stored()).map(({ recipient }) => recipient)).toEqual(
    addresses.map((to) => to.toLowerCase()).toSorted(),
  );
});

/** Returns the replies to RCPT TO for several messages without sending any. */
async function ask(from: string, to: string, times: number): Promise<Map<string, number>> {
  const commands = Array.from({ length: times }, () => ["RSET", `MAIL FROM:<${from}>`, `RCPT TO:<${to}>`]);
  const replies = await talk("EHLO client.example", ...commands.flat());
  const reported = replies.slice(2).filter((_, at) => at % 3 === 2);
  return new Map(
    [...Map.groupBy(reported, (reply) => reply.slice(0, 9))].map(([text, all]) => [text, all.length]),
  );
}

test("limits messages from one sender to a project or admin address, without affecting others", async () => {
  const other = `${newId()}@in.example`;
  expect(await ask("eve@example.com", project, 32)).toEqual(
    new Map([
      ["250 Accep", 30],
      ["450 4.7.1", 2],
    ]),
  );
  expect([...(await ask("Eve@Example.com", project, 1)).keys()]).toEqual(["450 4.7.1"]);
  expect([...(await ask("eve@example.com", other, 1)).keys()]).toEqual(["250 Accep"]);
  expect([...(await ask("ada@example.com", project, 1)).keys()]).toEqual(["250 Accep"]);
  await ask("a@example.com", "abuse@in.example", 30);
  expect(await ask("b@example.com", "abuse@in.example", 30)).toEqual(
    new Map([
      ["250 Accep", 20],
      ["450 4.7.1", 10],
    ]),
  );
});

const sendReport = () =>
  send(reportMail("<feedback/>", "gzip"), "dmarc@in.example", { from: "a@third.example" });

test("limits reports about domains by sender domain, by network and by bytes", async () => {
  await inOneWindow({ rows }, 600, async () => {
    await rows("delete from rate_windows");
    await ask("a@example.com", "abuse@in.example", 60);
    expect([...(await ask("a@reporter.example", "dmarc@in.example", 1)).keys()]).toEqual(["250 Accep"]);
    const takes = domainReportTakes("a@reporter.example", "127.0.0.1");
    await setTaken(takes.slice(0, 1), LIMITS.domainReportMessages.value);
    for (const to of ["dmarc@in.example", "TLSRPT@in.example"])
      expect([...(await ask("b@Reporter.example", to, 1)).keys()]).toEqual(["450 4.7.1"]);
    expect([...(await ask("a@other.example", "dmarc@in.example", 1)).keys()]).toEqual(["250 Accep"]);
    await setTaken(takes.slice(1), LIMITS.domainReportNetworkMessages.value);
    expect([...(await ask("a@third.example", "tlsrpt@in.example", 1)).keys()]).toEqual(["450 4.7.1"]);
    await setTaken(takes.slice(1), 0);
    expect(await sendReport()).toMatch(/^250/);
    await setTaken(domainReportBytesTakes("127.0.0.1", 1), LIMITS.domainReportKilobytes.value);
    expect(await sendReport()).toMatch(/^450 4\.7\.1/);
    expect([...(await ask("", pathOf(), 1)).keys()]).toEqual(["250 Accep"]);
  });
});

const pathOf = () => `${returnPaths.localPartOf(mail.projectId, newId())}@bounce.example`;

const rows = async <Row>(statement: string, ...values: unknown[]) =>
  (await testDatabase.pool.query(statement, values)).rows as Row[];

test("limits returned messages per email and per network", async () => {
  await inOneWindow({ rows }, 600, async () => {
    await rows("delete from rate_windows");
    expect(await ask("", path, 25)).toEqual(
      new Map([
        ["250 Accep", LIMITS.returnPathMessages.value],
        ["450 4.7.1", 25 - LIMITS.returnPathMessages.value],
      ]),
    );
    expect([...(await ask("", pathOf(), 1)).keys()]).toEqual(["250 Accep"]);
    await rows("update rate_windows set taken = $1 where taken = 26", LIMITS.reportMessages.value - 1);
    expect(await ask("", pathOf(), 2)).toEqual(
      new Map([
        ["250 Accep", 1],
        ["450 4.7.1", 1],
      ]),
    );
    expect([...(await ask("", "fbl@bounce.example", 1)).keys()]).toEqual(["450 4.7.1"]);
    expect([...(await ask("ada@example.com", project, 1)).keys()]).toEqual(["250 Accep"]);
  });
});

const returned = Buffer.alloc(300 * 1024, "a line of text\r\n");
const largeBounce = () => Buffer.concat([bounceMail(), returned]);
const writeToOperator = async () =>
  (await send(Buffer.concat([personalMail(), returned]), "abuse@bounce.example")).slice(0, 9);
/** Sets the counter as if this much had been taken. */
const setTaken = async ([take]: ReadonlyArray<{ bucket: string }>, taken: number) =>
  expect(
    await rows("update rate_windows set taken = $2 where bucket = $1 returning 1", take?.bucket, taken),
  ).toHaveLength(1);

test("limits the bytes of reports per network, without affecting messages from people", async () => {
  await inOneWindow({ rows }, 600, async () => {
    await rows("delete from rate_windows");
    expect(await send(largeBounce(), pathOf())).toMatch(/^250/);
    await setTaken(reportBytesTakes("127.0.0.1", 1), LIMITS.reportKilobytes.value - 400);
    expect(await send(largeBounce(), pathOf())).toMatch(/^250/);
    expect(await send(largeBounce(), pathOf())).toMatch(/^450 4\.7\.1/);
    expect(await send(personalMail(), project, { from: "ada@example.com" })).toMatch(/^250/);
  });
});

test("limits the bytes per day sent to admin addresses, per network and in total", async () => {
  const [ofNetwork, ofAll] = operatorBytesTakes("127.0.0.1", 1).map((take) => [take]);
  if (ofNetwork === undefined || ofAll === undefined) throw new Error("no takes");
  await inOneWindow({ rows }, 86_400, async () => {
    await rows("delete from rate_windows");
    expect(await writeToOperator()).toMatch(/^250/);
    await setTaken(ofNetwork, LIMITS.operatorNetworkKilobytes.value - 400);
    expect(await writeToOperator()).toMatch(/^250/);
    expect(await writeToOperator()).toBe("450 4.7.1");
    await setTaken(ofNetwork, 0);
    await setTaken(ofAll, LIMITS.operatorKilobytes.value - 400);
    expect(await writeToOperator()).toMatch(/^250/);
    expect(await writeToOperator()).toBe("450 4.7.1");
    expect(await send(personalMail(), project, { from: "ada@example.com" })).toMatch(/^250/);
  });
});

test("limits the bytes per day written to a project, by sender, network and in total", async () => {
  const from = "ada@example.com";
  const write = async () => (await send(personalMail(), project, { from })).slice(0, 9);
  const of = { sender: from, remoteAddress: "127.0.0.1" };
  const [ofSender, ofNetwork, ofAll] = inboundBytesTakes(project, of, 1).map((take) => [take]);
  if (ofSender === undefined || ofNetwork === undefined || ofAll === undefined) throw new Error("no takes");
  await inOneWindow({ rows }, 86_400, async () => {
    await rows("delete from rate_windows");
    expect(await write()).toMatch(/^250/);
    await setTaken(ofSender, LIMITS.inboundSenderKilobytes.value - 1);
    expect([await write(), await write()]).toEqual([expect.stringMatching(/^250/), "450 4.7.1"]);
    await setTaken(ofSender, 0);
    await setTaken(ofNetwork, LIMITS.inboundNetworkKilobytes.value - 1);
    expect([await write(), await write()]).toEqual([expect.stringMatching(/^250/), "450 4.7.1"]);
    await setTaken(ofNetwork, 0);
    await setTaken(ofAll, LIMITS.inboundKilobytes.value - 1);
    expect([await write(), await write()]).toEqual([expect.stringMatching(/^250/), "450 4.7.1"]);
    expect(await send(personalMail(), `${newId()}@in.example`, { from })).toMatch(/^250/);
  });
});

test("while too much waits to be read, more is told to come back later, and is taken once there is room", async () => {
  const small = () => start({ notices: createNoticeStore(database, 500) });
  const first = await small();
  expect(await send(bounceMail(), pathOf(), { at: first })).toMatch(/^250/);
  expect(await send(bounceMail(), pathOf(), { at: first })).toMatch(/^450 4\.3\.1/);
  const second = await small();
  for (const to of [pathOf(), "fbl@bounce.example", project, "abuse@in.example"])
    expect(await send(bounceMail(), to, { at: second, from: "ada@example.com" })).toMatch(/^450 4\.3\.1/);
  await sql`update notices set done_at = now(), raw = null`.execute(database);
  expect(await send(bounceMail(), pathOf(), { at: await small() })).toMatch(/^250/);
});

/** Sends raw bytes and returns every reply until the connection ends. */
async function talkRaw(...parts: ReadonlyArray<string>): Promise<string> {
  const socket = connect(endpoint.port, "127.0.0.1").setEncoding("utf8");
  sockets.push(socket);
  socket.on("error", () => undefined);
  let said = "";
  for (const part of parts) {
    said += `${await nextReply(socket)}\n`;
    socket.write(part);
  }
  socket.on("data", (chunk: string) => (said += chunk));
  await new Promise((resolve) => socket.on("close", resolve));
  return said;
}

const GREETED = ["EHLO client.example\r\n", "MAIL FROM:<a@example.com>\r\n"];

test.for([
  ["in a command", ["EHLO client.example\nMAIL FROM:<a@example.com>\r\n"]],
  ["at the beginning", ["\nEHLO client.example\r\n"]],
  [
    "among pipelined commands",
    [GREETED[0] ?? "", "MAIL FROM:<a@example.com>\r\nRCPT TO:<x@in.example>\nQUIT\r\n"],
  ],
  [
    "after a message that another server would read as commands",
    [
      ...GREETED,
      `RCPT TO:<${project}>\r\n`,
      "DATA\r\n",
      "Subject: x\r\n\r\nx\r\n.\r\nMAIL FROM:<b@example.com>\n",
    ],
  ],
] as const)("closes the connection at a bare line feed %s", async ([, parts]) => {
  expect(await talkRaw(...parts)).toMatch(/500 5\.5\.2 Lines must end in CR LF[^]*$/);
});

test("ends a message only at CR LF . CR LF, so that nothing inside it becomes a command", async () => {
  const hidden = ["\n.\n", "\n.\r\n", "\r\n.\n", "\r.\r"]
    .map((end) => `${end}MAIL FROM:<b@example.com>\r\n`)
    .join("");
  const text = `Subject: x\r\n\r\n${hidden}\r\n.\r\nQUIT\r\n`;
  const said = await talkRaw(...GREETED, `RCPT TO:<${project}>\r\n`, "DATA\r\n", text);
  expect(said.match(/^\d{3} /gm)).toEqual(["220 ", "250 ", "250 ", "250 ", "354 ", "250 ", "221 "]);
  expect((await stored()).map(({ raw }) => raw.toString().match(/MAIL FROM/g)?.length)).toEqual([4]);
});

/** Sends a text over and over without ever ending it. */
function trickle(socket: Socket, text: string): void {
  const timer = setInterval(() => socket.write(text), 5);
  socket.on("close", () => clearInterval(timer));
}

test.for([
  ["a session", { messageMs: 60_000, sessionMs: 150 }, [], "NOOP\r\n"],
  [
    "a message",
    { messageMs: 150, sessionMs: 60_000 },
    [...GREETED, `RCPT TO:<${project}>\r\n`, "DATA\r\n"],
    "a line\r\n",
  ],
] as const)(
  "limits the time of %s regardless of how much the client sends",
  async ([, connectionLimits, parts, more]) => {
    endpoint = await start({ connectionLimits });
    const socket = connect(endpoint.port, "127.0.0.1").setEncoding("utf8");
    sockets.push(socket);
    socket.on("error", () => undefined);
    for (const part of parts) {
      await nextReply(socket);
      socket.write(part);
    }
    await nextReply(socket);
    let said = "";
    socket.on("data", (chunk: string) => (said += chunk));
    trickle(socket, more);
    await new Promise((resolve) => socket.on("close", resolve));
    expect(said).toMatch(/421 4\.4\.2 Timeout/);
    expect(await stored()).toEqual([]);
  },
);
