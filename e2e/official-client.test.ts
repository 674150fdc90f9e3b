// Runs the unmodified official client @plunk/node against the real program with another base URL.
import type plunk from "@plunk/node";
import { createRequire } from "node:module";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createApiClient, type ApiClient, type MessageItem } from "./api-client.ts";
import { BOOTSTRAP, makeDataFolder, SECRET_KEY, startProgram, type Program } from "./program.ts";
import { waitUntil } from "./wait-until.ts";

const DELIVERY_TIMEOUT_MS = 45_000;
/** Loaded with require, because the package and most of its callers use CommonJS. */
const { default: Plunk }: typeof plunk = createRequire(import.meta.url)("@plunk/node");

let folder: Awaited<ReturnType<typeof makeDataFolder>>;
let program: Program;
let api: ApiClient;

beforeAll(async () => {
  folder = await makeDataFolder();
  program = await startProgram({ DATA_DIR: folder.path, ...BOOTSTRAP });
  api = createApiClient(program.url);
});
afterAll(async () => {
  await program.kill();
  await folder.remove();
});

/** Responses with top-level fields, as from servers of the client's time. */
interface OldResponses {
  track: { success: boolean; contact: string; event: string; timestamp: string };
  send: { emails: Array<{ contact: { id: string; email: string }; email: string }>; timestamp: string };
}

const EVENT = { event: "bought", data: { plan: "pro", coupon: { value: "X1", persistent: false } } };
const MAIL = {
  from: "shop@sandbox.localhost",
  name: "The shop",
  subject: "Order {{plan}}",
  body: "<p>Thank you.</p>",
  type: "html" as const,
  subscribed: true,
};

function clientOf(key: string, path: string): InstanceType<typeof Plunk> {
  return new Plunk(key, { baseUrl: program.url + path });
}

async function waitForMessageTo(address: string): Promise<MessageItem> {
  return waitUntil(`a mail to ${address} in the mailbox`, DELIVERY_TIMEOUT_MS, async () => {
    const [message] = await api.listAll<MessageItem>(`/mailbox/messages?to=${address}`);
    return message;
  });
}

test.for(["/v1/", "/api/v1/", ""])(
  "tracks and sends to several recipients with the base URL http://host%s",
  async (path) => {
    const client = clientOf(SECRET_KEY, path);
    const name = path.replaceAll("/", "-");
    const [email, other] = [`person${name}@example.com`, `other${name}@example.com`];
    expect(await client.events.track({ ...EVENT, email, subscribed: true })).toMatchObject({ success: true });
    expect(await client.emails.send({ ...MAIL, to: [email, other] })).toMatchObject({ success: true });
    const from = "shop@sandbox.localhost";
    expect(await waitForMessageTo(email)).toMatchObject({ to: email, from, subject: "Order pro" });
    expect(await waitForMessageTo(other)).toMatchObject({ to: other, from, subject: "Order " });
  },
);

test.for(["/api/v1/", ""])(
  "returns response fields at the top level with the base URL http://host%s",
  async (path) => {
    const client = clientOf(SECRET_KEY, path);
    const tracked: unknown = await client.events.track({ ...EVENT, email: "top@example.com" });
    const { contact, event, timestamp } = tracked as OldResponses["track"];
    expect(await api.get(`/contacts/${contact}`)).toMatchObject({ email: "top@example.com" });
    const events = await api.listAll<{ id: string }>(`/events/contact/${contact}`);
    expect(events).toContainEqual(expect.objectContaining({ id: event, createdAt: timestamp }));
    const sent: unknown = await client.emails.send({ ...MAIL, to: "top@example.com" });
    const { emails } = sent as OldResponses["send"];
    expect(emails).toEqual([{ contact: { id: contact, email: "top@example.com" }, email: emails[0]?.email }]);
    expect(await api.get(`/emails/${emails[0]?.email}`)).toMatchObject({ contactId: contact });
  },
);

/** Returns the class and message of a call's error. */
async function errorOf(call: Promise<unknown>): Promise<string> {
  const appError = await call.then(
    () => null,
    (error: unknown) => error,
  );
  return appError instanceof Error ? `${appError.constructor.name}: ${appError.message}` : "not refused";
}

test("maps our errors to TokenError for an invalid key, NotFoundError, and other classes", async () => {
  const event = { email: "ada@example.com", event: "bought" };
  expect(await errorOf(clientOf("sk_nobody", "/v1/").events.track(event))).toBe(
    "TokenError: The API key is not valid. Keys stop working when they are regenerated.",
  );
  const nowhere = await api.call<{ message: string }>("POST", "/nowhere/track", event);
  expect(await errorOf(clientOf(SECRET_KEY, "/nowhere/").events.track(event))).toBe(
    `NotFoundError: ${nowhere.body.message}`,
  );
  const faulty = await api.call<{ message: string }>("POST", "/v1/track", { ...event, email: "nobody" });
  expect(await errorOf(clientOf(SECRET_KEY, "/v1/").events.track({ ...event, email: "nobody" }))).toBe(
    `Error: ${faulty.body.message}`,
  );
  expect([nowhere.status, faulty.status]).toEqual([404, 422]);
  const foreign = { ...MAIL, from: "us@example.com", to: "ada@example.com" };
  expect(await errorOf(clientOf(SECRET_KEY, "/v1/").emails.send(foreign))).toBe(
    "Error: The domain example.com is not verified in this project.",
  );
});
