// Tests POST /templates/preview, which uses the renderer that also sends, and its warnings.
import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import * as contacts from "@postloft/contract/contacts.ts";
import * as projects from "@postloft/contract/projects.ts";
import * as trials from "@postloft/contract/template-trials.ts";
import { faultsOf, errorOf, useTestServer, type TestCaller } from "../testing/test-server.ts";

const server = useTestServer({ ROLES: "api" });

const plain = { subject: "Hi {{firstName}}", body: "<p>Hi {{firstName}}</p>" };
const preview = async (body: object, caller: TestCaller = server.project.byKey) =>
  (await server.call(trials.previewTemplate, caller, { body: { ...plain, ...body } })).body;
const refuse = (body: object, caller: TestCaller = server.project.byKey) =>
  server.call("POST", "/templates/preview", caller, { ...plain, ...body });

async function makeContact(data: object, caller: TestCaller = server.project.byKey) {
  const contact = { email: `p${randomUUID()}@example.com`, subscribed: false, data };
  return (await server.call(contacts.upsertContact, caller, { anyBody: contact })).body;
}

test("shows the contact's data overridden by the given data, escaped in HTML but not in text", async () => {
  const { id, email } = await makeContact({ firstName: "Ada <b>", plan: "pro", gone: "x", locale: "de" });
  const body =
    '{{firstName}}|{{data.plan}}|{{gone ?? "none"}}|{{code}}|{{email}}|{{id}}|{{subscribed}}|{{locale}}|{{missing}}';
  const data = {
    plan: "free",
    gone: null,
    code: { value: "once", persistent: false },
    email: "evil@example.com",
  };
  const shown = await preview({ body, contactId: id, data });
  expect(shown).toMatchObject({
    subject: "Hi Ada <b>",
    html: `Ada &lt;b&gt;|free|none|once|${email}|${id}|false|de|`,
    text: `Ada <b>|free|none|once|${email}|${id}|false|de|`,
  });
  const stored = await server.call(contacts.getContact, server.project.byKey, { params: { id } });
  expect(stored.body).toMatchObject({ data: { plan: "pro", gone: "x" } });
});

test("returns the text that inboxes show after the subject, which is hidden in the email", async () => {
  const data = { firstName: "<Ada>" };
  const shown = await preview({ previewText: "For {{firstName}}", data });
  expect(shown).toMatchObject({ previewText: "For <Ada>", text: "Hi <Ada>" });
  expect(shown.html).toContain("For &lt;Ada&gt;&zwnj;");
  expect(await preview({ data })).toMatchObject({ previewText: "Hi <Ada>", html: "<p>Hi &lt;Ada&gt;</p>" });
  expect(faultsOf(await refuse({ previewText: "{{#if}}" }))).toEqual(["previewText custom"]);
});

test("renders for an example recipient or for the given data without a contact", async () => {
  expect(await preview({ body: "{{email}} {{subscribed}} {{id}}." })).toMatchObject({
    subject: "Hi ",
    html: "recipient@example.com true .",
  });
  expect(await preview({ data: { firstName: "Ada" } })).toMatchObject({
    subject: "Hi Ada",
    html: "<p>Hi Ada</p>",
  });
});

test("stores, counts and sends nothing", async () => {
  const { id } = await makeContact({});
  const before = await server.countRows();
  await preview({ contactId: id, data: { neverSeen: 1 }, type: "MARKETING" });
  expect(await server.countRows()).toEqual(before);
});

test("adds the footer in the contact's language only to marketing without its own link", async () => {
  const { id } = await makeContact({ firstName: "Ada", locale: "de-AT" });
  const marketing = await preview({ contactId: id, type: "MARKETING", body: "<body><p>Hi</p></body>" });
  expect(marketing.html).toMatch(/^<body><p>Hi<\/p><div><div lang="de".*Abmelden.*<\/div><\/div><\/body>$/s);
  expect(marketing.html).toContain("A project");
  expect(marketing.text).toMatch(/^Hi\n\nSie erhalten .*\nAbmelden: http/s);
  expect(marketing.warnings.map(({ code }) => code)).toContain("unsubscribe_link_added");
  const english = await preview({ type: "MARKETING" });
  expect(english.html).toContain('lang="en"');
  const own = await preview({ type: "MARKETING", body: "{{unsubscribeUrl}}" });
  expect(own.html).toMatch(/^http[^<]*$/);
  for (const type of ["HEADLESS", "TRANSACTIONAL", undefined])
    expect((await preview({ type })).html).toBe("<p>Hi </p>");
});

test("uses the project's language for the footer when the contact's is not supported", async () => {
  const project = await server.createProject();
  const session = { cookie: project.owner.cookie };
  await server.call(projects.updateProject, session, {
    params: { projectId: project.id },
    body: { language: "fr" },
  });
  const { id } = await makeContact({ locale: "xx" }, project.byKey);
  expect((await preview({ contactId: id, type: "MARKETING" }, project.byKey)).html).toContain('lang="fr"');
  expect((await preview({ type: "MARKETING" }, project.byKey)).html).toContain('lang="fr"');
  const chosen = { type: "MARKETING", data: { locale: "es" } };
  expect((await preview(chosen, project.byKey)).html).toContain('lang="es"');
});

test("shows complete links that belong to no contact", async () => {
  const { id } = await makeContact({});
  const { html } = await preview({
    contactId: id,
    body: "{{{unsubscribeUrl}}} {{{subscribeUrl}}} {{{manageUrl}}}",
  });
  const [unsubscribe, subscribe, manage] = html.split(" ");
  const base = `http://localhost:${new URL(server.url).port}`;
  for (const [url, purpose] of [
    [unsubscribe, "unsubscribe"],
    [subscribe, "subscribe"],
    [manage, "manage"],
  ])
    expect(url).toMatch(new RegExp(`^${base}/${purpose}/[\\w-]{64}$`));
  const token = Buffer.from(unsubscribe?.split("/").at(-1) ?? "", "base64url").toString("hex");
  expect(token).not.toContain(id.replaceAll("-", ""));
});

test("warns about variables that no contact ever had", async () => {
  const project = await server.createProject();
  await makeContact({ plan: "pro", "first name": "x" }, project.byKey);
  const body = "{{plan}} {{[first name]}} {{plam}} {{data.plam}} {{lent}} {{#each items}}{{x}}{{/each}}";
  const { warnings } = await preview({ body, data: { lent: 1 }, type: "TRANSACTIONAL" }, project.byKey);
  expect(warnings).toMatchObject([
    {
      code: "unknown_variable",
      message: expect.stringContaining('"firstName"'),
      messageParts: [{ code: "unknown_variable", values: { name: "firstName" } }],
      where: { field: "subject", line: 1, column: 6 },
    },
    { code: "unknown_variable", message: expect.stringContaining('"plam"'), where: expect.anything() },
    { code: "unknown_variable", message: expect.stringContaining('"items"'), where: expect.anything() },
  ]);
});

test("measures the rendered size of the HTML", async () => {
  const data = { many: Array.from({ length: 300 }, () => "x".repeat(400)) };
  const { warnings } = await preview({
    body: "{{#each many}}{{this}}{{/each}}",
    data,
    type: "TRANSACTIONAL",
  });
  expect(warnings.map(({ code }) => code)).toContain("html_large");
});

test.for([
  ["no subject and no body", { subject: undefined, body: undefined }, ["body required", "subject required"]],
  ["invalid variables", { subject: "{{", body: "{{#if}}" }, ["body custom", "subject custom"]],
  ["an invalid contact id", { contactId: "x" }, ["contactId invalid_string"]],
  ["an unknown type", { type: "x" }, ["type invalid_enum_value"]],
  ["invalid data", { data: [] }, ["data invalid_type"]],
  ["dangerous keys", { data: { constructor: 1 } }, ["data.constructor custom"]],
] as Array<[string, object, string[]]>)("rejects %s with 422", async ([, body, faults]) => {
  const reply = await refuse(body);
  expect(reply.status).toBe(422);
  expect(faultsOf(reply)).toEqual(faults);
});

test("does not find a missing contact or one of another project", async () => {
  const other = await server.createProject();
  const theirs = await makeContact({}, other.byKey);
  expect(errorOf(await refuse({ contactId: theirs.id }))).toBe("404 CONTACT_NOT_FOUND");
  expect(errorOf(await refuse({ contactId: randomUUID() }))).toBe("404 CONTACT_NOT_FOUND");
});

test("rejects a template that is too slow or too large with the reason and renders others", async () => {
  const list = Array.from({ length: 3_000 }, (_, at) => at);
  const bomb = "{{#each list}}{{#each ../list}}{{#each ../../list}}x{{/each}}{{/each}}{{/each}}";
  const slow = await refuse({ body: bomb, data: { list } });
  expect(faultsOf(slow)).toEqual(["body custom"]);
  expect(slow.body.error.errors?.[0]?.message).toMatch(/longer than 250 ms|memory|larger than/);
  const body = "{{#each list}}{{../text}}{{/each}}";
  const data = { list: list.slice(0, 70), text: "x".repeat(100_000) };
  // A new thread on a busy machine may exceed the time limit at first, and a template that does so repeatedly is refused for a minute.
  let tries = 0;
  const reason = async () =>
    (await refuse({ subject: `Try ${++tries}`, body, data })).body.error.errors?.[0]?.message;
  await expect.poll(reason).toMatch(/larger than 6 MB/);
  expect(await preview({ data: { firstName: "Ada" } })).toMatchObject({ subject: "Hi Ada" });
});

test("does not run data as template code", async () => {
  const shown = await preview({ data: { firstName: "{{email}}{{#if}}" } });
  expect(shown.subject).toBe("Hi {{email}}{{#if}}");
});

test("returns the same preview for the same Idempotency-Key", async () => {
  const caller = { ...server.project.byKey, headers: { "idempotency-key": "preview" } };
  const first = await server.call(trials.previewTemplate, caller, { body: plain });
  const second = await server.call(trials.previewTemplate, caller, { body: plain });
  expect(second.body).toEqual(first.body);
  expect(second.headers.get("idempotency-replayed")).toBe("true");
});
