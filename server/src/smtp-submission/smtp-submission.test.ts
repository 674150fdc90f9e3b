// Tests SMTP submission with Nodemailer against the whole service: signing in, sending, control headers and repeats.
import { createTransport } from "nodemailer";
import { beforeAll, beforeEach, expect, test, vi } from "vitest";
import * as emails from "@postloft/contract/emails.ts";
import * as events from "@postloft/contract/events.ts";
import * as keys from "@postloft/contract/keys.ts";
import * as mailbox from "@postloft/contract/mailbox.ts";
import * as received from "@postloft/contract/received-emails.ts";
import * as projects from "@postloft/contract/projects.ts";
import * as suppressions from "@postloft/contract/suppressions.ts";
import {
  ACCEPTED,
  connectSignedIn,
  FROM,
  startSubmitting,
  submit,
  type Submitting,
} from "../testing/submission.ts";
import { addReceivedEmails } from "../testing/received-email.ts";
import { inOneWindow, useTestServer, type TestProject } from "../testing/test-server.ts";

const server = useTestServer();
const WAIT = { timeout: 30_000, interval: 20 };

let at: Submitting;
let project: TestProject;
beforeAll(async () => {
  at = await startSubmitting(server);
});
beforeEach(async () => {
  project = await server.createProject();
});

const send = (mail: object = {}, options: object = {}) =>
  submit(at, project, { to: "ada@example.com", ...mail }, options);
const idIn = (reply: string) => ACCEPTED.exec(reply)?.[1] ?? reply;
const readEmail = async (id: string) =>
  (await server.call(emails.getEmail, project.byKey, { params: { id } })).body;
const countEmails = async () =>
  (await server.call(emails.listEmails, project.byKey, { query: {} })).body.total;

const withKey = (pass: string) => ({ auth: { user: project.id, pass } });

async function newKey(scopes: string[]): Promise<string> {
  const { body } = await server.call(keys.createKey, project.bySession, {
    params: { projectId: project.id },
    body: { name: "App", scopes },
  });
  return body.data.key;
}

test("finds the emails of a message by the program's Message-ID, and links replies to them", async () => {
  const messageId = "<order.17@app.example>";
  await send({ to: "ada@example.com, bob@example.com", messageId });
  await send({ to: "ada@example.com", messageId: "<other@app.example>" });
  const search = async (text: string, by = project) =>
    (await server.call(emails.listEmails, by.byKey, { query: { messageId: text } })).body.data;
  const found = await search(messageId);
  expect(found.map(({ to }) => to).toSorted()).toEqual(["ada@example.com", "bob@example.com"]);
  const idsOf = (list: typeof found) => list.map(({ id }) => id);
  expect(idsOf(await search("order.17@app.example"))).toEqual(idsOf(found));
  expect(await search(messageId, await server.createProject())).toEqual([]);
  const header = { messageId: null, inReplyTo: messageId };
  const people = ["bob@example.com", "ada@example.com", "eve@example.com"];
  const ids = await addReceivedEmails(
    server.database,
    project.id,
    people.map((from) => ({ from, header })),
  );
  const { data } = (await server.call(received.listReceived, project.byKey)).body;
  const linked = ids.map(({ id }) => data.find((one) => one.id === id));
  const emailTo = (address: string) => found.find(({ to }) => to === address)?.id;
  const [newest] = found;
  expect(linked.map((one) => [one?.emailId, one?.threadId])).toEqual(
    [emailTo("bob@example.com"), emailTo("ada@example.com"), newest?.id].map((id) => [id, id]),
  );
});

test("accepts a message after the commit, and shows its email with sender, subject and body", async () => {
  const id = idIn(await send({ subject: "Größe", text: "Hi <Ada>", messageId: "<1@app.example>" }));
  expect(await readEmail(id)).toMatchObject({
    to: "ada@example.com",
    from: FROM,
    subject: "Größe",
    body: expect.stringContaining("Hi &lt;Ada&gt;"),
    messageId: "1@app.example",
    kind: "TRANSACTIONAL",
  });
  await vi.waitFor(async () => expect((await readEmail(id)).status).toBe("DELIVERED"), WAIT);
  const sent = await server.call(events.listEvents, project.byKey, { query: { eventName: "email.sent" } });
  expect(sent.body.data).toMatchObject([{ data: { emailId: id, messageId: "1@app.example" } }]);
  const found = await server.call(emails.listEmails, project.byKey, { query: { subject: "größe" } });
  expect(found.body.data.map((email) => email.id)).toEqual([id]);
});

test("shows the HTML and the attachments of an email without filling in variables", async () => {
  const html = "<p>{{firstName}} &amp; co</p>";
  const attachments = [{ filename: "a.txt", content: "12345" }];
  const id = idIn(await send({ subject: "{{x}}", html, attachments }));
  expect(await readEmail(id)).toMatchObject({
    subject: "{{x}}",
    body: expect.stringContaining(html),
    attachments: [{ filename: "a.txt", contentType: "text/plain", sizeBytes: 5 }],
  });
  const preview = await server.call(emails.previewEmail, project.byKey, { params: { id } });
  expect(preview.body).toMatchObject({ subject: "{{x}}", html: expect.stringContaining(html) });
  expect(preview.body.headers).toContainEqual({ name: "From", value: FROM });
});

test.each(["PLAIN", "LOGIN"])("signs in with AUTH %s by id or by name of the project", async (method) => {
  expect(await send({}, { authMethod: method })).toMatch(ACCEPTED);
  const auth = { user: "A project", pass: project.secretKey };
  expect(await send({}, { authMethod: method, auth })).toMatch(ACCEPTED);
});

test("sends many messages over a pool of connections", async () => {
  const { id, secretKey } = project;
  const pool = createTransport({
    host: "127.0.0.1",
    port: at.port,
    pool: true,
    maxConnections: 8,
    auth: { user: id, pass: secretKey },
  });
  const sent = await Promise.all(
    Array.from({ length: 100 }, (_, n) =>
      pool.sendMail({ from: FROM, to: `p${n}@example.com`, subject: `${n}`, text: "Hi" }),
    ),
  );
  pool.close();
  expect(new Set(sent.map(({ response }) => idIn(response))).size).toBe(100);
  expect(await countEmails()).toBe(100);
});

test.each([
  ["a wrong key", (key: string) => ({ pass: `${key}x` }), "The API key is not valid"],
  ["a public key", () => ({ pass: "pk_abc" }), "The password must be a secret key (sk_...)."],
  ["another project", () => ({ user: "Another" }), "The user name must be the id or the exact name"],
])("rejects %s with 535", async (_, change, text) => {
  const { id, secretKey } = project;
  const reply = await send({}, { auth: { user: id, pass: secretKey, ...change(secretKey) } });
  expect(reply).toMatch(/^535 5\.7\.8 /);
  expect(reply).toContain(text);
});

test("ends the connection when a network presents too many wrong keys", async () => {
  const limited = await startSubmitting(server, { API_RATE_LIMIT_PER_MINUTE: "1000" });
  const guess = () => submit(limited, { ...project, secretKey: "sk_wrong" }, { to: "a@example.com" });
  const replies: string[] = [];
  await vi.waitFor(
    async () => {
      replies.push(...(await Promise.all(Array.from({ length: 20 }, guess))));
      expect(replies.at(-1)).toMatch(/^421 4\.7\.1 Too many requests with invalid keys/);
    },
    { timeout: 60_000, interval: 0 },
  );
  expect(replies[0]).toMatch(/^535 5\.7\.8/);
  // A right key is not affected.
  expect(await submit(limited, project, { to: "a@example.com" })).toMatch(ACCEPTED);
});

test("counts each message as a request of the project", async () => {
  await inOneWindow(server, 60, async () => {
    const limited = await startSubmitting(server, { API_RATE_LIMIT_PER_MINUTE: "3" });
    const replies = [];
    for (let n = 0; n < 7; n += 1) replies.push(await submit(limited, project, { to: "a@example.com" }));
    expect(replies.at(-1)).toMatch(/^450 4\.7\.1 Too many requests\. Try again in \d+ s\.$/);
  });
});

test("accepts a key with the sending scope, and rejects one without it", async () => {
  expect(await send({}, withKey(await newKey(["v1:write"])))).toMatch(ACCEPTED);
  expect(await send({}, withKey(await newKey(["contacts:write"])))).toMatch(
    /^535 5\.7\.8 .*scope `v1:write`/,
  );
});

test("keeps the emails of a test key in the local mailbox and marks them as tests", async () => {
  const id = idIn(await send({ to: "new@example.com" }, withKey(await newKey(["test:send"]))));
  const [row] = await server.rows<object>(
    "select is_test, stays_here, contact_id from emails where id = $1",
    id,
  );
  expect(row).toEqual({ isTest: true, staysHere: true, contactId: null });
});

test("rejects the next MAIL FROM of an open session after its key was replaced", async () => {
  const client = await connectSignedIn(at.port, project);
  expect(await client.say("MAIL FROM:<a@b.example>")).toBe("250 Accepted");
  await client.say("RSET");
  await server.call(projects.regenerateKeys, project.bySession, { params: { projectId: project.id } });
  expect(await client.say("MAIL FROM:<a@b.example>")).toMatch(/^535 5\.7\.8 The API key is not valid/);
  client.close();
});

test("rejects the messages of a disabled project", async () => {
  const client = await connectSignedIn(at.port, project);
  await server.rows("update projects set disabled = true where id = $1", project.id);
  expect(await client.say("MAIL FROM:<a@b.example>")).toMatch(/^550 5\.7\.1 This project is disabled/);
  client.close();
});

test("names the domain of a From that is not verified, and stores nothing", async () => {
  expect(await send({ from: "us@elsewhere.example" })).toBe(
    "550 5.7.1 The domain elsewhere.example is not verified in this project.",
  );
  expect(await countEmails()).toBe(0);
  expect(await server.rows("select 1 from idempotency_keys where project_id = $1", project.id)).toEqual([]);
});

test("stores an email for each recipient of the envelope, and sends Bcc to no one else's eyes", async () => {
  const reply = await send({ to: "ada@example.com", cc: "Bob@Example.com", bcc: "eve@example.com" });
  expect(reply).toMatch(/^250 2\.0\.0 Accepted as 3 emails, the first is /);
  const { body } = await server.call(emails.listEmails, project.byKey, { query: {} });
  expect(body.data.map(({ to }) => to).toSorted()).toEqual([
    "ada@example.com",
    "bob@example.com",
    "eve@example.com",
  ]);
  await vi.waitFor(async () => {
    const messages = await server.call(mailbox.listMessages, project.byKey, { query: {} });
    expect(messages.body.data).toHaveLength(3);
  }, WAIT);
  const raws = await server.rows<{ raw: Buffer }>(
    "select raw from mailbox_messages where project_id = $1",
    project.id,
  );
  for (const { raw } of raws) expect(raw.toString()).not.toMatch(/eve@example\.com/);
  expect(await server.rows("select 1 from email_contents where project_id = $1", project.id)).toHaveLength(1);
});

test("skips a suppressed recipient like /v1/send", async () => {
  await server.rows("update project_queues set suppression_list = true where project_id = $1", project.id);
  await server.call(suppressions.addSuppressions, project.byKey, { body: { emails: ["gone@example.com"] } });
  const id = idIn(await send({ to: "gone@example.com" }));
  await vi.waitFor(async () => expect((await readEmail(id)).status).toBe("SKIPPED"), WAIT);
});

test("applies and removes the control headers", async () => {
  const scheduledFor = new Date(Date.now() + 3_600_000).toISOString();
  const id = idIn(
    await send({
      headers: {
        "X-Postloft-Tags": "receipts, größe",
        "X-Postloft-Metadata": JSON.stringify({ order: "17", note: "x".repeat(200) }),
        "X-Postloft-Scheduled-For": scheduledFor,
        "X-Own": "kept",
      },
    }),
  );
  expect(await readEmail(id)).toMatchObject({
    tags: ["receipts", "größe"],
    metadata: { order: "17", note: "x".repeat(200) },
    scheduledFor,
    status: "QUEUED",
  });
  const [row] = await server.rows<{ raw: Buffer }>(
    "select raw from email_contents where project_id = $1",
    project.id,
  );
  expect(row?.raw.toString()).toMatch(/^X-Own: kept\r$/m);
  expect(row?.raw.toString()).not.toMatch(/X-Postloft|größe/i);
});

test.each([
  ["X-Postloft-Tags", Array.from({ length: 11 }, (_, n) => `t${n}`).join(","), "X-Postloft-Tags: "],
  ["X-Postloft-Metadata", "{order", "The header X-Postloft-Metadata is not valid JSON"],
  ["X-Postloft-Metadata", '{"order":17}', "X-Postloft-Metadata: "],
  ["X-Postloft-Scheduled-For", "tomorrow", "X-Postloft-Scheduled-For: Must be a date and time"],
  ["X-Postloft-Scheduled-For", "2020-01-01T00:00:00Z", "X-Postloft-Scheduled-For: Must be in the future."],
  ["X-Postloft-Tag", "a", "The header X-Postloft-Tag is unknown. Use X-Postloft-Tags, "],
  ["X-Ses-Configuration-Set", "a", "The header X-Ses-Configuration-Set controls the mail provider"],
  ["Idempotency-Key", "x".repeat(256), "Idempotency-Key: Must have at most 255 characters."],
])("rejects %s: %.20s with 550 and its name", async (name, value, text) => {
  const reply = await send({ headers: { [name]: value } });
  expect(reply).toMatch(/^550 5\.6\.0 /);
  expect(reply).toContain(text);
  expect(await countEmails()).toBe(0);
});

test("accepts a repeated message once, by its Message-ID and recipients", async () => {
  const mail = { messageId: "<same@app.example>" };
  const replies = await Promise.all([send(mail), send(mail), send(mail)]);
  const again = await send({ ...mail, text: "Changed on the way" });
  expect(again).toMatch(ACCEPTED);
  expect(replies).toEqual([again, again, again]);
  expect(await countEmails()).toBe(1);
  // The same message to others is another email.
  expect(await send({ ...mail, to: "bob@example.com" })).toMatch(ACCEPTED);
  expect(await send({ ...mail, to: "ada@example.com, bob@example.com" })).toMatch(/^250 .* 2 emails/);
  expect(await countEmails()).toBe(4);
  const other = await server.createProject();
  expect(await submit(at, other, { ...mail, to: "ada@example.com" })).toMatch(ACCEPTED);
});

test("prefers an Idempotency-Key to the Message-ID, and takes the key again after a rejection", async () => {
  const headers = { "Idempotency-Key": "order 17" };
  expect(await send({ headers, from: "us@elsewhere.example" })).toMatch(/^550/);
  const id = idIn(await send({ headers }));
  expect(idIn(await send({ headers }))).toBe(id);
  expect(await countEmails()).toBe(1);
});
