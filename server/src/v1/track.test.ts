// POST /v1/track over HTTP: recorded data, rejected names, and that every call counts.
import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import * as v1 from "@postloft/contract/v1.ts";
import { faultsOf, errorOf, useTestServer, type TestCaller } from "../testing/test-server.ts";
import type { BodyOf } from "../testing/typed-call.ts";

const server = useTestServer({ ROLES: "api" });

let made = 0;
const newAddress = () => `tracked${++made}@example.com`;
const track = (caller: TestCaller, body: BodyOf<typeof v1.track>) => server.call(v1.track, caller, { body });
const refuse = (body: unknown) => server.call("POST", "/v1/track", server.project.byKey, body);
const eventNames = async (contactId: string) =>
  (
    await server.rows<{ name: string }>(
      "select name from events where contact_id = $1 order by id",
      contactId,
    )
  ).map(({ name }) => name);

test("returns contact, event and time, and nothing else", async () => {
  const reply = await track(server.project.byKey, { email: newAddress(), event: "opened", data: { a: 1 } });
  expect(reply.status).toBe(200);
  expect(reply.body).toEqual({
    success: true,
    data: {
      contact: expect.stringMatching(/^[0-9a-f-]{36}$/),
      event: expect.stringMatching(/^[0-9a-f-]{36}$/),
      timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
    },
  });
  const [row] = await server.rows(
    "select contact_id, name, data, created_at from events where id = $1",
    reply.body.data.event,
  );
  expect(row).toEqual({
    contactId: reply.body.data.contact,
    name: "opened",
    data: { a: 1 },
    createdAt: new Date(reply.body.data.timestamp),
  });
});

test("stores a large event and a large contact completely", async () => {
  const text = 'é"\\ '.repeat(20_000);
  const cases = [
    { data: { text, n: 1 }, ofContact: { text, n: 1 } },
    { data: { text, gone: null, id: "x" }, ofContact: { text }, ofEvent: { text, gone: null } },
    {
      data: { text: { value: text, persistent: false }, n: 1 },
      ofContact: { n: 1 },
      ofEvent: { text, n: 1 },
    },
  ];
  for (const { data, ofContact, ofEvent = ofContact } of cases) {
    const { body } = await track(server.project.byKey, { email: newAddress(), event: "large", data });
    const [row] = await server.rows(
      `select v.data as event, c.data as contact from events v
       join contacts c on c.project_id = v.project_id and c.id = v.contact_id where v.id = $1`,
      body.data.event,
    );
    expect(row).toEqual({ event: ofEvent, contact: ofContact });
  }
});

test("accepts older spellings and contact ids at the alternative path", async () => {
  const { byKey, publicKey } = server.project;
  const email = newAddress();
  const by = (caller: TestCaller, body: BodyOf<typeof v1.trackEvent>) =>
    server.call(v1.trackEvent, caller, { body });
  const first = await by(byKey, { email, event: "opened", data: { a: 1 } });
  expect([first.status, first.body.success]).toEqual([200, true]);
  const contactId = first.body.data.contact;
  const second = await by(byKey, { contactId, name: "closed" });
  expect([second.status, second.body.data.contact]).toEqual([200, contactId]);
  expect(await eventNames(contactId)).toEqual(["opened", "closed"]);
  expect(errorOf((await by(byKey, { contactId: randomUUID(), name: "x" })) as never)).toBe(
    "404 CONTACT_NOT_FOUND",
  );
  expect(errorOf((await by({ key: publicKey }, { email, event: "x" })) as never)).toBe("401 INVALID_API_KEY");
  expect(faultsOf((await by(byKey, { data: {} })) as never)).toEqual(["email required", "event required"]);
  expect(faultsOf((await by(byKey, { email, name: "email.open" })) as never)).toEqual([
    "name reserved_event",
  ]);
  const counted = await server.call<{ count: number }>("GET", "/v1/contacts/count", byKey);
  const [{ count } = { count: 0 }] = await server.rows<{ count: number }>(
    "select count(*)::integer as count from contacts where project_id = $1",
    server.project.id,
  );
  expect(counted.body).toEqual({ count });
});

test("records a repeated event again for the same contact", async () => {
  const email = newAddress();
  const replies = await Promise.all(
    Array.from({ length: 100 }, () => track(server.project.byKey, { email, event: "opened" })),
  );
  expect(new Set(replies.map(({ body }) => body.data.contact)).size).toBe(1);
  expect(new Set(replies.map(({ body }) => body.data.event)).size).toBe(100);
  expect(await eventNames(replies[0]?.body.data.contact ?? "")).toHaveLength(100);
});

test("keeps sequential events in order", async () => {
  const email = newAddress();
  let contact = "";
  for (let at = 0; at < 10; at++)
    contact = (await track(server.project.byKey, { email, event: `step ${at}` })).body.data.contact;
  expect(await eventNames(contact)).toEqual(Array.from({ length: 10 }, (_, at) => `step ${at}`));
});

test("creates one contact per address and project", async () => {
  const email = newAddress();
  const other = await server.createProject();
  const replies = [
    await track(server.project.byKey, { email, event: "e" }),
    await track(other.byKey, { email, event: "e" }),
  ];
  expect(new Set(replies.map(({ body }) => body.data.contact)).size).toBe(2);
});

test.for([
  "email.sent",
  "email.anything",
  "email.",
  "EMAIL.SENT",
  " email.x ",
  "e\u200bmail.sent",
  "email\u200b.x",
  "ｅｍａｉｌ．ｓｅｎｔ",
  "\ufeffemail.x",
  "contact.subscribed",
  "contact.unsubscribed",
  "Contact.Unsubscribed",
  "segment.vip.entry",
  "segment.vip.exit",
  "segment.a.b.entry",
  "SEGMENT.VIP.EXIT",
])("rejects the reserved name %j with 422 reserved_event and writes nothing", async (event) => {
  const before = await server.countRows();
  const reply = await refuse({ email: newAddress(), event });
  expect(reply.status).toBe(422);
  expect(reply.body.error.code).toBe("VALIDATION_ERROR");
  expect(faultsOf(reply)).toEqual(["event reserved_event"]);
  expect(await server.countRows()).toEqual(before);
});

test.for([
  "email",
  "emails.sent",
  "my.email.sent",
  "contact.subscribed.twice",
  "contact.created",
  "segment.vip",
  "segments.vip.entry",
  "%65mail.x",
  "signed up 🦀",
  "x".repeat(255),
  "'; drop table events; --",
  "a\r\nb",
])("accepts the name %.40j unchanged", async (event) => {
  const { status, body } = await track(server.project.byKey, { email: newAddress(), event: ` ${event} ` });
  expect(status).toBe(200);
  expect(await eventNames(body.data.contact)).toEqual([event]);
});

test.for([
  [{}, ["email required", "event required"]],
  [{ email: "x", event: "" }, ["email invalid_string", "event too_small"]],
  [{ email: "a@example.com", event: "   " }, ["event too_small"]],
  [{ email: "a@example.com", event: "x".repeat(256) }, ["event too_big"]],
  [
    { email: 1, event: 2, subscribed: 3, data: 4 },
    ["data invalid_type", "email invalid_type", "event invalid_type", "subscribed invalid_type"],
  ],
  [
    { email: "a@example.com", event: "email.x", subscribed: null },
    ["event reserved_event", "subscribed invalid_type"],
  ],
  [{ email: { email: "a@example.com" }, event: ["e"] }, ["email invalid_type", "event invalid_type"]],
  [{ email: "a@example.com", event: "a\u0000" }, ["event custom"]],
] as Array<[unknown, string[]]>)("rejects tracking %.80j with the errors %j", async ([body, faults]) => {
  const before = await server.countRows();
  const reply = await refuse(body);
  expect(reply.status).toBe(422);
  expect(faultsOf(reply)).toEqual(faults);
  expect(await server.countRows()).toEqual(before);
});

test("loses and rejects nothing when two servers upsert the same contacts at once", async () => {
  const { byKey, id } = await server.createProject();
  const another = await server.startAnother();
  const replies = await Promise.all(
    Array.from({ length: 400 }, (_, at) => {
      const body = {
        email: `shared${(at * 7) % 20}@example.com`,
        event: "shared",
        subscribed: at % 3 === 0,
        data: { [`k${at % 40}`]: at },
      };
      return (at % 2 === 0 ? server : another).call(v1.track, byKey, { body });
    }),
  );
  expect(replies.map(({ status }) => status)).toEqual(Array(400).fill(200));
  const [counts] = await server.rows<{ contacts: number; keys: number; events: number }>(
    `select (select count(*) from contacts where project_id = $1)::int as contacts,
            (select count(*) from contacts c, jsonb_object_keys(c.data) where project_id = $1)::int as keys,
            (select count(*) from events where project_id = $1 and name = 'shared')::int as events`,
    id,
  );
  // Request `at` reaches contact 7·at mod 20 with key at mod 40, which makes 40 different pairs.
  expect(counts).toEqual({ contacts: 20, keys: 40, events: 400 });
});

test("rejects only the faulty ones of many concurrent requests", async () => {
  const replies = await Promise.all(
    Array.from({ length: 60 }, (_, at) =>
      track(server.project.byKey, { email: at % 3 === 0 ? "nobody" : newAddress(), event: "mixed" }),
    ),
  );
  expect(replies.map(({ status }) => status)).toEqual(
    Array.from({ length: 60 }, (_, at) => (at % 3 === 0 ? 422 : 200)),
  );
  expect(await server.rows("select 1 from events where name = 'mixed'")).toHaveLength(40);
});

test("stores texts unchanged that need escaping in the database or JSON", async () => {
  const texts = ['"', "\\", '\\"', "a\nb", "\u0001", "\u2028", "{,}", "NULL", "é 中 😀", '\\n"}', ""];
  const email = newAddress();
  const data = { texts, 'key \\ "': 'x\\"' };
  const { body } = await track(server.project.byKey, { email, event: 'quoted " \\', data });
  const [row] = await server.rows<{ data: unknown; event: unknown; name: string }>(
    "select c.data, e.data as event, e.name from contacts c join events e on e.contact_id = c.id where c.id = $1",
    body.data.contact,
  );
  expect(row).toEqual({ data, event: data, name: 'quoted " \\' });
});
