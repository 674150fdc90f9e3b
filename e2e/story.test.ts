// Plays an installation's first day: an empty folder becomes a service, emails are sent, and a restart changes nothing.
import { afterEach, beforeEach, expect, test } from "vitest";
import {
  createApiClient,
  type ApiClient,
  type EmailItem,
  type MessageItem,
  type Sent,
  type Tracked,
} from "./api-client.ts";
import { BOOTSTRAP, makeDataFolder, startProgram, type Program } from "./program.ts";
import { waitUntil } from "./wait-until.ts";

const DELIVERY_TIMEOUT_MS = 45_000;
const DRAIN_MS = 20_000;

let folder: Awaited<ReturnType<typeof makeDataFolder>>;
let program: Program | undefined;

beforeEach(async () => {
  folder = await makeDataFolder();
});
afterEach(async () => {
  await program?.kill();
  program = undefined;
  await folder.remove();
});

async function start(settings: Readonly<Record<string, string>>): Promise<ApiClient> {
  program = await startProgram({ DATA_DIR: folder.path, ...settings });
  return createApiClient(program.url);
}

async function waitForDelivery(api: ApiClient, emailId: string): Promise<MessageItem> {
  await waitUntil(`the delivery of ${emailId}`, DELIVERY_TIMEOUT_MS, async () => {
    const { status } = await api.get<EmailItem>(`/emails/${emailId}`);
    return status === "DELIVERED";
  });
  const messages = await api.listAll<MessageItem>("/mailbox/messages");
  const [message, ...more] = messages.filter((one) => one.emailId === emailId);
  if (message === undefined || more.length > 0) throw new Error(`${emailId} has ${messages.length} messages`);
  return message;
}

test("settings alone turn an empty folder into a service, and its data survives a restart", async () => {
  const api = await start(BOOTSTRAP);
  const tracked = await api.post<Tracked>("/v1/track", {
    email: "Ada@Example.com",
    event: "signed up",
    data: { plan: "pro", from: { value: "an ad", persistent: false } },
  });
  const sent = await api.post<Sent>("/v1/send", {
    from: { name: "Us", email: "hello@sandbox.localhost" },
    to: "ada@example.com",
    subject: "Hello {{name}}",
    body: "<p>Your plan is <b>{{plan}}</b>, {{name}}.</p>",
    data: { name: "Ada" },
  });
  const emailId = sent.data.emails[0]?.email ?? "";
  expect(sent.data.emails).toEqual([
    { contact: { id: tracked.data.contact, email: "ada@example.com" }, email: emailId },
  ]);

  const message = await waitForDelivery(api, emailId);
  expect(message).toMatchObject({
    from: "hello@sandbox.localhost",
    to: "ada@example.com",
    subject: "Hello Ada",
  });
  const opened = await api.get<{ html: string; text: string }>(`/mailbox/messages/${message.id}`);
  expect(opened.html).toContain("<p>Your plan is <b>pro</b>, Ada.</p>");
  expect(opened.text).toContain("Your plan is pro, Ada.");

  const readAll = async (client: ApiClient) => ({
    contact: await client.get(`/contacts/${tracked.data.contact}`),
    events: await client.listAll(`/events/contact/${tracked.data.contact}`),
    email: await client.get(`/emails/${emailId}`),
    messages: await client.listAll("/mailbox/messages"),
    raw: await client.get(`/mailbox/messages/${message.id}/raw`),
  });
  const before = await readAll(api);
  expect(before.contact).toMatchObject({
    email: "ada@example.com",
    subscribed: true,
    data: { plan: "pro", name: "Ada" },
  });
  expect(before.events).toEqual(
    expect.arrayContaining([
      expect.objectContaining({ id: tracked.data.event, name: "signed up" }),
      expect.objectContaining({ name: "email.sent", emailId }),
      expect.objectContaining({ name: "email.delivery", emailId }),
    ]),
  );

  const stopped = await program?.stop();
  expect(stopped?.code).toBe(0);
  expect(stopped?.tookMs).toBeLessThan(DRAIN_MS);

  const again = await start({});
  expect(await readAll(again)).toEqual(before);
  const more = await again.post<Sent>("/v1/send", {
    from: "hello@sandbox.localhost",
    to: "ada@example.com",
    subject: "Again",
    body: "<p>Welcome back.</p>",
  });
  await waitForDelivery(again, more.data.emails[0]?.email ?? "");
});

test("SIGTERM with queued email exits with code 0 in 20 s, and the next start sends the rest", async () => {
  const api = await start(BOOTSTRAP);
  const accepted = await Promise.all(
    Array.from({ length: 60 }, (_, number) =>
      api.post<Sent>("/v1/send", {
        from: "hello@sandbox.localhost",
        to: `person-${number}@example.com`,
        subject: "Before the end",
        body: "<p>Hello</p>",
      }),
    ),
  );
  const stopped = await program?.stop();
  expect(stopped?.code).toBe(0);
  expect(stopped?.tookMs).toBeLessThan(DRAIN_MS);

  const again = await start(BOOTSTRAP);
  const ids = accepted.map(({ data }) => data.emails[0]?.email ?? "").toSorted();
  const messages = await waitUntil("every mail in the mailbox", DELIVERY_TIMEOUT_MS, async () => {
    const found = await again.listAll<MessageItem>("/mailbox/messages");
    return found.length >= ids.length && found;
  });
  expect(messages.map(({ emailId }) => emailId).toSorted()).toEqual(ids);
});
