// Tests messages that name a template, whose parts come from the template and not from the message.
import { beforeAll, beforeEach, expect, test, vi } from "vitest";
import * as emails from "@postloft/contract/emails.ts";
import * as variants from "@postloft/contract/template-variants.ts";
import * as templates from "@postloft/contract/templates.ts";
import { ACCEPTED, FROM, startSubmitting, submit, type Submitting } from "../testing/submission.ts";
import { useTestServer, type TestProject } from "../testing/test-server.ts";

const server = useTestServer();
const WAIT = { timeout: 30_000, interval: 20 };

let at: Submitting;
let project: TestProject;
beforeAll(async () => {
  at = await startSubmitting(server);
});
beforeEach(async () => {
  project = await server.createProject();
  await addTemplate("Receipt", "TRANSACTIONAL");
});

async function addTemplate(name: string, type: string): Promise<void> {
  const { status } = await server.call("POST", "/templates", project.byKey, {
    name,
    type,
    subject: "Order {{order}}",
    body: "<p>Thank you, {{name}}.</p>",
    from: FROM,
  });
  expect(status).toBe(201);
}

const send = (headers: Record<string, string>, mail: object = {}) =>
  submit(at, project, { to: "ada@example.com", subject: "Ignored", text: "Ignored", ...mail, headers });
const countEmails = async () =>
  (await server.call(emails.listEmails, project.byKey, { query: {} })).body.total;

test("sends a template with the message's sender, reply address and data, to each recipient", async () => {
  const reply = await send(
    {
      "X-Postloft-Template": "Receipt",
      "X-Postloft-Data": '{"order":"17","name":"Ada"}',
      "X-Postloft-Tags": "receipts",
      "X-Postloft-Tracking": "false",
    },
    { from: `Shop <shop@sandbox.localhost>`, replyTo: "Help <help@example.com>" },
  );
  const id = ACCEPTED.exec(reply)?.[1] ?? reply;
  const read = async () => (await server.call(emails.getEmail, project.byKey, { params: { id } })).body;
  await vi.waitFor(async () => expect((await read()).status).toBe("DELIVERED"), WAIT);
  expect(await read()).toMatchObject({
    to: "ada@example.com",
    from: "shop@sandbox.localhost",
    subject: "Order 17",
    tags: ["receipts"],
  });
  const preview = await server.call(emails.previewEmail, project.byKey, { params: { id } });
  expect(preview.body.html).toContain("<p>Thank you, Ada.</p>");
  const headerOf = (name: string) => preview.body.headers.find((header) => header.name === name)?.value;
  expect(headerOf("From")).toMatch(/^"?Shop"? <shop@sandbox\.localhost>$/);
  expect(headerOf("Reply-To")).toMatch(/^"?Help"? <help@example\.com>$/);
});

test("sends a template in the language of the header, or else of the contact", async () => {
  const { body } = await server.call(templates.listTemplates, project.byKey);
  const params = { id: body.data[0]?.id ?? "", locale: "de" };
  const german = { subject: "Bestellung", body: "<p>Danke</p>" };
  await server.call(variants.saveTemplateVariant, project.byKey, { params, body: german });
  const contact = { email: "ada@example.com", data: { locale: "de-AT" } };
  await server.call("POST", "/contacts", project.byKey, contact);
  const cases: Array<[Record<string, string>, string | null]> = [
    [{}, "de"],
    [{ "X-Postloft-Locale": "fr" }, null],
    [{ "X-Postloft-Locale": "DE_ch" }, "de"],
  ];
  for (const [headers, locale] of cases) {
    const reply = await send({ "X-Postloft-Template": "Receipt", ...headers });
    const id = ACCEPTED.exec(reply)?.[1] ?? reply;
    const email = await server.call(emails.getEmail, project.byKey, { params: { id } });
    expect([headers, email.body.locale]).toEqual([headers, locale]);
  }
});

test("stores a repeated message with a template once, and accepts it also when the template is gone", async () => {
  const mail = { messageId: "<order-17@shop.example>" };
  const headers = { "X-Postloft-Template": "Receipt" };
  const reply = await send(headers, mail);
  expect(await send(headers, mail)).toBe(reply);
  await server.rows("update templates set name = 'Other' where project_id = $1", project.id);
  expect(await send(headers, mail)).toBe(reply);
  expect(await send(headers)).toBe("550 5.6.0 Template not found.");
  expect(await countEmails()).toBe(1);
});

test("rejects a message with a template and files, because they would be lost", async () => {
  const attachments = [{ filename: "a.txt", content: "12345" }];
  const alternatives = [{ contentType: "text/calendar", content: "BEGIN:VCALENDAR" }];
  const images = [{ cid: "logo", filename: "a.png", content: "12345" }];
  for (const mail of [{ attachments }, { alternatives }, { html: "<img src=cid:logo>", attachments: images }])
    expect(await send({ "X-Postloft-Template": "Receipt" }, mail)).toBe(
      "550 5.6.0 A message with X-Postloft-Template may contain texts only, no attachments or images",
    );
  expect(await send({ "X-Postloft-Template": "Receipt" }, { html: "<p>Hi</p>" })).toMatch(ACCEPTED);
});

test("rejects an unknown or ambiguous template, and values that need or don't fit one", async () => {
  await addTemplate("Twice", "TRANSACTIONAL");
  await server.rows(
    "update templates set name = 'Receipt' where project_id = $1 and name = 'Twice'",
    project.id,
  );
  const cases: ReadonlyArray<readonly [Record<string, string>, object, string]> = [
    [{ "X-Postloft-Template": "Nothing" }, {}, "550 5.6.0 Template not found."],
    [{ "X-Postloft-Template": "Receipt" }, {}, "550 5.6.0 Several templates are named ?Receipt?."],
    [{ "X-Postloft-Template": "x".repeat(500) }, {}, "550 5.6.0 X-Postloft-Template: "],
    [{ "X-Postloft-Data": "{}" }, {}, "550 5.6.0 The header X-Postloft-Data needs X-Postloft-Template"],
    [
      { "X-Postloft-Tracking": "false" },
      {},
      "550 5.6.0 The header X-Postloft-Tracking needs X-Postloft-Template",
    ],
    [
      { "X-Postloft-Template": "Receipt", "X-Postloft-Data": "{" },
      {},
      "550 5.6.0 The header X-Postloft-Data is not valid JSON",
    ],
    [{ "X-Postloft-Locale": "de" }, {}, "550 5.6.0 The header X-Postloft-Locale needs X-Postloft-Template"],
    [
      { "X-Postloft-Template": "Receipt", "X-Postloft-Locale": "german" },
      {},
      "550 5.6.0 X-Postloft-Locale: Must be a language tag",
    ],
    [{ "X-Postloft-Template": "Receipt", "X-Postloft-Data": "[]" }, {}, "550 5.6.0 X-Postloft-Data: "],
    [
      { "X-Postloft-Template": "Receipt", "X-Postloft-Tracking": '"no"' },
      {},
      "550 5.6.0 X-Postloft-Tracking: ",
    ],
  ];
  for (const [headers, mail, expected] of cases)
    expect((await send(headers, mail)).slice(0, expected.length)).toBe(expected);
  expect(await countEmails()).toBe(0);
});

test("rejects a marketing template to a contact who is not subscribed", async () => {
  await addTemplate("News", "MARKETING");
  expect(await send({ "X-Postloft-Template": "News" })).toMatch(
    /^550 5\.7\.1 ada@example\.com is not subscribed/,
  );
  expect(await countEmails()).toBe(0);
});
