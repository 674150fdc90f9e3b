// Test keys: their emails stay in the local mailbox, even with a real transport, and have no other effect.
import { afterAll, expect, test, vi } from "vitest";
import * as activity from "@postloft/contract/activity.ts";
import * as contactsContract from "@postloft/contract/contacts.ts";
import * as emails from "@postloft/contract/emails.ts";
import * as keys from "@postloft/contract/keys.ts";
import * as mailbox from "@postloft/contract/mailbox.ts";
import * as v1 from "@postloft/contract/v1.ts";
import { startDnsServer } from "../testing/dns-server.ts";
import { proveDomain } from "../testing/prove-domain.ts";
import { startSmtpSink } from "../testing/smtp-sink.ts";
import { useTestServer } from "../testing/test-server.ts";

const sink = await startSmtpSink();
const dns = await startDnsServer();
const server = useTestServer({
  MAIL_TRANSPORT: `smtp://127.0.0.1:${sink.port}`,
  DNS_SERVERS: dns.address,
});
afterAll(async () => {
  await sink.close();
  await dns.close();
});

const WAIT = { timeout: 30_000, interval: 25 };
const CALL = {
  to: "ada@to.test",
  from: "hello@shop.test",
  subject: "Hello {{name}}",
  body: `<p>{{name}} has <a href="https://example.com">{{plan}}</a></p>`,
};

async function makeKey(scopes: string[]) {
  const { id, owner } = server.project;
  const caller = { cookie: owner.cookie };
  return server.call(keys.createKey, caller, { params: { projectId: id }, body: { name: "Key", scopes } });
}

/** The sent emails, without platform email. */
const left = () => sink.journal.filter(({ recipients }) => recipients.some((to) => to.endsWith("@to.test")));

test("renders and signs a test key's email locally, without storing or counting contact data", async () => {
  const { byKey, id: projectId } = server.project;
  await proveDomain(server, dns, byKey, "shop.test");
  await server.call(contactsContract.upsertContact, byKey, {
    body: {
      email: "ada@to.test",
      subscribed: true,
      data: { plan: "pro" },
    },
  });
  const { key } = (await makeKey(["test:send", "*:read"])).body.data;
  const sent = await server.call(
    v1.send,
    { key },
    { body: { ...CALL, to: ["ada@to.test", "new@to.test"], data: { name: "Ada" }, subscribed: false } },
  );
  expect(sent.status).toBe(200);
  const real = await server.call(v1.send, byKey, { body: { ...CALL, subject: "Really" } });
  expect(real.status).toBe(200);
  for (const { email } of sent.body.data.emails)
    await vi.waitFor(
      async () =>
        expect((await server.call(emails.getEmail, { key }, { params: { id: email } })).body).toMatchObject({
          status: "SENT",
        }),
      WAIT,
    );
  await vi.waitFor(() => expect(left()).toHaveLength(1), WAIT);
  expect(left()[0]?.raw.toString()).toContain("Subject: Really");

  const kept = await server.call(mailbox.listMessages, { key });
  expect(kept.body.data.map(({ subject }) => subject)).toEqual(["Hello Ada", "Hello Ada"]);
  const raws = await Promise.all(
    kept.body.data.map(
      async ({ id }) => (await server.call(mailbox.getRawMessage, { key }, { params: { id } })).text,
    ),
  );
  expect(raws.filter((raw) => raw.includes("pro</a>"))).toHaveLength(1);
  for (const raw of raws) {
    expect(raw).toContain("DKIM-Signature");
    expect(raw).toContain(`href=3D"https://example.com"`);
  }
  const contacts = await server.rows(
    "select email, subscribed, data from contacts where project_id = $1 order by email",
    projectId,
  );
  expect(contacts).toEqual([
    { email: "ada@to.test", subscribed: true, data: { plan: "pro" } },
    { email: "new@to.test", subscribed: false, data: {} },
  ]);
  const events = await server.call(activity.listActivity, { key }, { anyQuery: "?types=email.sent" });
  expect(JSON.stringify(events.body)).not.toContain(sent.body.data.emails[0]?.email);
});

test("rejects other writes with a test key, and test keys with further scopes", async () => {
  const { key } = (await makeKey(["test:send"])).body.data;
  for (const [method, path, body] of [
    ["POST", "/v1/track", { email: "ada@to.test", event: "x" }],
    ["POST", "/contacts", { email: "ada@to.test" }],
    ["GET", "/contacts", undefined],
    ["DELETE", "/mailbox/messages", undefined],
  ] as const)
    expect((await server.call(method, path, { key }, body)).status).toBe(403);
  for (const scopes of [
    ["test:send", "v1:write"],
    ["*:write", "test:send"],
  ])
    expect((await makeKey(scopes)).status).toBe(422);
});
