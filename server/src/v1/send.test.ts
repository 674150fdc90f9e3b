// POST /v1/send over HTTP: every parameter and limit, and the message in the mailbox.
import { decodeWords } from "postal-mime";
import * as fc from "fast-check";
import { expect, test, vi } from "vitest";
import * as contacts from "@postloft/contract/contacts.ts";
import * as emails from "@postloft/contract/emails.ts";
import * as eventsContract from "@postloft/contract/events.ts";
import * as mailbox from "@postloft/contract/mailbox.ts";
import * as projects from "@postloft/contract/projects.ts";
import * as v1 from "@postloft/contract/v1.ts";
import { LIMITS } from "@postloft/contract/limits/limits.ts";
import {
  responsesByName,
  faultsOf,
  errorOf,
  sameByName,
  useTestServer,
  type TestCaller,
} from "../testing/test-server.ts";
import type { ResponseOf } from "../testing/typed-call.ts";

const server = useTestServer();
const WAIT = { timeout: 60_000, interval: 20 };

interface Sent {
  success: boolean;
  data: { emails: Array<{ contact: { id: string; email: string }; email: string }>; timestamp: string };
}
interface Message {
  id: string;
  emailId: string;
  from: string;
  to: string;
  subject: string;
  html: string | null;
  text: string | null;
  headers: Array<{ name: string; value: string }>;
  attachments: Array<{ filename: string; contentType: string; sizeBytes: number }>;
  sizeBytes: number;
}
type Email = ResponseOf<typeof emails.getEmail>;

let made = 0;
const newAddress = () => `to${++made}@example.com`;
const FROM = "news@sandbox.localhost";
/** Without tracking, because these tests compare the given content. */
const plain = { from: FROM, subject: "Hello", body: "<p>Hello</p>", tracking: false };
const send = (body: object, caller: TestCaller = server.project.byKey) =>
  server.call<Sent>("POST", "/v1/send", caller, { ...plain, ...body });
const refuse = (body: object, caller: TestCaller = server.project.byKey) =>
  server.call("POST", "/v1/send", caller, { ...plain, ...body });
const readEmail = async (id: string) =>
  (await server.call(emails.getEmail, server.project.byKey, { params: { id } })).body;

/** Waits for the single message to an address. */
async function messageTo(address: string, caller: TestCaller = server.project.byKey): Promise<Message> {
  return vi.waitFor(async () => {
    const path = `/mailbox/messages?to=${encodeURIComponent(address)}`;
    const { body } = await server.call<{ data: Message[] }>("GET", path, caller);
    expect(body.data).toHaveLength(1);
    return (await server.call<Message>("GET", `/mailbox/messages/${body.data[0]?.id}`, caller)).body;
  }, WAIT);
}

const headerOf = ({ headers }: Message, name: string) =>
  headers.filter((header) => header.name.toLowerCase() === name.toLowerCase()).map(({ value }) => value);

async function sendAndRead(body: object): Promise<Message> {
  const to = newAddress();
  const reply = await send({ to, ...body });
  expect(errorOf(reply as never)).toBe("200 undefined");
  return messageTo(to);
}

test("returns the ids of an email, which can be read and is in the mailbox as sent", async () => {
  const to = newAddress();
  const reply = await send({ to: to.toUpperCase() });
  expect(reply.status).toBe(200);
  expect(reply.body).toEqual({
    success: true,
    data: {
      emails: [{ contact: { id: expect.any(String), email: to }, email: expect.any(String) }],
      timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
    },
  });
  const [sent] = reply.body.data.emails;
  const message = await messageTo(to);
  expect(message).toMatchObject({
    emailId: sent?.email,
    from: FROM,
    to,
    subject: "Hello",
    html: expect.stringContaining("<p>Hello</p>"),
    text: expect.stringContaining("Hello"),
    attachments: [],
  });
  expect(headerOf(message, "To")).toEqual([to]);
  const raw = await server.call(mailbox.getRawMessage, server.project.byKey, { params: { id: message.id } });
  expect(raw.headers.get("content-type")).toBe("message/rfc822");
  expect(raw.text).toMatch(/^(.+\r\n)+\r\n/);
  expect(Buffer.byteLength(raw.text)).toBe(message.sizeBytes);
  expect(headerOf(message, "Message-ID")).toEqual([`<${sent?.email}@sandbox.localhost>`]);
  await vi.waitFor(async () => expect((await readEmail(sent?.email ?? "")).status).toBe("DELIVERED"), WAIT);
  const email = await readEmail(sent?.email ?? "");
  expect(email).toMatchObject({ contactId: sent?.contact.id, attempts: 1, reason: null, subject: "Hello" });
  expect(email.timeline.map(({ type }) => type)).toEqual([
    "queued",
    "attempt",
    "email.sent",
    "email.delivery",
  ]);
  expect((await server.call(mailbox.deleteMessages, server.project.byKey)).status).toBe(204);
  const gone = await server.call(mailbox.getMessage, server.project.byKey, { params: { id: message.id } });
  expect(errorOf(gone)).toBe("404 MESSAGE_NOT_FOUND");
});

test("keeps tags and metadata, and adds them to the events of the email", async () => {
  const to = newAddress();
  const labels = { tags: ["my first tag", "größe 5"], metadata: { orderId: "secret value", empty: "" } };
  const { body } = await send({ to, ...labels, tags: [...labels.tags, " größe 5 "] });
  const [sent] = body.data.emails;
  await vi.waitFor(async () => {
    const params = { contactId: sent?.contact.id ?? "" };
    const events = await server.call(eventsContract.listContactEvents, server.project.byKey, { params });
    expect(events.body.data).toMatchObject([
      { name: "email.delivery", data: labels },
      { name: "email.sent", data: labels },
    ]);
  }, WAIT);
  expect(await readEmail(sent?.email ?? "")).toMatchObject(labels);
  const raw = JSON.stringify(await messageTo(to));
  for (const secret of labels.tags.concat("secret value")) expect(raw).not.toContain(secret);
  const list = await server.call("GET", "/emails?tag=my%20first%20tag", server.project.byKey);
  expect(list.body).toMatchObject({ data: [{ id: sent?.email, ...labels }], total: 1 });
  const bare = await send({ to: newAddress(), tags: [], metadata: {} });
  expect(await readEmail(bare.body.data.emails[0]?.email ?? "")).toMatchObject({ tags: [], metadata: {} });
  expect(await server.rows("select 1 from emails where tags = '[]' or metadata = '{}'")).toEqual([]);
});

test("sends one email to each recipient in any notation, in the given order", async () => {
  const [a, b, c, d] = [newAddress(), newAddress(), newAddress(), newAddress()];
  const to = [a, `Bob <${b}>`, { email: c, name: 'C. "Quoted", Esq.' }, { email: d }];
  const { body } = await send({ to });
  expect(body.data.emails.map(({ contact }) => contact.email)).toEqual([a, b, c, d]);
  expect(new Set(body.data.emails.map(({ email }) => email)).size).toBe(4);
  for (const [address, header] of [
    [a, a],
    [b, `Bob <${b}>`],
    [c, `"C. \\"Quoted\\", Esq." <${c}>`],
    [d, d],
  ] as const)
    expect(headerOf(await messageTo(address ?? ""), "To")).toEqual([header]);
  const names = await server.rows("select data from contacts where email = any($1)", [b, c]);
  expect(names).toEqual([{ data: {} }, { data: {} }]);
});

test("sends two emails but creates one contact when an address is given twice", async () => {
  const to = newAddress();
  const { body } = await send({ to: [to, to.toUpperCase()] });
  const [one, two] = body.data.emails;
  expect(one?.contact.id).toBe(two?.contact.id);
  expect(one?.email).not.toBe(two?.email);
});

test("accepts 100 recipients", async () => {
  const project = await server.createProject();
  const to = Array.from({ length: 100 }, (_, at) => `many${at}@example.com`);
  const { status, body } = await send({ to }, project.byKey);
  expect(status).toBe(200);
  expect(body.data.emails.map(({ contact }) => contact.email)).toEqual(to);
});

test.for([
  [{ from: FROM }, FROM],
  [{ from: `News <${FROM}>` }, `News <${FROM}>`],
  [{ from: { email: FROM } }, FROM],
  [{ from: { email: FROM, name: "Ünïcode" } }, `Ünïcode <${FROM}>`],
  [{ from: FROM, name: "Old name" }, `Old name <${FROM}>`],
  [{ from: { email: FROM, name: "Newer" }, name: "Old name" }, `Newer <${FROM}>`],
  [{ from: `Newer <${FROM}>`, name: "Old name" }, `Newer <${FROM}>`],
] as const)("sends %j as %s", async ([body, header]) => {
  const message = await sendAndRead(body);
  expect(message.from).toBe(FROM);
  expect(headerOf(message, "From").map(decodeWords)).toEqual([header]);
});

test("uses the project's default sender once it is set and its domain is verified", async () => {
  const project = await server.createProject();
  const setDefault = (defaultFrom: string) =>
    server.call(
      projects.updateProject,
      { cookie: project.owner.cookie },
      { params: { projectId: project.id }, body: { defaultFrom } },
    );
  const to = newAddress();
  const silent = { to, from: undefined };
  expect(faultsOf(await refuse(silent, project.byKey))).toEqual(["from required"]);
  await setDefault("Shop <shop@unverified.example>");
  expect(errorOf(await refuse(silent, project.byKey))).toBe("403 DOMAIN_NOT_VERIFIED");
  await setDefault("Shop <shop@sandbox.localhost>");
  expect((await send(silent, project.byKey)).status).toBe(200);
  expect(headerOf(await messageTo(to, project.byKey), "From")).toEqual(["Shop <shop@sandbox.localhost>"]);
});

test.for([
  [{ reply: "Answers@example.com" }, ["answers@example.com"]],
  [{ replyTo: "answers@example.com" }, ["answers@example.com"]],
  [{ reply: "first@example.com", replyTo: "second@example.com" }, ["first@example.com"]],
  [
    { headers: { "Reply-To": "Answers <answers@example.com>, b@example.com" } },
    ["Answers <answers@example.com>, b@example.com"],
  ],
  [
    {
      reply: [{ name: 'Q&A, "Ltd"', email: "a@example.com" }, "Help <b@example.com>", "c@example.com"],
    },
    [String.raw`"Q&A, \"Ltd\"" <a@example.com>, Help <b@example.com>, c@example.com`],
  ],
  [{}, []],
] as Array<[object, string[]]>)("sends %j with Reply-To %j", async ([body, expected]) => {
  expect(headerOf(await sendAndRead(body), "Reply-To")).toEqual(expected);
});

test("delivers copies and shows cc but not bcc", async () => {
  const [to, cc, bcc] = [newAddress(), newAddress(), newAddress()];
  const { body } = await send({ to, cc: `Carla <${cc}>`, bcc: [{ email: bcc }] });
  const message = await messageTo(to);
  expect(headerOf(message, "Cc")).toEqual([`Carla <${cc}>`]);
  expect(headerOf(message, "Bcc")).toEqual([]);
  for (const copy of [cc, bcc]) expect((await messageTo(copy)).id).toBe(message.id);
  const raw = await server.call(mailbox.getRawMessage, server.project.byKey, { params: { id: message.id } });
  expect(raw.text).not.toContain(bcc);
  const email = await server.call("GET", `/emails/${body.data.emails[0]?.email}`, server.project.byKey);
  expect(email.body).toMatchObject({ cc: [cc], bcc: [bcc] });
  expect(await server.rows("select 1 from contacts where email = any($1)", [cc, bcc])).toEqual([]);
  const fifty = { cc: Array(25).fill("c@example.com"), bcc: Array(25).fill("b@example.com") };
  expect((await send({ to: newAddress(), ...fifty })).status).toBe(200);
});

test("prefers the call's variables to contact data, with transient ones, fallbacks and links", async () => {
  const to = newAddress();
  const stored = { name: "Stored", plan: "pro", profile: { tier: "gold" }, gone: "x", locale: "de" };
  await server.call(contacts.upsertContact, server.project.byKey, { body: { email: to, data: stored } });
  const data = {
    name: "Ada <b>",
    gone: null,
    plan: "",
    code: { value: "lent", persistent: false },
    unsubscribeUrl: "https://evil.example",
    email: "evil@example.com",
  };
  const body = [
    "{{name}}|{{{name}}}|{{plan}}|{{profile.tier}}|{{data.name}}|{{code}}",
    '{{gone ?? "nothing"}}|{{a.b ?? plan ?? 0}}|{{missing}}|{{email}}|{{locale}}|{{subscribed}}',
    "{{unsubscribeUrl}}|{{subscribeUrl}}|{{manageUrl}}|{{id}}",
    "{{#if code}}yes{{/if}}",
  ].join("#");
  const { body: sent } = await send({ to, subject: "For {{name}}", body, data, subscribed: true });
  const contactId = sent.data.emails[0]?.contact.id ?? "";
  const message = await messageTo(to);
  expect(message.subject).toBe("For Ada <b>");
  const [first, second, urls, last] = (message.html ?? "").trim().split("#");
  expect(first).toBe("Ada &lt;b&gt;|Ada <b>|pro|gold|Ada &lt;b&gt;|lent");
  expect(second).toBe(`nothing|pro||${to}|de|true`);
  expect(last).toBe("yes");
  const [unsubscribe, subscribe, manage, id] = (urls ?? "").replaceAll("&#x3D;", "=").split("|");
  const base = `http://localhost:${new URL(server.url).port}`;
  expect(unsubscribe).toMatch(new RegExp(`^${base}/unsubscribe/[\\w-]{64,}$`));
  expect(subscribe).toMatch(new RegExp(`^${base}/subscribe/[\\w-]{64,}$`));
  expect(manage).toMatch(new RegExp(`^${base}/manage/[\\w-]{64,}$`));
  expect(id).toBe(contactId);
  const { body: contact } = await server.call(contacts.getContact, server.project.byKey, {
    params: { id: contactId },
  });
  expect(contact).toMatchObject({
    subscribed: true,
    data: { name: "Ada <b>", plan: "pro", profile: { tier: "gold" }, locale: "de" },
  });
});

test("gives each recipient separate links", async () => {
  const to = [newAddress(), newAddress()];
  await send({ to, body: "{{unsubscribeUrl}} {{manageUrl}}" });
  const urls = await Promise.all(to.map(async (address) => (await messageTo(address)).html));
  expect(new Set(urls.flatMap((html) => (html ?? "").trim().split(" "))).size).toBe(4);
});

test("does not let a variable's value add a header or a recipient", async () => {
  const evil = "x\r\nBcc: evil@example.com\r\n\r\nbody";
  const to = newAddress();
  await send({ to, subject: "For {{name}}", body: "{{name}}", data: { name: evil } });
  const message = await messageTo(to);
  expect(headerOf(message, "Bcc")).toEqual([]);
  expect(message.subject).toContain("Bcc: evil@example.com");
  expect(message.subject).not.toMatch(/[\r\n]/);
  const [row] = await server.rows("select recipients from mailbox_messages where id = $1", message.id);
  expect(row).toEqual({ recipients: [to] });
});

test("generates the text part from the HTML unless it is given", async () => {
  const html = '<h1>Title</h1><p>One &amp; <a href="https://example.com/x">two</a></p>';
  const madeText = (await sendAndRead({ body: html })).text ?? "";
  expect(madeText).toMatch(/title/i);
  expect(madeText).toContain("One & two");
  expect(madeText).toContain("https://example.com/x");
  const input = await sendAndRead({ body: html, text: "For {{name}}: plain", data: { name: "<Ada>" } });
  expect(input.text?.trim()).toBe("For <Ada>: plain");
});

test("delivers a subject of 998 characters and texts in any script unchanged", async () => {
  for (const subject of ["x".repeat(998), "ü🦀".repeat(300), "  two  spaces  ", "=?utf-8?B?eA==?="])
    expect((await sendAndRead({ subject })).subject).toBe(subject);
});

const file = (content: Buffer | string) => Buffer.from(content).toString("base64");

test("delivers attachments unchanged, and inline ones with their content id", async () => {
  const bytes = Buffer.from(Array.from({ length: 3_000 }, (_, at) => at % 256));
  const message = await sendAndRead({
    body: '<img src="cid:logo">',
    attachments: [
      { filename: "bytes.bin", content: file(bytes) },
      { filename: "Rechnung Ünï 🦀.pdf", content: file("pdf"), contentType: "application/pdf" },
      {
        filename: "logo.png",
        content: file("png"),
        type: "image/png",
        contentId: "logo",
        disposition: "inline",
      },
      {
        filename: "lines.txt",
        content: `${file("wrapped").slice(0, 4)}\r\n ${file("wrapped").slice(4)}\n`,
        contentType: "text/plain",
      },
      {
        filename: "meeting.ics",
        content: file("ics"),
        type: 'text/calendar; method=REQUEST; charset="utf-8"',
      },
      { filename: "nothing.log", content: "", contentType: "text/plain" },
    ],
  });
  // The mailbox parses a calendar as text and adds a final line break.
  expect(message.attachments.toSorted((a, b) => (a.filename < b.filename ? -1 : 1))).toEqual([
    { filename: "Rechnung Ünï 🦀.pdf", contentType: "application/pdf", sizeBytes: 3, contentId: null },
    { filename: "bytes.bin", contentType: "application/octet-stream", sizeBytes: 3_000, contentId: null },
    { filename: "lines.txt", contentType: "text/plain", sizeBytes: 7, contentId: null },
    { filename: "logo.png", contentType: "image/png", sizeBytes: 3, contentId: "logo" },
    { filename: "meeting.ics", contentType: "text/calendar", sizeBytes: 4, contentId: null },
    { filename: "nothing.log", contentType: "text/plain", sizeBytes: 0, contentId: null },
  ]);
  const raw = await server.call(mailbox.getRawMessage, server.project.byKey, { params: { id: message.id } });
  expect(raw.text).toContain("Content-ID: <logo>");
  expect(raw.text).toContain(
    'Content-Type: text/calendar; method=REQUEST; charset="utf-8";\r\n name="meeting.ics"',
  );
  expect(raw.text.replaceAll("\r\n", "")).toContain(file(bytes));
});

test("delivers ten attachments of 10 MB in total", async () => {
  const content = file(Buffer.alloc(1024 * 1024));
  const attachments = Array.from({ length: 10 }, (_, at) => ({ filename: `${at}.bin`, content }));
  const message = await sendAndRead({ attachments });
  expect(message.attachments.map(({ sizeBytes }) => sizeBytes)).toEqual(Array(10).fill(1024 * 1024));
});

test("delivers custom headers unchanged", async () => {
  const headers = {
    "X-Campaign": "summer 2026",
    "x-lower": "ünï",
    References: "<a@example.com> <b@example.com>",
    "List-Unsubscribe": "<https://example.com/u>, <mailto:u@example.com>",
    "List-Unsubscribe-Post": "List-Unsubscribe=One-Click",
    "Auto-Submitted": "no",
    "X-Long": "x".repeat(998),
    Importance: "",
  };
  const message = await sendAndRead({ headers });
  const names = Object.keys(headers) as Array<keyof typeof headers>;
  expect(
    await responsesByName(names, String, async (name) => headerOf(message, name).map(decodeWords)),
  ).toEqual(sameByName(names, String, (name) => [headers[name]]));
});

test("accepts a call above 1 MB and responds with 413 above 60 MB", async () => {
  const to = newAddress();
  expect((await send({ to, body: `<p>${"x".repeat(3 * 1024 * 1024)}</p>` })).status).toBe(200);
  expect((await messageTo(to)).html).toHaveLength(3 * 1024 * 1024 + 7);
  const large = Buffer.alloc(60 * 1024 * 1024 + 1, "x");
  const reply = await server.call(v1.send, server.project.byKey, { anyBody: large });
  expect(errorOf(reply)).toBe("413 PAYLOAD_TOO_LARGE");
});

interface Outcome {
  status: string;
  events: string[];
  unsubscribed: unknown;
  subscribed: boolean;
}

/** Sends to a magic address and waits until the email has this status. */
async function play(address: string, status: string): Promise<Outcome> {
  const { body } = await send({ to: address, subscribed: true });
  const [sent] = body.data.emails;
  const contactId = sent?.contact.id ?? "";
  const read = async () => {
    const email = await readEmail(sent?.email ?? "");
    const { body: list } = await server.call(eventsContract.listContactEvents, server.project.byKey, {
      params: { contactId },
    });
    const { body: contact } = await server.call(contacts.getContact, server.project.byKey, {
      params: { id: contactId },
    });
    const events = list.data.toReversed();
    return {
      status: email.status,
      events: events.map(({ name }) => name),
      unsubscribed: events.find(({ name }) => name === "contact.unsubscribed")?.data ?? null,
      subscribed: contact.subscribed,
    };
  };
  await vi.waitFor(async () => expect(await readEmail(sent?.email ?? "")).toMatchObject({ status }), WAIT);
  return read();
}

test.for([
  ["delivered", "DELIVERED", ["email.sent", "email.delivery"], null],
  ["bounced", "BOUNCED", ["email.sent", "email.bounce", "contact.unsubscribed"], "bounce"],
  ["soft-bounced", "SENT", ["email.sent", "email.bounce"], null],
  [
    "complained",
    "COMPLAINED",
    ["email.sent", "email.delivery", "email.complaint", "contact.unsubscribed"],
    "complaint",
  ],
  ["anybody", "DELIVERED", ["email.sent", "email.delivery"], null],
] as Array<[string, string, string[], string | null]>)(
  "simulates %s@sandbox.localhost, with +anything too, up to %s",
  async ([role, status, events, reason]) => {
    const expected = {
      status,
      events,
      unsubscribed: reason === null ? null : { reason },
      subscribed: reason === null,
    };
    for (const address of [`${role}@sandbox.localhost`, `${role}+x.${made}@sandbox.localhost`])
      expect(await play(address, status)).toEqual(expected);
  },
);

test("sends to a bounced contact, and a second bounce does not change it", async () => {
  const address = "bounced+again@sandbox.localhost";
  await play(address, "BOUNCED");
  const { body } = await send({ to: address });
  const [sent] = body.data.emails;
  await vi.waitFor(async () => expect((await readEmail(sent?.email ?? "")).status).toBe("BOUNCED"), WAIT);
  const flips = await server.rows(
    "select 1 from events where contact_id = $1 and name = 'contact.unsubscribed'",
    sent?.contact.id,
  );
  expect(flips).toHaveLength(1);
});

test("deferred@sandbox.localhost defers twice and then delivers once", async () => {
  const { body } = await send({ to: "deferred+x@sandbox.localhost" });
  const id = body.data.emails[0]?.email ?? "";
  await vi.waitFor(async () => expect((await readEmail(id)).status).toBe("DELIVERED"), WAIT);
  const email = await readEmail(id);
  expect(email.attempts).toBe(3);
  expect(email.timeline.map(({ type }) => type)).toEqual([
    "queued",
    "attempt",
    "attempt",
    "attempt",
    "email.sent",
    "email.delivery",
  ]);
  expect(email.timeline[1]?.detail).toMatch(/^deferred: 451 /);
  expect(await server.rows("select 1 from mailbox_messages where email_id = $1", id)).toHaveLength(1);
});

test("shows the rendered subject of a sent email and the given one of a waiting email", async () => {
  const project = await server.createProject();
  const to = newAddress();
  const subject = "For {{email}}, {{data.plan}}";
  const { body } = await send({ to, subject, data: { plan: "pro" } }, project.byKey);
  const [{ email: id } = { email: "" }] = body.data.emails;
  const read = async (path: string) =>
    (await server.call<Email & { data: Email[] }>("GET", path, project.byKey)).body;
  await vi.waitFor(async () => expect((await read(`/emails/${id}`)).status).toBe("DELIVERED"), WAIT);
  const sent = `For ${to}, pro`;
  expect([(await read(`/emails/${id}`)).subject, (await read("/emails")).data[0]?.subject]).toEqual([
    sent,
    sent,
  ]);
  await server.rows("update emails set subject = null where id = $1", id);
  expect((await read(`/emails/${id}`)).subject).toBe(subject);
});

test("lists emails newest first, filtered by status, contact and time", async () => {
  const project = await server.createProject();
  const to = [newAddress(), newAddress()];
  const { body } = await send({ to }, project.byKey);
  const list = async (query: string) =>
    (await server.call(emails.listEmails, project.byKey, { anyQuery: query })).body;
  await vi.waitFor(async () => expect(await list("?status=DELIVERED")).toMatchObject({ total: 2 }), WAIT);
  const ids = body.data.emails.map(({ email }) => email);
  const all = await list("");
  expect(all).toMatchObject({ total: 2, hasMore: false });
  expect(all.data.map(({ id }) => id)).toEqual(ids.toReversed());
  expect((await list(`?contactId=${body.data.emails[0]?.contact.id}`)).data.map(({ id }) => id)).toEqual([
    ids[0],
  ]);
  expect((await list("?status=FAILED")).data).toEqual([]);
  expect((await list("?since=2100-01-01T00:00:00Z")).data).toEqual([]);
  const page = await list("?limit=1");
  expect(page).toMatchObject({ total: 2, hasMore: true });
  expect((await list(`?limit=1&cursor=${page.cursor}`)).data.map(({ id }) => id)).toEqual([ids[0]]);
});

test("shows each project its own mailbox, newest first, searchable by any recipient", async () => {
  const project = await server.createProject();
  const to = newAddress();
  await send({ to, subject: "First" }, project.byKey);
  await messageTo(to, project.byKey);
  await send({ to: newAddress(), cc: to, subject: "Second" }, project.byKey);
  const list = async (query: string, caller = project.byKey) =>
    (await server.call(mailbox.listMessages, caller, { anyQuery: query })).body;
  await vi.waitFor(async () => expect(await list("")).toMatchObject({ total: 2 }), WAIT);
  expect((await list("")).data.map(({ subject }) => subject)).toEqual(["Second", "First"]);
  expect((await list(`?to=${to.toUpperCase()}`)).data).toHaveLength(2);
  expect((await list("?to=nobody@example.com")).data).toEqual([]);
  expect((await list(`?to=${to}`, server.project.byKey)).data).toEqual([]);
  await server.call(mailbox.deleteMessages, server.project.byKey);
  expect(await list("")).toMatchObject({ total: 2 });
});

const oddText = fc.oneof(
  fc.constantFrom(
    "",
    " ",
    "a\r\nBcc: b@example.com",
    "\u0000",
    "=?utf-8?B?eA==?=",
    "ü🦀",
    '"\\',
    "\u202egnp.exe",
  ),
  fc.constantFrom(
    "x".repeat(300),
    "🦀".repeat(120),
    ".",
    "<>",
    "a:b;c,d@e",
    "\u0085",
    "\u2028",
    "\t",
    "%00",
    "é",
  ),
  fc.string({ unit: "binary", maxLength: 20 }),
);
const oddName = fc.record({ email: fc.constant("odd@example.com"), name: oddText });
const goodFile = { filename: "a.txt", content: "eA==" };
/** Emails with one unusual part each, because several at once would all be rejected. */
const oddMail: fc.Arbitrary<object> = fc.oneof(
  oddName.map((to) => ({ to })),
  oddText.map((name) => ({ from: { email: FROM, name } })),
  oddText.map((name) => ({ name })),
  oddText.map((subject) => ({ subject })),
  oddText.map((text) => ({ text })),
  oddText.map((local) => ({ reply: `${local}@example.com` })),
  oddText.map((name) => ({ headers: { "Reply-To": `"${name}" <a@example.com>` } })),
  fc.array(oddName, { maxLength: 2 }).map((cc) => ({ cc })),
  oddText.map((local) => ({ bcc: `${local}@example.com` })),
  oddText.map((value) => ({ headers: { "X-Odd": value } })),
  oddText.map((name) => ({ headers: { [name]: "x" } })),
  oddText.map((filename) => ({ attachments: [{ ...goodFile, filename }] })),
  oddText.map((contentType) => ({ attachments: [{ ...goodFile, contentType }] })),
  oddText.map((contentId) => ({ attachments: [{ ...goodFile, contentId, disposition: "inline" }] })),
);

test("builds and sends any accepted input without a later failure", async () => {
  const project = await server.createProject();
  await fc.assert(
    fc.asyncProperty(oddMail, async (mail) => {
      const { status } = await send({ to: "odd@example.com", ...mail }, project.byKey);
      expect(status).toBeOneOf([200, 422]);
    }),
    { numRuns: 300 },
  );
  const states = () =>
    server.rows<{ status: string; reason: string | null }>(
      "select distinct status, reason from emails where project_id = $1",
      project.id,
    );
  await expect.poll(states, WAIT).toEqual([{ status: "DELIVERED", reason: null }]);
});

test("warns once about a variable without any value and sends the email", async () => {
  const { byKey } = await server.createProject();
  const warningsOf = async (body: object) => {
    const { status, body: response } = await send({ to: newAddress(), ...body }, byKey);
    expect(status).toBe(200);
    return (response.data as { warnings?: Array<{ message: string; where: object }> }).warnings;
  };
  const body = "<p>Hello {{frist}},\n{{frist}} {{email}} {{plan ?? 'none'}}</p>";
  expect(await warningsOf({ body, data: { plan: "pro" } })).toMatchObject([
    {
      code: "unknown_variable",
      message: 'No contact has a value for "frist". Recipients will see the fallback after ??, or nothing.',
      where: { field: "body", line: 1, column: 12 },
    },
  ]);
  expect(await warningsOf({ body, data: { plan: "pro", frist: "Ada" } })).toBeUndefined();
  // The project's contacts have both by now, perhaps others.
  expect(await warningsOf({ body })).toBeUndefined();
  expect(await warningsOf({ subject: "{{other}}", body: "{{other}}", text: "{{third}}" })).toMatchObject([
    { where: { field: "subject" } },
    { where: { field: "text" } },
  ]);
});

test("reads a project's fields at most every ten seconds for calls with unknown variables", async () => {
  const { byKey, id } = await server.createProject();
  const countWarnings = async () => {
    const { body } = await send({ to: newAddress(), subject: "Hi {{nick}}", body: "text" }, byKey);
    return (body.data as { warnings?: unknown[] }).warnings?.length ?? 0;
  };
  expect(await countWarnings()).toBe(1);
  // Another process stores the field.
  await server.rows("insert into contact_fields (project_id, field, type) values ($1, 'nick', 'string')", id);
  expect(await countWarnings()).toBe(1);
  // A call of this process is noticed at once.
  await send({ to: newAddress(), subject: "Hi", body: "text", data: { nick: "Ada" } }, byKey);
  expect(await countWarnings()).toBe(0);
});

test("sends the largest allowed body with a pixel and tracked links", async () => {
  const to = newAddress();
  const link = '<a href="https://example.com/news">news</a>';
  const room = LIMITS.htmlBytes.value - link.length - "<p></p>".length;
  const body = `<p>${"Hello world, ".repeat(room / 13).padEnd(room, ".")}</p>${link}`;
  expect((await send({ to, body, text: "Hello", tracking: true })).status).toBe(200);
  expect((await messageTo(to)).html?.length).toBeGreaterThan(LIMITS.htmlBytes.value);
});
