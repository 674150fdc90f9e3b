// Tests the preview of an email: its own variables, its contact's data, and links that have no effect.
import { expect, test } from "vitest";
import * as contacts from "@postloft/contract/contacts.ts";
import * as emails from "@postloft/contract/emails.ts";
import * as mailbox from "@postloft/contract/mailbox.ts";
import * as templates from "@postloft/contract/templates.ts";
import { errorOf, useTestServer } from "../testing/test-server.ts";
import type { MailPreview } from "./preview-mail.ts";

const server = useTestServer();

const BODY =
  "<p>Hello {{name}}, {{code}}</p><a href='https://shop.example'>Shop</a><a href='{{unsubscribeUrl}}'>Stop</a>";

/** @param type of the template; without one the email has its own subject and body */
async function sendOne(mail: object = {}, type?: string) {
  const project = await server.createProject();
  const { byKey } = project;
  await server.call(contacts.upsertContact, byKey, {
    body: { email: "ada@example.com", data: { name: "Ada" } },
  });
  const written = { from: "hello@sandbox.localhost", subject: "Code {{code}}", body: BODY };
  const template = { name: "News", type, ...written };
  const said =
    type === undefined
      ? written
      : { template: (await server.call(templates.createTemplate, byKey, { anyBody: template })).body.id };
  const { body } = await server.call<{ data: { emails: Array<{ email: string }> } }>(
    "POST",
    "/v1/send",
    byKey,
    {
      to: "ada@example.com",
      ...said,
      data: { code: { value: "1234", persistent: false } },
      ...mail,
    },
  );
  const id = body.data.emails[0]?.email ?? "";
  const preview = () => server.call(emails.previewEmail, byKey, { params: { id } });
  return { project, byKey, id, preview };
}

test("shows the recipient's text, equal to the mailbox copy, with links that have no effect", async () => {
  const { byKey, preview } = await sendOne();
  await expect.poll(async () => (await preview()).body.mailboxMessageId).not.toBeNull();
  const { body } = await preview();
  expect(body).toMatchObject({ subject: "Code 1234", html: expect.stringContaining("Hello Ada, 1234") });
  expect(body.text).toContain("Hello Ada, 1234");
  // Untracked, with links that belong to no contact.
  expect(body.html).toContain("https://shop.example");
  expect(body.html).not.toContain("<img");
  const [, unsubscribe] = /href=["']([^"']*unsubscribe[^"']*)["']/.exec(body.html) ?? [];
  await fetch(unsubscribe ?? "", { method: "POST" });
  const { body: list } = await server.call(contacts.listContacts, byKey);
  expect(list.data.map(({ subscribed }) => subscribed)).toEqual([true]);
  const message = await server.call(mailbox.getMessage, byKey, {
    params: { id: body.mailboxMessageId ?? "" },
  });
  expect(message.body.subject).toBe("Code 1234");
});

/** Headers that only the mailbox copy has: those about the parts, and those that prove the origin. */
const OF_THE_MESSAGE_ALONE = /^(content-type|x-postloft-id)$/i;

/** Only the message has the recipient's own unsubscribe link. */
const shown = (all: MailPreview["headers"]) =>
  all.map(({ name, value }) => `${name}: ${name === "List-Unsubscribe" ? "" : value}`);

test.each<[string, object, string?]>([
  [
    "a single email",
    {
      to: { name: "Ada Müller", email: "ada@example.com" },
      cc: "grace@example.com",
      reply: "answers@example.com",
      headers: { "X-Order": "17, <b>" },
    },
  ],
  ["bulk mail", {}, "MARKETING"],
])("shows the same headers as the message of %s", async (_what, mail, type) => {
  const { byKey, preview } = await sendOne(mail, type);
  await expect.poll(async () => (await preview()).body.mailboxMessageId).not.toBeNull();
  const { headers, mailboxMessageId } = (await preview()).body;
  const { body: kept } = await server.call(mailbox.getMessage, byKey, {
    params: { id: mailboxMessageId ?? "" },
  });
  expect(shown(headers)).toEqual(shown(kept.headers.filter(({ name }) => !OF_THE_MESSAGE_ALONE.test(name))));
  expect(headers).toContainEqual({ name: "Subject", value: "Code 1234" });
});

test("uses the contact's current data, and shows nothing of redacted or foreign emails", async () => {
  const { byKey, id, preview } = await sendOne();
  await server.call(contacts.upsertContact, byKey, {
    body: { email: "ada@example.com", data: { name: "Countess" } },
  });
  expect((await preview()).body.html).toContain("Hello Countess, 1234");
  const status = async () => (await server.call(emails.getEmail, byKey, { params: { id } })).body.status;
  await expect.poll(status).toBe("DELIVERED");
  await server.rows("update emails set forgotten_at = now() where id = $1", id);
  expect((await preview()).body).toEqual({
    subject: "",
    html: "",
    text: "",
    headers: [],
    mailboxMessageId: null,
  });
  const other = await server.createProject();
  expect(errorOf(await server.call(emails.previewEmail, other.byKey, { params: { id } }))).toBe(
    "404 EMAIL_NOT_FOUND",
  );
  expect(errorOf(await server.call(emails.previewEmail, byKey, { params: { id: "x" } }))).toBe(
    "404 EMAIL_NOT_FOUND",
  );
});
