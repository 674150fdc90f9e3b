// Checks that clients generated from contract/openapi.json by two tools compile and can send an email through the real program.
import { afterAll, beforeAll, expect, test } from "vitest";
import { createApiClient, type EmailItem, type MessageItem } from "./api-client.ts";
import { generateClients, type ClientFolder } from "./clients/generate-clients.ts";
import { BOOTSTRAP, makeDataFolder, SECRET_KEY, startProgram, type Program } from "./program.ts";
import { waitUntil } from "./wait-until.ts";

const DELIVERY_TIMEOUT_MS = 45_000;

/** Each program creates a contact with data, sends an email, finds it in the list, and receives a typed error. */
interface Story {
  tell(
    baseUrl: string,
    key: string,
    to: string,
  ): Promise<{ plan: unknown; emailId: string; refusal: string }>;
}

const MAIL = `from: "shop@sandbox.localhost", subject: "Order {{plan}}", body: "<p>Thank you.</p>"`;

const PROGRAMS = {
  "hey-api-story.ts": `
    import { contactsGet, contactsUpsert, emailsGet, v1Send } from "./hey-api";
    import { createClient } from "./hey-api/client";
    export async function tell(baseUrl: string, key: string, to: string) {
      const client = createClient({ baseUrl, auth: key });
      const made = await contactsUpsert({ client, body: { email: to, data: { plan: "pro" } }, throwOnError: true });
      const contact = await contactsGet({ client, path: { id: made.data.id }, throwOnError: true });
      const sent = await v1Send({ client, body: { to, ${MAIL} }, throwOnError: true });
      const refused = await v1Send({ client, body: { to: "nobody", ${MAIL} } });
      const emailId: string = sent.data.data.emails[0]?.email ?? "";
      await emailsGet({ client, path: { id: emailId }, throwOnError: true });
      const refusal: string = refused.error?.error.code ?? "not refused";
      return { plan: contact.data.data["plan"], emailId, refusal };
    }`,
  "oazapfts-story.ts": `
    import { ok } from "@oazapfts/runtime";
    import { contactsGet, contactsUpsert, defaults, emailsGet, v1Send } from "./oazapfts";
    export async function tell(baseUrl: string, key: string, to: string) {
      defaults.baseUrl = baseUrl;
      defaults.headers = { authorization: "Bearer " + key };
      const made = await ok(contactsUpsert({ email: to, data: { plan: "pro" } }));
      const contact = await ok(contactsGet(made.id));
      const sent = await ok(v1Send({ to, ${MAIL} }));
      const refused = await v1Send({ to: "nobody", ${MAIL} });
      const emailId: string = sent.data.emails[0]?.email ?? "";
      await ok(emailsGet(emailId));
      const refusal: string = refused.status === 422 ? refused.data.error.code : "not refused";
      return { plan: contact.data["plan"], emailId, refusal };
    }`,
};

let clients: ClientFolder;
let folder: Awaited<ReturnType<typeof makeDataFolder>>;
let program: Program;

beforeAll(async () => {
  folder = await makeDataFolder();
  [clients, program] = await Promise.all([
    generateClients(PROGRAMS),
    startProgram({ DATA_DIR: folder.path, ...BOOTSTRAP }),
  ]);
});
afterAll(async () => {
  await program.kill();
  await folder.remove();
  await clients.remove();
});

test("the clients and the programs that use them compile", async () => {
  expect(await clients.compile()).toBe("");
});

test.for(Object.keys(PROGRAMS))(
  "%s creates a contact, sends an email, finds it and reads a typed error",
  async (name) => {
    const { tell } = await clients.load<Story>(name);
    const to = `${name}@example.com`;
    const { plan, emailId, refusal } = await tell(program.url, SECRET_KEY, to);
    expect({ plan, refusal }).toEqual({ plan: "pro", refusal: "VALIDATION_ERROR" });
    const api = createApiClient(program.url);
    const message = await waitUntil(`the mail to ${to}`, DELIVERY_TIMEOUT_MS, async () => {
      const [first] = await api.listAll<MessageItem>(`/mailbox/messages?to=${to}`);
      return first;
    });
    expect(message).toMatchObject({ emailId, subject: "Order pro" });
    expect(await api.get<EmailItem>(`/emails/${emailId}`)).toMatchObject({ to });
  },
);
