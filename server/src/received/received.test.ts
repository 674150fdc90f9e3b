// Receives emails through the SMTP server with a real client and reads them over HTTP: whole, once, and without running anything.
import { randomBytes } from "node:crypto";
import { createTransport, type SendMailOptions } from "nodemailer";
import { expect, test } from "vitest";
import { localPartOf } from "@postloft/contract/address.ts";
import * as contacts from "@postloft/contract/contacts.ts";
import * as events from "@postloft/contract/events.ts";
import * as received from "@postloft/contract/received-emails.ts";
import { LIMITS } from "@postloft/contract/limits/limits.ts";
import { freePort } from "../testing/free-port.ts";
import { addReceivedEmails } from "../testing/received-email.ts";
import { personalMail } from "../testing/incoming-mail.ts";
import { errorOf, useTestServer, type TestProject } from "../testing/test-server.ts";

const port = await freePort();
const server = useTestServer({
  ROLES: "api,worker,smtp",
  INBOUND_DOMAIN: "in.example",
  SMTP_PORT: String(port),
});
const WAIT = { timeout: 30_000 };

async function inboundAddressOf({ id, owner }: TestProject): Promise<string> {
  const { body } = await server.call<Array<{ id: string; inboundAddress: string }>>(
    "GET",
    "/users/@me/projects",
    { cookie: owner.cookie },
  );
  return body.find((one) => one.id === id)?.inboundAddress ?? "";
}

/** Submits a message to the project. Returns the last reply or the rejection. */
async function write(project: TestProject, message: SendMailOptions): Promise<string> {
  const client = createTransport({ host: "127.0.0.1", port, ignoreTLS: true, name: "client.example" });
  const to = await inboundAddressOf(project);
  const envelope = { from: "ada@example.com", to };
  try {
    return (await client.sendMail({ from: "Ada L. <ada@example.com>", to, envelope, ...message })).response;
  } catch (error) {
    return (error as { response?: string }).response ?? String(error);
  }
}

const list = async ({ byKey }: TestProject, query = {}) =>
  (await server.call(received.listReceived, byKey, { query })).body;
const get = async ({ byKey }: TestProject, id: string) =>
  (await server.call(received.getReceived, byKey, { params: { id } })).body;

/** Waits for as many emails and returns the newest one. */
async function arrived(project: TestProject, count = 1) {
  await expect.poll(async () => (await list(project)).data.length, WAIT).toBe(count);
  return get(project, (await list(project)).data[0]?.id ?? "");
}

async function download({ byKey }: TestProject, id: string, index: number) {
  const url = `${server.url}/received-emails/${id}/attachments/${index}`;
  const response = await fetch(url, { headers: { authorization: `Bearer ${byKey.key}` } });
  return { response, bytes: Buffer.from(await response.arrayBuffer()) };
}

test("stores a nested message with its parts, attachments and bytes, and names it in the event", async () => {
  const project = await server.createProject();
  const file = randomBytes(1024 * 1024);
  const reply = await write(project, {
    subject: "Größe 5",
    cc: "Bob <bob@example.com>, carol@example.com",
    replyTo: "Desk <desk@example.com>",
    text: "Where is it?",
    html: '<p>Where is it? <img src="cid:logo"></p>',
    headers: { "X-Shop": "7" },
    attachments: [
      { filename: "logo.png", cid: "logo", content: Buffer.from("png") },
      { filename: "file.bin", content: file },
      { filename: "other.eml", contentType: "message/rfc822", content: personalMail({ subject: "Inner" }) },
    ],
  });
  expect(reply).toMatch(/^250/);
  const email = await arrived(project);
  expect(received.getReceived.responses[200].parse(email)).toEqual(email);
  expect(email).toMatchObject({
    from: { address: "ada@example.com", name: "Ada L." },
    recipient: await inboundAddressOf(project),
    subject: "Größe 5",
    cc: [
      { address: "bob@example.com", name: "Bob" },
      { address: "carol@example.com", name: null },
    ],
    replyTo: [{ address: "desk@example.com", name: "Desk" }],
    text: "Where is it?",
    html: '<p>Where is it? <img src="cid:logo"></p>',
    threadId: email.id,
    emailId: null,
    references: [],
  });
  expect(email.headers).toContainEqual({ name: "X-Shop", value: "7" });
  expect(email.attachments).toMatchObject([
    { filename: "logo.png", contentId: "logo", sizeBytes: 3 },
    { filename: "file.bin", sizeBytes: file.length },
    { filename: "other.eml", contentType: "message/rfc822" },
  ]);
  expect((await download(project, email.id, 1)).bytes.equals(file)).toBe(true);
  expect((await download(project, email.id, 2)).bytes.toString()).toContain("Subject: Inner");
  const raw = await server.call(received.getRawReceived, project.byKey, { params: { id: email.id } });
  expect([raw.headers.get("content-type"), raw.headers.get("content-disposition")]).toEqual([
    "message/rfc822",
    'attachment; filename="message.eml"',
  ]);
  expect(Buffer.byteLength(raw.text)).toBe(email.sizeBytes);
  const { contactId } = email;
  const { body } = await server.call(events.listContactEvents, project.byKey, { params: { contactId } });
  expect(body.data.map(({ name, data }) => ({ name, data }))).toEqual([
    {
      name: "email.received",
      data: {
        subject: "Größe 5",
        from: "ada@example.com",
        address: email.recipient,
        localPart: localPartOf(email.recipient),
        messageId: email.messageId,
        text: "Where is it?",
        receivedEmailId: email.id,
        authentication: email.authentication,
      },
    },
  ]);
});

test("stores a repeated message once, and a deleted one not again", async () => {
  const project = await server.createProject();
  const message = { subject: "Once", text: "x", messageId: "<once@example.com>" };
  const both = await Promise.all([write(project, message), write(project, message)]);
  expect(both).toEqual([expect.stringMatching(/^250/), expect.stringMatching(/^250/)]);
  const { id } = await arrived(project);
  expect((await server.call(received.deleteReceived, project.byKey, { params: { id } })).status).toBe(204);
  await write(project, message);
  await write(project, { ...message, subject: "Other", messageId: "<other@example.com>" });
  expect((await arrived(project)).subject).toBe("Other");
  expect(errorOf(await server.call(received.deleteReceived, project.byKey, { params: { id } }))).toBe(
    "404 EMAIL_NOT_FOUND",
  );
  const all = await server.rows("select 1 from events where project_id = $1", project.id);
  expect(all).toHaveLength(2);
});

/** Sends bytes as they are. */
const bytes = (...lines: ReadonlyArray<string | Buffer>) => ({
  raw: Buffer.concat(lines.map((line) => Buffer.concat([Buffer.from(line), Buffer.from("\r\n")]))),
});
const FROM = "From: ada@example.com";
const nested = (depth: number) =>
  Array.from({ length: depth }, (_, at) => `Content-Type: multipart/mixed; boundary=b${at}\r\n\r\n--b${at}`);

test.for([
  [
    "8-bit text",
    bytes(FROM, "Content-Type: text/plain; charset=iso-8859-1", "", Buffer.from("Gr\xf6\xdfe", "latin1")),
    { text: "Größe" },
  ],
  ["HTML only", bytes(FROM, "Content-Type: text/html", "", "<p>Hi</p>"), { html: "<p>Hi</p>" }],
  ["no subject and no Message-ID", bytes(FROM, "", "Hi"), { subject: null, messageId: null, text: "Hi" }],
  [
    "5,000 header fields",
    bytes(FROM, ...Array.from({ length: 5_000 }, (_, at) => `X-Field-${at}: ${at}`), "", "Hi"),
    { text: "Hi" },
  ],
  ["a nesting of 50 parts", bytes(FROM, ...nested(50), "Content-Type: text/plain", "", "Hi"), { text: "Hi" }],
  [
    "an unfinished part",
    bytes(
      FROM,
      "Content-Type: multipart/mixed; boundary=x",
      "",
      "--x",
      "Content-Disposition: attachment; filename=a",
      "Content-Transfer-Encoding: base64",
      "",
      "!!!",
    ),
    { attachments: [{ filename: "a" }] },
  ],
  ["a NUL in the subject", bytes(FROM, "Subject: =?utf-8?q?a=00b?=", "", "Hi"), { subject: "ab" }],
] as const)("receives a message with %s", async ([, message, expected]) => {
  const project = await server.createProject();
  expect(await write(project, message)).toMatch(/^250/);
  const email = await arrived(project);
  expect(email).toMatchObject(expected);
  expect(email.from.address).toBe("ada@example.com");
});

test("keeps a message that can't be parsed readable as its source", async () => {
  const project = await server.createProject();
  expect(await write(project, bytes(FROM, ...nested(300), "", "Hi"))).toMatch(/^250/);
  await expect.poll(async () => (await list(project)).data.length, WAIT).toBe(1);
  const params = { id: (await list(project)).data[0]?.id ?? "" };
  expect(errorOf(await server.call(received.getReceived, project.byKey, { params }))).toBe("409 CONFLICT");
  expect((await server.call(received.getRawReceived, project.byKey, { params })).text).toContain("Hi");
});

test("names the envelope's sender if From is no address of a contact", async () => {
  const project = await server.createProject();
  await write(project, { ...bytes('From: "Jo Doe" <"jo doe"@example.com>', "Subject: Quoted", "", "x") });
  const { from, subject, contactId } = await arrived(project);
  expect([from.address, subject]).toEqual(["ada@example.com", "Quoted"]);
  const rows = await server.rows("select email from contacts where id = $1", contactId);
  expect(rows).toEqual([{ email: "ada@example.com" }]);
});

test("rejects a message or a header above its limit and stores nothing", async () => {
  const project = await server.createProject();
  const large = { subject: "Large", text: "x".repeat(LIMITS.inboundBytes.value) };
  expect(await write(project, large)).toMatch(/^552 5\.3\.4 The message/);
  const fields = Array.from({ length: 600 }, (_, at) => `X-${at}: ${"x".repeat(900)}`);
  expect(await write(project, bytes(FROM, ...fields, "", "Hi"))).toMatch(/^552 5\.3\.4 The header/);
  expect(
    await server.rows("select 1 from notices where recipient = $1", await inboundAddressOf(project)),
  ).toEqual([]);
});

test("serves attachments as files to save, whatever their name and type", async () => {
  const project = await server.createProject();
  const page = "<script>alert(1)</script>";
  await write(project, {
    text: "x",
    attachments: [
      { filename: '"><img src=x onerror=alert(1)>.html', contentType: "text/html", content: page },
    ],
  });
  const { id, attachments } = await arrived(project);
  expect(attachments[0]?.filename).toContain("onerror");
  const { response, bytes: body } = await download(project, id, 0);
  expect(body.toString()).toBe(page);
  expect(Object.fromEntries(response.headers)).toMatchObject({
    "content-type": "application/octet-stream",
    "content-disposition":
      "attachment; filename*=UTF-8''%22%3E%3Cimg%20src%3Dx%20onerror%3Dalert%281%29%3E.html",
    "content-security-policy": "sandbox; default-src 'none'",
    "x-content-type-options": "nosniff",
  });
  for (const index of ["1", "-1", "x", "1e0", "99999"])
    expect(
      errorOf(await server.call("GET", `/received-emails/${id}/attachments/${index}`, project.byKey)),
    ).toBe("404 RESOURCE_NOT_FOUND");
});

test("answers with 404 for emails of other projects", async () => {
  const [project, other] = [await server.createProject(), await server.createProject()];
  const [email] = await addReceivedEmails(server.database, project.id, [{}]);
  const path = `/received-emails/${email?.id}`;
  for (const [method, end] of [
    ["GET", ""],
    ["GET", "/raw"],
    ["GET", "/attachments/0"],
    ["DELETE", ""],
  ] as const)
    expect(errorOf(await server.call(method, path + end, other.byKey))).toBe("404 EMAIL_NOT_FOUND");
  const reply = await server.call("POST", `${path}/reply`, other.byKey, {
    body: "x",
    from: "a@sandbox.localhost",
  });
  expect(errorOf(reply)).toBe("404 EMAIL_NOT_FOUND");
  expect((await list(other)).data).toEqual([]);
  expect((await list(project)).data).toHaveLength(1);
});

test("filters by sender, contact, thread and subject, page by page", async () => {
  const project = await server.createProject();
  const [first, second, third] = await addReceivedEmails(server.database, project.id, [
    { header: { subject: "Order 50% off", messageId: "<1@example.com>" } },
    { from: "bob@example.com", header: { subject: "Order 500", messageId: "<2@example.com>" } },
    { header: { subject: null, messageId: "<3@example.com>", inReplyTo: "<1@example.com>" } },
  ]);
  const found = async (query: object) => (await list(project, query)).data.map(({ id }) => id);
  expect(await found({ from: "ADA@example.com" })).toEqual([third?.id, first?.id]);
  expect(await found({ from: "nobody@example.com" })).toEqual([]);
  expect(await found({ contactId: second?.contactId })).toEqual([second?.id]);
  expect(await found({ threadId: first?.id })).toEqual([third?.id, first?.id]);
  expect(await found({ subject: "oRDER" })).toEqual([second?.id, first?.id]);
  expect(await found({ subject: "50%" })).toEqual([first?.id]);
  const page = await list(project, { limit: 2 });
  expect([page.total, page.hasMore]).toEqual([3, true]);
  expect(await found({ limit: 2, cursor: page.cursor })).toEqual([first?.id]);
});

test("deletes the emails of a deleted contact and keeps others", async () => {
  const project = await server.createProject();
  const [ada, bob] = await addReceivedEmails(server.database, project.id, [{}, { from: "bob@example.com" }]);
  await server.call(contacts.deleteContact, project.byKey, { params: { id: ada?.contactId ?? "" } });
  expect((await list(project)).data.map(({ id }) => id)).toEqual([bob?.id]);
});
