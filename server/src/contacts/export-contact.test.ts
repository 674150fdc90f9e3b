// Export of all data about one contact over HTTP: complete, without data of other contacts, and empty after the deletion.
import { expect, test, vi } from "vitest";
import * as contactImport from "@postloft/contract/contact-import.ts";
import * as contacts from "@postloft/contract/contacts.ts";
import * as emails from "@postloft/contract/emails.ts";
import * as v1 from "@postloft/contract/v1.ts";
import { errorOf, useTestServer, type TestCaller } from "../testing/test-server.ts";
import { addReceivedEmails } from "../testing/received-email.ts";
import { drawWorkflow } from "../testing/workflow-fixture.ts";

const server = useTestServer();
const WAIT = { timeout: 30_000, interval: 20 };

const addContact = async (caller: TestCaller, email: string) =>
  (await server.call(contacts.upsertContact, caller, { body: { email, data: { plan: "pro" } } })).body.id;

const send = (caller: TestCaller, email: string, number: number) =>
  server.call(v1.send, caller, {
    body: {
      to: email,
      from: "a@sandbox.localhost",
      subject: `Mail ${number}`,
      body: "{{code}}",
      data: { code: { value: number, persistent: false } },
    },
  });

const exportOf = async (caller: TestCaller, id: string) =>
  (await server.call(contactImport.exportContact, caller, { params: { id } })).body;

test("the export contains contact, consent, segments, events and emails of this contact only", async () => {
  const { id, byKey } = await server.createProject(server.project.owner);
  const ada = await addContact(byKey, "ada@sandbox.localhost");
  const bob = await addContact(byKey, "bob@sandbox.localhost");
  await server.call(contacts.updateContact, byKey, { params: { id: ada }, body: { subscribed: false } });
  const events = Array.from({ length: 1_100 }, (_, at) => `step ${at}`);
  await server.rows(
    "insert into events (project_id, id, contact_id, name) select $1, new_id(), $2, name from unnest($3::text[]) name",
    id,
    ada,
    events,
  );
  const segmentId = "00000000-0000-7000-8000-00000000000a";
  await server.rows(
    "insert into segments (project_id, id, name, type, slug) values ($1, $2, 'Friends', 'STATIC', 'friends')",
    id,
    segmentId,
  );
  await server.rows(
    "insert into segment_members (project_id, segment_id, contact_id) values ($1, $2, $3)",
    id,
    segmentId,
    ada,
  );
  for (let number = 0; number < 3; number++) await send(byKey, "ada@sandbox.localhost", number);
  await send(byKey, "bob@sandbox.localhost", 9);
  const raw = Buffer.from("Subject: A question\r\n\r\nGr\u00f6\u00dfe?");
  const [written] = await addReceivedEmails(server.database, id, [
    { from: "ada@sandbox.localhost", raw },
    { from: "bob@sandbox.localhost" },
  ]);
  await vi.waitFor(
    async () =>
      expect((await exportOf(byKey, ada)).emails.map(({ status }) => status)).toEqual(
        Array(3).fill("DELIVERED"),
      ),
    WAIT,
  );

  const all = await exportOf(byKey, ada);
  const contact = await server.call(contacts.getContact, byKey, { params: { id: ada } });
  expect(all.contact).toEqual(contact.body);
  expect(all.consent.map(({ subscribed, source }) => `${subscribed} ${source}`)).toEqual([
    "false api",
    "true api",
  ]);
  expect(all.segments).toEqual([{ id: segmentId, name: "Friends", since: expect.any(String) }]);
  const stored = await server.rows<{ id: string }>(
    `select id from events where contact_id = $1
     union all select sent_event_id(id, sent_at) from emails where contact_id = $1 and sent_at is not null`,
    ada,
  );
  expect(all.events.map((event) => event.id).toSorted()).toEqual(stored.map((event) => event.id).toSorted());
  expect(all.events.length).toBeGreaterThan(1_100);
  expect(all.emails.map(({ subject, variables }) => [subject, variables])).toEqual([
    ["Mail 0", { code: 0 }],
    ["Mail 1", { code: 1 }],
    ["Mail 2", { code: 2 }],
  ]);
  expect(all.receivedEmails.map((email) => [email.id, email.raw])).toEqual([
    [written?.id, raw.toString("base64")],
  ]);
  expect(all.emails[0]?.timeline.map(({ type }) => type)).toEqual(
    expect.arrayContaining(["queued", "email.sent"]),
  );
  const { variables: _variables, ...mail } = all.emails[0] ?? { id: "" };
  expect(mail).toEqual((await server.call(emails.getEmail, byKey, { params: { id: mail.id } })).body);
  expect((await exportOf(byKey, bob)).emails.map(({ subject }) => subject)).toEqual(["Mail 9"]);
});

test("the export contains every workflow execution once, for any number of executions", async () => {
  const { id, byKey } = await server.createProject(server.project.owner);
  const ada = await addContact(byKey, "ada@sandbox.localhost");
  const bob = await addContact(byKey, "bob@sandbox.localhost");
  const workflow = await drawWorkflow(server.database, id, {
    name: "Welcome",
    steps: [["trigger", "TRIGGER"]],
    links: [],
    enabled: false,
  });
  await server.rows(
    `insert into workflow_executions (project_id, id, workflow_id, contact_id, entry, version, status, ended_at, context, results)
     select $1, new_id(), $2, contact, n, 1, 'COMPLETED', now(), jsonb_build_object('n', n), '{"ask":{"status":200}}'
     from unnest($3::uuid[]) contact, generate_series(1, 250) n`,
    id,
    workflow.id,
    [ada, bob],
  );
  const { executions } = await exportOf(byKey, ada);
  const stored = await server.rows<{ id: string; n: number }>(
    "select id, entry::int as n from workflow_executions where contact_id = $1 order by id",
    ada,
  );
  expect(stored).toHaveLength(250);
  expect(executions).toEqual(
    stored.map((row) => ({
      id: row.id,
      workflow: { id: workflow.id, name: "Welcome" },
      status: "COMPLETED",
      startedAt: expect.any(String),
      completedAt: expect.any(String),
      exitReason: null,
      context: { n: row.n },
      results: { ask: { status: 200 } },
    })),
  );
});

test("unknown contacts and contacts of other projects return the same 404", async () => {
  const ada = await addContact(server.project.byKey, "ada@sandbox.localhost");
  const { byKey } = await server.createProject();
  for (const id of [ada, "00000000-0000-7000-8000-000000000000", "nobody"])
    expect(errorOf(await server.call(contactImport.exportContact, byKey, { params: { id } }))).toBe(
      "404 CONTACT_NOT_FOUND",
    );
});
