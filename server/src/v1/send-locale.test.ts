// Templates with languages in POST /v1/send and its batches: which content each recipient gets.
import { beforeAll, expect, test } from "vitest";
import * as emails from "@postloft/contract/emails.ts";
import * as keys from "@postloft/contract/keys.ts";
import * as variants from "@postloft/contract/template-variants.ts";
import * as templates from "@postloft/contract/templates.ts";
import { faultsOf, useTestServer, type TestCaller } from "../testing/test-server.ts";

const server = useTestServer();
const WAIT = { timeout: 30_000, interval: 20 };
const FROM = "news@sandbox.localhost";

interface Sent {
  emails: Array<{ email: string }>;
}
type Type = "TRANSACTIONAL" | "MARKETING";

let count = 0;
const newAddress = () => `l${++count}@example.com`;

const TEXTS: Readonly<Record<string, string>> = { de: "Hallo", "de-AT": "Servus", "pt-BR": "Oi" };

async function addVariant(id: string, locale: string, subject: string): Promise<void> {
  const body = { subject, body: `<p>${subject} {{firstName}}, {{locale}}</p>` };
  const caller = server.project.byKey;
  expect(
    (await server.call(variants.saveTemplateVariant, caller, { params: { id, locale }, body })).status,
  ).toBe(200);
}

async function makeTemplate(type: Type = "TRANSACTIONAL", name = `Template ${++count}`): Promise<string> {
  const body = { name, type, subject: "Hi", body: "<p>Hi {{firstName}}, {{locale}}</p>", from: FROM };
  const { id } = (await server.call(templates.createTemplate, server.project.byKey, { body })).body;
  for (const [locale, subject] of Object.entries(TEXTS)) await addVariant(id, locale, subject);
  return id;
}

async function addContact(data: Readonly<Record<string, unknown>>): Promise<string> {
  const email = newAddress();
  await server.call("POST", "/contacts", server.project.byKey, { email, subscribed: true, data });
  return email;
}

const send = (body: object, caller: TestCaller = server.project.byKey) =>
  server.call<{ data: Sent }>("POST", "/v1/send", caller, { tracking: false, ...body });

async function sent(body: object, caller?: TestCaller): Promise<string[]> {
  const { status, body: response } = await send(body, caller);
  expect(status).toBe(200);
  return response.data.emails.map(({ email }) => email);
}

/** Returns the subject and the language of each email, and checks that its body is in the same language. */
async function contentsOf(ids: readonly string[]): Promise<Array<[string, string | null]>> {
  const contents: Array<[string, string | null]> = [];
  for (const id of ids) {
    const reply = await server.call(emails.getEmail, server.project.byKey, { params: { id } });
    expect([reply.status, reply.text]).toEqual([200, expect.stringContaining(`<p>${reply.body.subject} `)]);
    contents.push([reply.body.subject, reply.body.locale]);
  }
  return contents;
}

async function messageTo(address: string) {
  const list = () =>
    server.call<{ data: Array<{ id: string }> }>(
      "GET",
      `/mailbox/messages?to=${address}`,
      server.project.byKey,
    );
  await expect.poll(async () => (await list()).body.data.length, WAIT).toBe(1);
  const path = `/mailbox/messages/${(await list()).body.data[0]?.id}`;
  return (await server.call<{ subject: string; html: string }>("GET", path, server.project.byKey)).body;
}

let template = "";
beforeAll(async () => {
  template = await makeTemplate("TRANSACTIONAL", "Welcome");
});

test("shows the preview text of the language, unless the call has its own", async () => {
  const id = await makeTemplate();
  const body = { subject: "Hallo", previewText: "Neu {{firstName}}", body: "<p>Hallo </p>" };
  const params = { id, locale: "de" };
  await server.call(variants.saveTemplateVariant, server.project.byKey, { params, body });
  const htmlFor = async (call: object) => {
    const to = newAddress();
    await sent({ to, template: id, locale: "de", data: { firstName: "Ada" }, ...call });
    return (await messageTo(to)).html;
  };
  expect(await htmlFor({})).toContain("Neu Ada");
  expect(await htmlFor({ subject: "Own", body: "<p>Own</p>" })).not.toContain("Neu");
  expect(await htmlFor({ previewText: "Mine" })).toMatch(/Mine[^]*Hallo/);
  expect(await htmlFor({ previewText: null })).not.toContain("Neu");
});

test("gives each recipient of a call the language of its contact, then the language without region", async () => {
  const expected: Array<[unknown, string, string | null]> = [
    ["de-AT", "Servus", "de-AT"],
    ["de_at", "Servus", "de-AT"],
    ["de-CH", "Hallo", "de"],
    ["DE", "Hallo", "de"],
    ["deu", "Hallo", "de"],
    ["PT_br", "Oi", "pt-BR"],
    ["pt", "Hi", null],
    ["fr", "Hi", null],
    ["german", "Hi", null],
    [7, "Hi", null],
    [["de"], "Hi", null],
    [undefined, "Hi", null],
  ];
  const to: string[] = [];
  for (const [locale] of expected) to.push(await addContact(locale === undefined ? {} : { locale }));
  to.push(newAddress());
  const ids = await sent({ template: "Welcome", to });
  expect(await contentsOf(ids)).toEqual([
    ...expected.map(([, subject, locale]) => [subject, locale]),
    ["Hi", null],
  ]);
});

test("prefers the language of the call over that of its data and of the contact", async () => {
  const to = await addContact({ locale: "pt-BR" });
  const unknown = newAddress();
  const cases: Array<[object, string, string | null]> = [
    [{ locale: "de-AT" }, "Servus", "de-AT"],
    [{ locale: "DE_ch", data: { locale: "pt-BR" } }, "Hallo", "de"],
    [{ locale: "fr" }, "Hi", null],
    [{ data: { locale: { value: "de", persistent: false } } }, "Hallo", "de"],
    [{ data: { locale: { value: null, persistent: false } } }, "Hi", null],
    [{}, "Oi", "pt-BR"],
    [{ data: { locale: "de" } }, "Hallo", "de"],
    [{}, "Hallo", "de"],
    [{ data: { locale: null } }, "Hi", null],
    [{ to: unknown, data: { locale: "de" } }, "Hallo", "de"],
  ];
  for (const [body, subject, locale] of cases)
    expect([body, ...(await contentsOf(await sent({ template, to, ...body })))]).toEqual([
      body,
      [subject, locale],
    ]);
});

test("uses the language of a call for its emails only, also in variables and the footer", async () => {
  const marketing = await makeTemplate("MARKETING");
  const to = await addContact({ locale: "pt-BR", firstName: "Ada" });
  await sent({ template: marketing, to, locale: "de-CH" });
  const { subject, html } = await messageTo(to);
  expect(subject).toBe("Hallo");
  expect(html).toContain("<p>Hallo Ada, de-CH</p>");
  expect(html).toContain('<div lang="de"');
  const [row] = await server.rows<{ locale: string }>(
    "select data ->> 'locale' as locale from contacts where email = $1",
    to,
  );
  expect(row?.locale).toBe("pt-BR");
});

test("keeps the subject of a call in every language, and no language for texts that replace the template", async () => {
  const to = [await addContact({ locale: "de" }), await addContact({})];
  const ids = await sent({ template, to, subject: "Hallo" });
  const bodies = await Promise.all(
    ids.map(
      async (id) => (await server.call(emails.getEmail, server.project.byKey, { params: { id } })).body,
    ),
  );
  expect(bodies.map(({ subject, body, locale }) => [subject, body.slice(0, 8), locale])).toEqual([
    ["Hallo", "<p>Hallo", "de"],
    ["Hallo", "<p>Hi {{", null],
  ]);
  const [id = ""] = await sent({ template, to: to[0], subject: "Own", body: "<p>Own text</p>" });
  const own = await server.call(emails.getEmail, server.project.byKey, { params: { id } });
  expect(own.body).toMatchObject({ body: "<p>Own text</p>", locale: null });
});

test("chooses the language of each email in a batch of different emails", async () => {
  const others = [await makeTemplate(), await makeTemplate()];
  const locales = [...Object.keys(TEXTS), "fr", undefined];
  const contacts: string[] = [];
  for (const locale of locales) contacts.push(await addContact(locale === undefined ? {} : { locale }));
  const body = {
    emails: Array.from({ length: 60 }, (_none, n) => ({
      to: contacts[n % contacts.length],
      template: others[n % 2],
      ...(n % 3 === 0 ? { locale: "de" } : {}),
      data: { n },
      tracking: false,
    })),
  };
  const reply = await server.call<{ data: { results: Array<{ data: Sent }> } }>(
    "POST",
    "/v1/send/batch",
    server.project.byKey,
    body,
  );
  expect(reply.status).toBe(200);
  const contents = await contentsOf(reply.body.data.results.map(({ data }) => data.emails[0]?.email ?? ""));
  contents.forEach(([subject, locale], n) => {
    const wish = n % 3 === 0 ? "de" : locales[n % contacts.length];
    const expected = TEXTS[wish ?? ""];
    expect([n, subject, locale]).toEqual([n, expected ?? "Hi", expected === undefined ? null : wish]);
  });
});

test("chooses the language under a test key, which stores no data", async () => {
  const { body: made } = await server.call(
    keys.createKey,
    { cookie: server.project.owner.cookie },
    { params: { projectId: server.project.id }, body: { name: "Test", scopes: ["test:send"] } },
  );
  const caller = { key: made.data.key };
  const to = await addContact({ locale: "de" });
  expect(await contentsOf(await sent({ template, to }, caller))).toEqual([["Hallo", "de"]]);
  expect(await contentsOf(await sent({ template, to, locale: "pt-BR" }, caller))).toEqual([["Oi", "pt-BR"]]);
  expect(await contentsOf(await sent({ template, to, data: { locale: "de-AT" } }, caller))).toEqual([
    ["Servus", "de-AT"],
  ]);
});

test("keeps the language of an accepted email when it is changed or removed", async () => {
  const changing = await makeTemplate();
  const scheduledFor = new Date(Date.now() + 3_600_000).toISOString();
  const ids = await sent({ template: changing, to: newAddress(), locale: "de", scheduledFor });
  await addVariant(changing, "de", "Moin");
  expect(await contentsOf(ids)).toEqual([["Hallo", "de"]]);
  const params = { id: changing, locale: "de" };
  await server.call(variants.deleteTemplateVariant, server.project.byKey, { params });
  expect(await contentsOf(ids)).toEqual([["Hallo", "de"]]);
});

test("sends subject and body in the same language while that language is replaced", async () => {
  const changing = await makeTemplate();
  const params = { id: changing, locale: "de" };
  const ids: string[] = [];
  let isOver = false;
  const change = async () => {
    while (!isOver) {
      await server.call(variants.deleteTemplateVariant, server.project.byKey, { params });
      await addVariant(changing, "de", "Hallo");
    }
  };
  const sendAll = async () => {
    try {
      for (let n = 0; n < 40; n++)
        ids.push(...(await sent({ template: changing, to: newAddress(), locale: "de" })));
    } finally {
      isOver = true;
    }
  };
  await Promise.all([change(), sendAll()]);
  for (const content of await contentsOf(ids))
    expect([
      ["Hallo", "de"],
      ["Hi", null],
    ]).toContainEqual(content);
});

test("rejects a malformed language by its field, also in a batch", async () => {
  for (const locale of ["german", "", "de-", 7, null, ["de"]]) {
    const reply = await send({ template, to: newAddress(), locale });
    expect([locale, reply.status, faultsOf(reply)[0]?.split(" ")[0]]).toEqual([locale, 422, "locale"]);
  }
  const body = {
    emails: [
      { template, to: newAddress(), locale: "german" },
      { template, to: newAddress() },
    ],
  };
  const reply = await server.call("POST", "/v1/send/batch", server.project.byKey, body);
  expect(reply.body).toMatchObject({
    data: {
      accepted: 1,
      results: [
        { error: { errors: [{ field: "emails.0.locale", code: "invalid_string" }] } },
        { success: true },
      ],
    },
  });
});
