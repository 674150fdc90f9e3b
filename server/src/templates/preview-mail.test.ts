// What a mail says to its recipient, shown again: its own variables, its contact's data, no doors that could be used.
import { expect, test } from "vitest";
import { refusalOf, useTestServer } from "../testing/test-server.ts";
import type { MailPreview } from "./preview-mail.ts";

const server = useTestServer();

const BODY =
  "<p>Hello {{name}}, {{code}}</p><a href='https://shop.example'>Shop</a><a href='{{unsubscribeUrl}}'>Stop</a>";

async function sendOne(mail: object = {}) {
  const project = await server.createProject();
  const { byKey } = project;
  await server.call("POST", "/contacts", byKey, { email: "ada@example.com", data: { name: "Ada" } });
  const { body } = await server.call<{ data: { emails: Array<{ email: string }> } }>(
    "POST",
    "/v1/send",
    byKey,
    {
      to: "ada@example.com",
      from: "hello@sandbox.localhost",
      subject: "Code {{code}}",
      body: BODY,
      data: { code: { value: "1234", persistent: false } },
      ...mail,
    },
  );
  const id = body.data.emails[0]?.email ?? "";
  const preview = () => server.call<MailPreview>("GET", `/emails/${id}/preview`, byKey);
  return { project, byKey, id, preview };
}

test("it says what the recipient reads, and is in the mailbox byte for byte; its links count nothing and unsubscribe nobody", async () => {
  const { byKey, preview } = await sendOne();
  await expect.poll(async () => (await preview()).body.mailboxMessageId).not.toBeNull();
  const { body } = await preview();
  expect(body).toMatchObject({ subject: "Code 1234", html: expect.stringContaining("Hello Ada, 1234") });
  expect(body.text).toContain("Hello Ada, 1234");
  // No tracking, and nobody's links.
  expect(body.html).toContain("https://shop.example");
  expect(body.html).not.toContain("<img");
  const [, unsubscribe] = /href=["']([^"']*unsubscribe[^"']*)["']/.exec(body.html) ?? [];
  await fetch(unsubscribe ?? "", { method: "POST" });
  const { body: list } = await server.call<{ data: Array<{ subscribed: boolean }> }>(
    "GET",
    "/contacts",
    byKey,
  );
  expect(list.data.map(({ subscribed }) => subscribed)).toEqual([true]);
  const message = await server.call<{ subject: string }>(
    "GET",
    `/mailbox/messages/${body.mailboxMessageId ?? ""}`,
    byKey,
  );
  expect(message.body.subject).toBe("Code 1234");
});

test("after the contact changed it says so; of a mail that is forgotten nothing, of another project's it knows nothing", async () => {
  const { byKey, id, preview } = await sendOne();
  await server.call("POST", "/contacts", byKey, { email: "ada@example.com", data: { name: "Countess" } });
  expect((await preview()).body.html).toContain("Hello Countess, 1234");
  const status = async () =>
    (await server.call<{ status: string }>("GET", `/emails/${id}`, byKey)).body.status;
  await expect.poll(status).toBe("DELIVERED");
  await server.rows("update emails set forgotten_at = now() where id = $1", id);
  expect((await preview()).body).toEqual({ subject: "", html: "", text: "", mailboxMessageId: null });
  const other = await server.createProject();
  expect(refusalOf(await server.call("GET", `/emails/${id}/preview`, other.byKey))).toBe(
    "404 EMAIL_NOT_FOUND",
  );
  expect(refusalOf(await server.call("GET", "/emails/x/preview", byKey))).toBe("404 EMAIL_NOT_FOUND");
});
