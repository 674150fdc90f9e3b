// POST /v1/send with a template. The call overrides the template, and bulk mail reaches subscribed contacts only.
import { randomUUID } from "node:crypto";
import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { beforeAll, expect, test, vi } from "vitest";
import * as contactsContract from "@postloft/contract/contacts.ts";
import * as domains from "@postloft/contract/domains.ts";
import * as emailsContract from "@postloft/contract/emails.ts";
import * as projects from "@postloft/contract/projects.ts";
import * as templatesContract from "@postloft/contract/templates.ts";
import {
  faultsOf,
  errorOf,
  useTestServer,
  type TestCaller,
  type TestProject,
} from "../testing/test-server.ts";
import { recountEmailsInSql } from "../testing/recount-emails.ts";

const server = useTestServer();
const WAIT = { timeout: 30_000, interval: 20 };
const FROM = "news@sandbox.localhost";

interface Sent {
  data: { emails: Array<{ contact: { id: string; email: string }; email: string }> };
}
interface Message {
  id: string;
  subject: string;
  html: string;
  text: string;
  headers: Array<{ name: string; value: string }>;
}
type Type = "TRANSACTIONAL" | "MARKETING" | "HEADLESS";

let made = 0;
const newAddress = () => `t${++made}@example.com`;

const written = {
  name: "Order",
  type: "TRANSACTIONAL" as Type,
  subject: "Order {{order}}",
  previewText: null as string | null,
  body: "<html><body><p>Thanks, {{firstName ?? 'you'}}.</p></body></html>",
  from: FROM,
  fromName: "The shop",
  replyTo: "answers@example.com",
};

async function makeTemplate(
  template: Partial<Record<keyof typeof written, unknown>> = {},
  caller: TestCaller = server.project.byKey,
) {
  const reply = await server.call<{ id: string }>("POST", "/templates", caller, { ...written, ...template });
  expect(reply.status).toBe(201);
  return reply.body.id;
}

const send = (body: object, caller: TestCaller = server.project.byKey) =>
  server.call<Sent>("POST", "/v1/send", caller, { tracking: false, ...body });
const refuse = (body: object, caller: TestCaller = server.project.byKey) =>
  server.call("POST", "/v1/send", caller, { tracking: false, ...body });

/** The statuses of calls that arrive at once in this order, in a single write to one connection. */
async function sendTogether(bodies: readonly object[]): Promise<number[]> {
  const { hostname, port } = new URL(server.url);
  const requests = bodies.map((body, at) => {
    const json = JSON.stringify({ tracking: false, ...body });
    const connection = at === bodies.length - 1 ? "close" : "keep-alive";
    return [
      "POST /v1/send HTTP/1.1",
      `Host: ${hostname}`,
      `Authorization: Bearer ${server.project.secretKey}`,
      "Content-Type: application/json",
      `Content-Length: ${Buffer.byteLength(json)}`,
      `Connection: ${connection}`,
      "",
      json,
    ].join("\r\n");
  });
  const socket = connect(Number(port), hostname);
  socket.write(requests.join(""));
  return [...(await text(socket)).matchAll(/HTTP\/1\.1 (\d{3})/g)].map(([, status]) => Number(status));
}

async function messageTo(address: string, caller: TestCaller = server.project.byKey): Promise<Message> {
  return vi.waitFor(async () => {
    const { body } = await server.call<{ data: Message[] }>("GET", `/mailbox/messages?to=${address}`, caller);
    expect(body.data).toHaveLength(1);
    return (await server.call<Message>("GET", `/mailbox/messages/${body.data[0]?.id}`, caller)).body;
  }, WAIT);
}

const headerOf = ({ headers }: Message, name: string) =>
  headers.filter((header) => header.name.toLowerCase() === name.toLowerCase()).map(({ value }) => value);

async function makeContact(
  subscribed: boolean,
  data: object = {},
  caller: TestCaller = server.project.byKey,
) {
  const contact = { email: newAddress(), subscribed, data };
  await server.call(contactsContract.upsertContact, caller, { anyBody: contact });
  return contact.email;
}

/** The rows that a call writes. Previously accepted emails continue to change. */
async function countWritten() {
  const { contacts, emails, email_contents } = await server.countRows();
  const flips = await server.rows("select 1 from events where name like 'contact.%'");
  return { contacts, emails, email_contents, flips: flips.length };
}

const templates: Record<Type, string> = { TRANSACTIONAL: "", MARKETING: "", HEADLESS: "" };
beforeAll(async () => {
  // Otherwise each body also gets a separate image.
  const { id, owner } = server.project;
  await server.call(
    projects.updateProject,
    { cookie: owner.cookie },
    { params: { projectId: id }, body: { tracking: "DISABLED" } },
  );
  for (const type of ["TRANSACTIONAL", "MARKETING", "HEADLESS"] as const)
    templates[type] = await makeTemplate({ type });
});

test("shows the preview text of the template unless the call has its own", async () => {
  const template = await makeTemplate({ type: "MARKETING", previewText: "For {{firstName ?? 'you'}}" });
  const shown = async (more: object) => {
    const to = newAddress();
    expect((await send({ to, template, subscribed: true, ...more })).status).toBe(200);
    const { html, text: plain } = await messageTo(to);
    expect(plain).toMatch(/^Thanks, you\./);
    return /display:none[^>]*>([^&<]*)&zwnj;/.exec(html)?.[1];
  };
  expect(await shown({})).toBe("For you");
  expect(await shown({ previewText: "Other" })).toBe("Other");
  expect(await shown({ previewText: null })).toBe(undefined);
});

test("sends the preview text of a call without a template and checks it", async () => {
  const to = newAddress();
  const call = { to, from: FROM, subject: "Hi", body: "<p>Hi</p>" };
  expect((await send({ ...call, previewText: "1 < 2" })).status).toBe(200);
  expect((await messageTo(to)).html).toMatch(/^<div style="display:none[^>]*>1 &lt; 2&zwnj;/);
  expect(faultsOf(await refuse({ ...call, previewText: "{{#if}}" }))).toEqual(["previewText custom"]);
});

test("takes subject, body, sender and reply address from the template alone", async () => {
  const to = newAddress();
  const reply = await send({
    to,
    template: templates.TRANSACTIONAL,
    data: { firstName: "Ada", order: "A-1" },
  });
  expect(reply.status).toBe(200);
  const message = await messageTo(to);
  expect(message).toMatchObject({
    subject: "Order A-1",
    html: expect.stringContaining("<p>Thanks, Ada.</p>"),
  });
  expect(message.text.trim()).toBe("Thanks, Ada.");
  expect(headerOf(message, "From")).toEqual([`The shop <${FROM}>`]);
  expect(headerOf(message, "Reply-To")).toEqual(["answers@example.com"]);
});

test.for([
  [{ subject: "Other {{order}}" }, { subject: "Other 1" }],
  [
    { body: "<b>{{order}}</b>" },
    { html: expect.stringMatching(/^<b>1<\/b>\s*$/), text: expect.stringMatching(/^1\s*$/) },
  ],
  [
    { text: "Plain {{order}}" },
    { html: expect.stringContaining("<p>Thanks"), text: expect.stringMatching(/^Plain 1\s*$/) },
  ],
] as Array<[object, object]>)("overrides only %j of the template", async ([own, expected]) => {
  const to = newAddress();
  await send({ to, template: templates.TRANSACTIONAL, data: { order: 1 }, ...own });
  const asItIs = { subject: "Order 1", html: expect.stringContaining("<p>Thanks, you.</p>") };
  expect(await messageTo(to)).toMatchObject({ ...asItIs, ...expected });
});

test.for([
  [{ from: "other@sandbox.localhost" }, "From", "other@sandbox.localhost"],
  [{ from: { email: "other@sandbox.localhost", name: "Other" } }, "From", "Other <other@sandbox.localhost>"],
  [{ name: "Old name" }, "From", `The shop <${FROM}>`],
  [{ reply: "other@example.com" }, "Reply-To", "other@example.com"],
  [{ replyTo: "other@example.com" }, "Reply-To", "other@example.com"],
  [{ headers: { "Reply-To": "other@example.com" } }, "Reply-To", "other@example.com"],
] as Array<[object, string, string]>)("sends %j with the header %s: %s", async ([own, header, value]) => {
  const to = newAddress();
  await send({ to, template: templates.TRANSACTIONAL, ...own });
  expect(headerOf(await messageTo(to), header)).toEqual([value]);
});

test("uses the project's sender with the template's name when the template has none", async () => {
  const project = await server.createProject();
  const silent = await makeTemplate({ from: null, fromName: null }, project.byKey);
  const named = await makeTemplate({ from: null }, project.byKey);
  expect(faultsOf(await refuse({ to: newAddress(), template: silent }, project.byKey))).toEqual([
    "from required",
  ]);
  const path = `/users/@me/projects/${project.id}`;
  await server.call(
    "PATCH",
    path,
    { cookie: project.owner.cookie },
    { defaultFrom: `Home <home@sandbox.localhost>` },
  );
  const [a, b, c] = [newAddress(), newAddress(), newAddress()];
  await send({ to: a, template: silent }, project.byKey);
  await send({ to: b, template: named }, project.byKey);
  await send({ to: c, template: silent, from: FROM }, project.byKey);
  expect(headerOf(await messageTo(a, project.byKey), "From")).toEqual(["Home <home@sandbox.localhost>"]);
  expect(headerOf(await messageTo(b, project.byKey), "From")).toEqual(["The shop <home@sandbox.localhost>"]);
  expect(headerOf(await messageTo(c, project.byKey), "From")).toEqual([FROM]);
});

test("rejects a template with an unverified domain unless the call has a verified sender", async () => {
  const { body: domain } = await server.call(domains.createDomain, server.project.byKey, {
    body: {
      domain: "gone.example",
    },
  });
  await server.call(domains.verifyDomain, server.project.byKey, { params: { id: domain.id } });
  const template = await makeTemplate({ from: "a@gone.example" });
  await server.rows("delete from domains where id = $1", domain.id);
  expect(errorOf(await refuse({ to: newAddress(), template }))).toBe("403 DOMAIN_NOT_VERIFIED");
  expect((await send({ to: newAddress(), template, from: FROM })).status).toBe(200);
});

test("finds a template by its name in the project, and needs the id if several have the name", async () => {
  const other = await server.createProject();
  const name = "Welcome, friend";
  const id = await makeTemplate({ name, subject: "Welcome" });
  await makeTemplate({ name, subject: "Theirs" }, other.byKey);
  await makeTemplate({ name: name.toUpperCase(), subject: "Another" });
  const to = newAddress();
  const sent = await send({ to, template: name });
  expect(sent.status).toBe(200);
  const params = { id: sent.body.data.emails[0]?.email ?? "" };
  const { body: email } = await server.call(emailsContract.getEmail, server.project.byKey, { params });
  expect(email.subject).toBe("Welcome");
  const second = await makeTemplate({ name });
  const refused = await refuse({ to: newAddress(), template: name });
  expect(errorOf(refused)).toBe("409 CONFLICT");
  expect(refused.text).toContain(`Several templates are named “${name}”.`);
  expect((await send({ to: newAddress(), template: id })).status).toBe(200);
  await server.call(templatesContract.deleteTemplate, server.project.byKey, { params: { id: second } });
  expect((await send({ to: newAddress(), template: name })).status).toBe(200);
  expect(errorOf(await refuse({ to: newAddress(), template: "Welcome" }))).toBe("404 TEMPLATE_NOT_FOUND");
});

test("returns 404 and writes nothing for an unknown, foreign or deleted template", async () => {
  const other = await server.createProject();
  const theirs = await makeTemplate({}, other.byKey);
  const gone = await makeTemplate();
  await server.call(templatesContract.deleteTemplate, server.project.byKey, { params: { id: gone } });
  const before = await countWritten();
  for (const template of [randomUUID(), theirs, gone])
    expect(errorOf(await refuse({ to: newAddress(), template, subject: "x", body: "x", from: FROM }))).toBe(
      "404 TEMPLATE_NOT_FOUND",
    );
  expect(await countWritten()).toEqual(before);
  expect((await send({ to: newAddress(), template: theirs.toUpperCase() }, other.byKey)).status).toBe(200);
});

test("keeps the template's content of the time at which the email was accepted", async () => {
  const project = await server.createProject();
  const template = await makeTemplate({ subject: "Before" }, project.byKey);
  const to = newAddress();
  const { body } = await send({ to, template }, project.byKey);
  await server.call(templatesContract.updateTemplate, project.byKey, {
    params: { id: template },
    body: { subject: "After" },
  });
  await server.call(templatesContract.deleteTemplate, project.byKey, { params: { id: template } });
  const email = await server.call("GET", `/emails/${body.data.emails[0]?.email}`, project.byKey);
  expect(email.body).toMatchObject({ subject: "Before", body: written.body });
  expect(await messageTo(to, project.byKey)).toMatchObject({ subject: "Before" });
});

test.for(["MARKETING", "HEADLESS"] as const)(
  "sends a %s template to subscribed contacts only, and writes nothing for others",
  async (type) => {
    const template = templates[type];
    const [yes, no, noOne] = [await makeContact(true), await makeContact(false), newAddress()];
    expect((await send({ to: yes, template })).status).toBe(200);
    const before = await countWritten();
    for (const body of [
      { to: no },
      { to: noOne },
      { to: noOne, data: { a: 1 } },
      { to: [yes, no] },
      { to: [yes, noOne] },
      { to: yes, subscribed: false },
    ])
      expect(errorOf(await refuse({ ...body, template }))).toBe("403 CONTACT_UNSUBSCRIBED");
    expect(await countWritten()).toEqual(before);
    const states = await server.rows(
      "select email, subscribed from contacts where email = any($1) order by email",
      [yes, no, noOne],
    );
    expect(states).toEqual(
      [
        { email: yes, subscribed: true },
        { email: no, subscribed: false },
      ].toSorted((a, b) => (a.email < b.email ? -1 : 1)),
    );
    expect((await send({ to: [no, noOne], template, subscribed: true })).status).toBe(200);
    expect((await send({ to: [no, noOne, yes], template })).status).toBe(200);
  },
);

test("sends a transactional template to any recipient", async () => {
  const to = [await makeContact(false), newAddress()];
  expect((await send({ to, template: templates.TRANSACTIONAL })).status).toBe(200);
  expect((await send({ to, template: templates.TRANSACTIONAL, subscribed: false })).status).toBe(200);
});

test("names the unreachable recipient in the error", async () => {
  const [yes, no] = [await makeContact(true), await makeContact(false)];
  const reply = await refuse({ to: [yes, no], template: templates.MARKETING });
  expect(reply.body.message).toContain(no);
  expect(reply.body.message).not.toContain(yes);
});

test("applies concurrent calls in order, so each sees the changes of earlier ones", async () => {
  const addresses = Array.from({ length: 20 }, newAddress);
  const calls = addresses.map((to) =>
    sendTogether([
      { to, template: templates.MARKETING, subscribed: true },
      { to, template: templates.MARKETING, subscribed: false },
      { to, template: templates.HEADLESS },
      { to, template: templates.TRANSACTIONAL, subscribed: false },
      { to, template: templates.HEADLESS },
    ]),
  );
  expect(await Promise.all(calls)).toEqual(addresses.map(() => [200, 403, 200, 200, 403]));
  const rows = await server.rows(
    "select 1 from emails e join contacts c on c.id = e.contact_id where c.email = any($1)",
    addresses,
  );
  expect(rows).toHaveLength(60);
});

test("adds a footer in the recipient's language to both parts of marketing email", async () => {
  const [german, french] = [
    await makeContact(true, { locale: "de" }),
    await makeContact(true, { locale: "fr-CA" }),
  ];
  const { body } = await send({ to: [german, french], template: templates.MARKETING });
  expect(body.data.emails).toHaveLength(2);
  const links = new Set<string>();
  for (const [address, language] of [
    [german, "de"],
    [french, "fr"],
  ] as const) {
    const message = await messageTo(address);
    expect(message.html).toMatch(
      new RegExp(`</p><div><div lang="${language}".*</div></div></body></html>\\s*$`, "s"),
    );
    const url = /href="(http[^"]*\/unsubscribe\/[\w-]{64,})"/.exec(message.html)?.[1] ?? "none";
    expect(message.text).toContain(url);
    links.add(url);
  }
  expect(links.size).toBe(2);
});

/** The email that a subscribed contact gets from the marketing template. */
async function marketTo(own: object): Promise<Message> {
  const to = await makeContact(true, { locale: "en" });
  await send({ to, template: templates.MARKETING, ...own });
  return messageTo(to);
}

test("keeps the contact's links in the footer when clicks are tracked", async () => {
  const project = await server.createProject();
  const template = await makeTemplate({ type: "MARKETING" }, project.byKey);
  const to = newAddress();
  await send({ to, template, subscribed: true }, project.byKey);
  const { html } = await messageTo(to, project.byKey);
  const paths = [...html.matchAll(/href="http:\/\/[^/"]+\/(\w+)\//g)].map((match) => match[1]);
  expect(paths).toEqual(["unsubscribe", "manage"]);
});

test("adds the footer to a call's own body and text unless they have such a link", async () => {
  const input = await marketTo({ body: "<p>Own</p>", text: "Own" });
  expect(input.html).toMatch(/^<p>Own<\/p><div><div lang="en"/);
  expect(input.text).toMatch(/^Own\r?\n\r?\nYou are receiving.*Unsubscribe: http/s);
  const linked = await marketTo({ body: "<p>{{manageUrl}}</p>", text: "{{unsubscribeUrl}}" });
  expect(linked.html.trim()).toMatch(/^<p>http\S+<\/p>$/);
  expect(linked.text.trim()).toMatch(/^http\S+$/);
});

test("adds List-Unsubscribe with the contact's link to bulk mail only", async () => {
  const names = ["List-Unsubscribe", "List-Unsubscribe-Post"];
  for (const type of ["MARKETING", "HEADLESS", "TRANSACTIONAL"] as const) {
    const to = await makeContact(true);
    await send({ to, template: templates[type], body: "{{{unsubscribeUrl}}}" });
    const message = await messageTo(to);
    const own = [`<${message.html.trim()}>`, "List-Unsubscribe=One-Click"];
    const values = names.flatMap((name) => headerOf(message, name));
    expect(values).toEqual(type === "TRANSACTIONAL" ? [] : own);
  }
});

test("adds no footer to headless or transactional email with any data", async () => {
  const data = { unsubscribeFooterHtml: "<b>mine</b>", unsubscribeFooterText: "mine" };
  for (const type of ["HEADLESS", "TRANSACTIONAL"] as const) {
    const to = await makeContact(true);
    await send({ to, template: templates[type], data });
    expect((await messageTo(to)).html.trim()).toBe("<html><body><p>Thanks, you.</p></body></html>");
  }
  const to = await makeContact(true);
  await send({ to, template: templates.MARKETING, data });
  const message = await messageTo(to);
  expect(message.html).not.toContain("mine");
  expect(message.html).toContain("/unsubscribe/");
});

test("counts only sent emails in the usage of a template", async () => {
  const project: TestProject = await server.createProject();
  const [one, two] = [await makeTemplate({}, project.byKey), await makeTemplate({}, project.byKey)];
  const usage = async (id: string) =>
    (await server.call(templatesContract.getTemplateUsage, project.byKey, { params: { id } })).body;
  await send({ to: [newAddress(), newAddress()], template: one }, project.byKey);
  await send({ to: newAddress(), template: one, subject: "Other" }, project.byKey);
  await send({ to: "bounced@sandbox.localhost", template: one }, project.byKey);
  await send({ to: newAddress(), from: FROM, subject: "x", body: "x" }, project.byKey);
  await vi.waitFor(
    async () =>
      expect(await usage(one)).toEqual({ campaigns: [], workflowSteps: [], executions: [], emailsSent: 4 }),
    WAIT,
  );
  expect(await usage(two)).toMatchObject({ emailsSent: 0 });
  await server.rows(
    "update emails set status = 'UNCONFIRMED' where template_id = $1 and status = 'DELIVERED'",
    one,
  );
  await recountEmailsInSql(server.database, project.id);
  expect(await usage(one)).toMatchObject({ emailsSent: 1 });
});

test("names the template in the events of an email", async () => {
  const to = newAddress();
  const { body } = await send({ to, template: templates.TRANSACTIONAL });
  const path = `/events/contact/${body.data.emails[0]?.contact.id}`;
  await vi.waitFor(async () => {
    const { body: list } = await server.call<{ data: Array<{ name: string; data: unknown }> }>(
      "GET",
      path,
      server.project.byKey,
    );
    const reported = list.data.filter(({ name }) => name.startsWith("email."));
    expect(reported.map(({ name }) => name)).toEqual(["email.delivery", "email.sent"]);
    for (const { data } of reported) expect(data).toMatchObject({ templateId: templates.TRANSACTIONAL });
  }, WAIT);
});

test("sends the own texts of each concurrent call with the same template", async () => {
  const calls = Array.from({ length: 15 }, (_, at) => {
    const own = at % 3 === 0 ? {} : at % 3 === 1 ? { subject: `Own ${at}` } : { body: `<p>Own ${at}</p>` };
    return { to: newAddress(), own };
  });
  const replies = await Promise.all(
    calls.map(({ to, own }) => send({ to, template: templates.TRANSACTIONAL, ...own })),
  );
  for (const [at, { own }] of calls.entries()) {
    const id = replies[at]?.body.data.emails[0]?.email;
    const email = await server.call(emailsContract.getEmail, server.project.byKey, {
      params: { id: id ?? "" },
    });
    // With its variable filled in, or unchanged.
    const subject: unknown = expect.stringMatching(/^Order (\{\{order\}\})?$/);
    expect(email.body).toMatchObject({ subject, body: written.body, ...own });
  }
});

test("stores one content for many emails with the same template", async () => {
  const project = await server.createProject();
  const template = await makeTemplate({ type: "MARKETING" }, project.byKey);
  const to = Array.from({ length: 20 }, newAddress);
  await Promise.all(
    to.map((address) =>
      send({ to: address, template, subscribed: true, data: { order: address } }, project.byKey),
    ),
  );
  expect(
    await server.rows("select count(*)::int as count from email_contents where project_id = $1", project.id),
  ).toEqual([{ count: 1 }]);
});

test.for([
  [{ subject: "{{" }, ["subject custom"]],
  [{ body: "{{#if}}", text: "{{>x}}" }, ["body custom", "text custom"]],
  [{ template: "x".repeat(101) }, ["template too_big"]],
  [{ template: null }, ["template invalid_type"]],
] as Array<[object, string[]]>)("rejects %j with a template as without one", async ([own, faults]) => {
  expect(faultsOf(await refuse({ to: newAddress(), template: templates.MARKETING, ...own }))).toEqual(faults);
});

test("leaves room for a footer when it checks the size of a body", async () => {
  const to = await makeContact(true);
  const full = "{{a}}".repeat(1_500);
  expect(faultsOf(await refuse({ to, template: templates.MARKETING, body: full }))).toEqual(["body custom"]);
  expect((await send({ to, from: FROM, subject: "x", body: full })).status).toBe(200);
});

test("sends a template once per Idempotency-Key, and releases the key after an error", async () => {
  const to = newAddress();
  const caller = { ...server.project.byKey, headers: { "idempotency-key": "template" } };
  const body = { to, template: templates.MARKETING };
  expect((await send(body, caller)).status).toBe(403);
  const first = await send({ ...body, subscribed: true }, caller);
  expect(first.status).toBe(200);
  expect((await send({ ...body, subscribed: true }, caller)).body).toEqual(first.body);
  await messageTo(to);
});
