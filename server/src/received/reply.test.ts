// Conversations: which thread a received email belongs to, and replies that continue it.
import { expect, test, vi } from "vitest";
import * as mailboxContract from "@postloft/contract/mailbox.ts";
import * as received from "@postloft/contract/received-emails.ts";
import * as v1 from "@postloft/contract/v1.ts";
import { OUTBOX_WAIT } from "../testing/outbox-fixture.ts";
import { addReceivedEmails, type ToReceive } from "../testing/received-email.ts";
import { errorOf, useTestServer, type TestProject } from "../testing/test-server.ts";
import { subjectOf, threadHeaders } from "./reply.ts";

const server = useTestServer();
const FROM = "Shop <hello@sandbox.localhost>";

async function receive(project: TestProject, email: ToReceive): Promise<string> {
  const [stored] = await addReceivedEmails(server.database, project.id, [email]);
  return stored?.id ?? "";
}

const get = async ({ byKey }: TestProject, id: string) => {
  const { body } = await server.call(received.listReceived, byKey);
  return body.data.find((email) => email.id === id);
};
const reply = (project: TestProject, id: string, body: object, headers = {}) =>
  server.call(
    received.replyToReceived,
    { ...project.byKey, headers },
    { params: { id }, body: { body: "<p>Soon</p>", from: FROM, ...body } },
  );

/** Waits for the message to an address and returns it. */
async function messageTo({ byKey }: TestProject, to: string) {
  return vi.waitFor(async () => {
    const { body } = await server.call(mailboxContract.listMessages, byKey, { query: { to } });
    expect(body.data).toHaveLength(1);
    const params = { id: body.data[0]?.id ?? "" };
    const { body: message } = await server.call(mailboxContract.getMessage, byKey, { params });
    const field = (name: string) => message.headers.find((one) => one.name === name)?.value;
    return { ...message, field };
  }, OUTBOX_WAIT);
}

test("sends a reply to Reply-To that continues the conversation, with a copy of no stranger's template", async () => {
  const project = await server.createProject();
  const id = await receive(project, {
    header: {
      subject: "Order {{secret}}",
      replyTo: "Desk@Example.com",
      messageId: "<2@example.com>",
      references: "<0@example.com> <1@example.com>",
    },
  });
  expect((await reply(project, id, {})).status).toBe(200);
  const message = await messageTo(project, "desk@example.com");
  expect(message).toMatchObject({ subject: "Re: Order {{secret}}", html: expect.stringContaining("Soon") });
  expect([message.field("In-Reply-To"), message.field("References")]).toEqual([
    "<2@example.com>",
    "<0@example.com> <1@example.com> <2@example.com>",
  ]);
  const { body } = await server.call(v1.track, project.byKey, {
    body: { email: "desk@example.com", event: "x" },
  });
  const [contact] = await server.rows("select data from contacts where id = $1", body.data.contact);
  expect(contact).toEqual({ data: {} });
});

test("asks for answers at the inbound address while the project has it", async () => {
  const project = await server.createProject();
  const [{ name } = { name: "" }] = await server.rows<{ name: string }>(
    "select inbound_name as name from projects where id = $1",
    project.id,
  );
  const id = await receive(project, { from: "bob@example.com" });
  await server.rows("update received_emails set recipient = $1 where id = $2", `${name}@in.example`, id);
  await reply(project, id, { subject: "Own subject" });
  const message = await messageTo(project, "bob@example.com");
  expect([message.subject, message.field("Reply-To")]).toEqual(["Own subject", `${name}@in.example`]);
  const old = await receive(project, { from: "carol@example.com" });
  await reply(project, old, {});
  expect((await messageTo(project, "carol@example.com")).field("Reply-To")).toBeUndefined();
});

test("sends a reply once for a repeated idempotency key, and checks it like any email", async () => {
  const project = await server.createProject();
  const id = await receive(project, {});
  const once = { "idempotency-key": "once" };
  const first = await reply(project, id, {}, once);
  const again = await reply(project, id, {}, once);
  expect([again.headers.get("idempotency-replayed"), again.text]).toEqual(["true", first.text]);
  expect(await server.rows("select 1 from emails where project_id = $1", project.id)).toHaveLength(1);
  expect(errorOf(await reply(project, id, { from: "a@unverified.example" }))).toBe("403 DOMAIN_NOT_VERIFIED");
  expect(errorOf(await reply(project, id, { body: "{{#if" }))).toBe("422 VALIDATION_ERROR");
  expect(errorOf(await reply(project, id, { to: "eve@example.com" }))).toBe("422 VALIDATION_ERROR");
  expect(errorOf(await reply(project, "none", {}))).toBe("404 EMAIL_NOT_FOUND");
  expect(await server.rows("select 1 from emails where project_id = $1", project.id)).toHaveLength(1);
});

test("joins the thread of a sent email, of a received one, or of the same batch", async () => {
  const project = await server.createProject();
  const other = await server.createProject();
  const sent = await server.call(v1.send, project.byKey, {
    body: { to: "ada@example.com", from: FROM, subject: "s", body: "b" },
  });
  const emailId = sent.body.data.emails[0]?.email ?? "";
  const ours = `<${emailId}@sandbox.localhost>`;
  const first = await receive(project, { header: { inReplyTo: ours, messageId: "<a@example.com>" } });
  expect(await get(project, first)).toMatchObject({ threadId: emailId, emailId });
  const second = await receive(project, {
    header: { references: "<a@example.com>", messageId: "<b@example.com>" },
  });
  expect(await get(project, second)).toMatchObject({ threadId: emailId, emailId: null });
  const foreign = await receive(other, { header: { inReplyTo: ours, references: "<a@example.com>" } });
  expect(await get(other, foreign)).toMatchObject({ threadId: foreign, emailId: null });
  const [start, next] = await addReceivedEmails(server.database, project.id, [
    { header: { messageId: "<c@example.com>" } },
    { header: { messageId: "<d@example.com>", inReplyTo: "<c@example.com>" } },
  ]);
  expect(await get(project, next?.id ?? "")).toMatchObject({ threadId: start?.id });
  await server.rows("update emails set provider_message_id = '0100-abc' where id = $1", emailId);
  const bySes = await receive(project, { header: { inReplyTo: "<0100-abc@email.amazonses.com>" } });
  expect(await get(project, bySes)).toMatchObject({ threadId: emailId, emailId });
});

test("makes a subject that is never a template and fits its limit", () => {
  expect(subjectOf({ subject: "Hi" })).toEqual({ subject: "Re: Hi" });
  expect(subjectOf({ subject: "RE: Hi" })).toEqual({ subject: "RE: Hi" });
  expect(subjectOf({ subject: null })).toEqual({ subject: "Re:" });
  expect(subjectOf({ subject: "a\r\nb" })).toEqual({ subject: "Re: a b" });
  expect(subjectOf({ subject: "x".repeat(998) }).subject).toHaveLength(998);
  expect(subjectOf({ subject: "{{{a}}}" }).data).toEqual({
    receivedSubject: { value: "Re: {{{a}}}", persistent: false },
  });
});

test("keeps the first and the newest references that fit into a header field", () => {
  const ids = Array.from({ length: 50 }, (_, at) => `${at}-${"x".repeat(50)}@example.com`);
  const { References = "" } = threadHeaders({ messageId: "new@example.com", referenceIds: ids });
  expect(References.length).toBeLessThanOrEqual(998);
  const kept = References.split(" ");
  expect([kept[0], kept.at(-1), kept.at(-2)]).toEqual([`<${ids[0]}>`, "<new@example.com>", `<${ids[49]}>`]);
  expect(threadHeaders({ messageId: null, referenceIds: ids })).toEqual({});
});
