// Contacts over HTTP: data rules of all four endpoints, subscriptions, lists, lookup, and changes.
import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import * as contacts from "@postloft/contract/contacts.ts";
import * as events from "@postloft/contract/events.ts";
import * as v1 from "@postloft/contract/v1.ts";
import {
  responsesByName,
  faultsOf,
  errorOf,
  sameByName,
  useTestServer,
  type Reply,
  type TestCaller,
  type TestProject,
} from "../testing/test-server.ts";
import type { BodyOf } from "../testing/typed-call.ts";

const server = useTestServer({ ROLES: "api" });

let made = 0;
const newAddress = () => `contact${++made}@example.com`;
const upsert = (caller: TestCaller, body: unknown) =>
  server.call(contacts.upsertContact, caller, { anyBody: body });
const get = async (caller: TestCaller, id: string) =>
  (await server.call(contacts.getContact, caller, { params: { id } })).body;
const patch = (caller: TestCaller, id: string, body: BodyOf<typeof contacts.updateContact>) =>
  server.call(contacts.updateContact, caller, { params: { id }, body });
const list = async (caller: TestCaller, query: string) =>
  (await server.call(contacts.listContacts, caller, { anyQuery: query })).body;
const eventsOf = async (caller: TestCaller, id: string) =>
  (await server.call(events.listContactEvents, caller, { params: { contactId: id }, query: { limit: 100 } }))
    .body.data;
const flipsOf = async (caller: TestCaller, id: string) =>
  (await eventsOf(caller, id)).map(({ name }) => name).filter((name) => name.startsWith("contact."));

type Endpoint = "track" | "send" | "post" | "patch";
const ENDPOINTS: Endpoint[] = ["track", "send", "post", "patch"];
const mail = { from: "a@sandbox.localhost", subject: "s", body: "b" };

/** Sends `data` and `subscribed` for an existing contact through one of the four endpoints that accept them. */
async function enter(
  endpoint: Endpoint,
  caller: TestCaller,
  contact: { id: string; email: string },
  parts: object,
) {
  const { email } = contact;
  const calls: Record<Endpoint, () => Promise<Reply<unknown>>> = {
    track: () => server.call("POST", "/v1/track", caller, { email, event: "entered", ...parts }),
    send: () => server.call("POST", "/v1/send", caller, { to: email, ...mail, ...parts }),
    post: () => server.call("POST", "/contacts", caller, { email, ...parts }),
    patch: () => server.call(contacts.updateContact, caller, { params: { id: contact.id }, anyBody: parts }),
  };
  return calls[endpoint]();
}

const RULES: Array<[string, object, object]> = [
  ["only keys sent change", { b: 2 }, { a: 1, b: 2 }],
  ["a key sent again is replaced, not merged", { a: { x: 1 } }, { a: { x: 1 } }],
  ["null deletes", { a: null }, {}],
  ["an empty string is ignored", { a: "", b: "" }, { a: 1 }],
  ["a transient value is not stored", { b: { value: 5, persistent: false } }, { a: 1 }],
  ["a transient value leaves the stored one", { a: { value: 5, persistent: false } }, { a: 1 }],
  ["a wrapper with persistent: true stores its value", { b: { value: 5, persistent: true } }, { a: 1, b: 5 }],
  [
    "reserved keys are dropped, everything else stays",
    { id: 1, svc_id: 1, svc_email: 1, email: "x", unsubscribeUrl: 1, subscribeUrl: 1, manageUrl: 1, b: 1 },
    { a: 1, b: 1 },
  ],
  [
    "core fields inside data are data",
    { subscribed: false, createdAt: "x", updatedAt: null, locale: "de" },
    { a: 1, subscribed: false, createdAt: "x", locale: "de" },
  ],
  [
    "objects, arrays, booleans and numbers keep their type",
    { b: { c: [1, { d: null }] }, e: [], f: false, g: -1.5, h: 1e300, i: 0 },
    { a: 1, b: { c: [1, { d: null }] }, e: [], f: false, g: -1.5, h: 1e300, i: 0 },
  ],
  ["any text is kept unchanged", { " ü🦀\n\"'\\": "\u0001 <b>%_" }, { a: 1, " ü🦀\n\"'\\": "\u0001 <b>%_" }],
  ["names of object methods are ordinary keys", { toString: 1, valueOf: null }, { a: 1, toString: 1 }],
  ["1,000 keys are accepted", keysOf(1_000), { a: 1, ...keysOf(1_000) }],
];

function keysOf(count: number): Record<string, number> {
  return Object.fromEntries(Array.from({ length: count }, (_, at) => [`key${at}`, at]));
}

test.for(RULES)("data: %s, on all four endpoints", async ([, data, expected]) => {
  const { byKey } = server.project;
  const stored = await responsesByName(ENDPOINTS, String, async (endpoint) => {
    const { body } = await upsert(byKey, { email: newAddress(), data: { a: 1 } });
    const reply = await enter(endpoint, byKey, body, { data });
    const contact = await get(byKey, body.id);
    return { status: reply.status, data: contact.data, subscribed: contact.subscribed };
  });
  expect(stored).toEqual(
    sameByName(ENDPOINTS, String, () => ({ status: 200, data: expected, subscribed: true })),
  );
});

const BAD_DATA: Array<[string, string | object, string]> = [
  ["a NUL in a value", '{"a":"x\\u0000"}', "data.a custom"],
  ["a NUL in a key", '{"a\\u0000":1}', "data.a\u0000 custom"],
  ["half a surrogate pair", '{"a":"\\ud800"}', "data.a custom"],
  ["a number too large", '{"a":1e400}', "data.a custom"],
  ["a negative number too large, deep inside", '{"a":{"b":[0,-1e400]}}', "data.a.b.1 custom"],
  ["__proto__", '{"__proto__":{"polluted":1}}', "data.__proto__ custom"],
  ["constructor, deep inside", '{"a":{"constructor":{"prototype":1}}}', "data.a.constructor custom"],
  ["prototype", '{"prototype":1}', "data.prototype custom"],
  ["1,001 keys", keysOf(1_001), "data too_big"],
  ["a key of 256 characters", { ["k".repeat(256)]: 1 }, `data.${"k".repeat(40)} too_big`],
  ["an empty key", { "": 1 }, "data. too_small"],
  ["an array", "[1]", "data invalid_type"],
  ["a string", '"x"', "data invalid_type"],
  ["41 levels", `{"a":${"[".repeat(41)}${"]".repeat(41)}}`, `data.a${".0".repeat(38)} too_big`],
];

test.for(BAD_DATA)("rejects data with %s on all four endpoints without changes", async ([, data, fault]) => {
  const { byKey } = server.project;
  const { body: contact } = await upsert(byKey, { email: newAddress(), data: { a: 5 } });
  const before = await server.countRows();
  const json = typeof data === "string" ? data : JSON.stringify(data);
  const start: Record<Endpoint, [string, string, string]> = {
    track: ["POST", "/v1/track", `{"email":"${contact.email}","event":"e",`],
    send: [
      "POST",
      "/v1/send",
      `{"to":"${contact.email}","from":"a@sandbox.localhost","subject":"s","body":"b",`,
    ],
    post: ["POST", "/contacts", `{"email":"${contact.email}",`],
    patch: ["PATCH", `/contacts/${contact.id}`, "{"],
  };
  const responses = await responsesByName(ENDPOINTS, String, async (endpoint) => {
    const [method, path, text] = start[endpoint];
    const reply = await server.call(method, path, byKey, `${text}"data":${json}}`);
    return [reply.status, faultsOf(reply)];
  });
  expect(responses).toEqual(sameByName(ENDPOINTS, String, () => [422, [fault]]));
  expect(await get(byKey, contact.id)).toEqual({ ...contact, _meta: undefined });
  expect(await server.countRows()).toEqual(before);
  expect({}).not.toHaveProperty("polluted");
});

test("rejects contact data above 1 MB from every endpoint", async () => {
  const { byKey } = await server.createProject();
  const { body: contact } = await upsert(byKey, {
    email: "big@example.com",
    data: { a: "x".repeat(700_000) },
  });
  const more = { data: { b: "y".repeat(400_000) } };
  const responses = await responsesByName(ENDPOINTS, String, async (endpoint) => {
    const reply = await enter(endpoint, byKey, contact, more);
    return [reply.status, faultsOf(reply)];
  });
  expect(responses).toEqual(sameByName(ENDPOINTS, String, () => [422, ["data too_big"]]));
  expect(Object.keys((await get(byKey, contact.id)).data)).toEqual(["a"]);
  expect(await server.rows("select 1 from emails where contact_id = $1", contact.id)).toEqual([]);
  const replaced = await enter("track", byKey, contact, { data: { a: "small", ...more.data } });
  expect(replaced.status).toBe(200);
});

test("a batch fails only for the contact with too much data", async () => {
  const { byKey } = await server.createProject();
  await upsert(byKey, { email: "big@example.com", data: { a: "x".repeat(700_000) } });
  const replies = await Promise.all(
    Array.from({ length: 20 }, (_, at) =>
      server.call(v1.track, byKey, {
        body: {
          email: at === 7 ? "big@example.com" : `p${at}@example.com`,
          event: "batch",
          data: at === 7 ? { b: "y".repeat(400_000) } : { at },
        },
      }),
    ),
  );
  expect(replies.map(({ status }) => status)).toEqual(
    Array.from({ length: 20 }, (_, at) => (at === 7 ? 422 : 200)),
  );
  expect((await list(byKey, "?limit=100")).total).toBe(20);
});

test("a key keeps the type of its first value, and values of other types are still stored", async () => {
  const { byKey, id } = await server.createProject();
  const { body: contact } = await upsert(byKey, {
    email: "ada@example.com",
    data: { n: 1, b: true, d: "2026-01-31T10:00:00Z", s: "x", o: { a: 1 }, none: null, empty: "", id: 1 },
  });
  await enter("track", byKey, contact, {
    data: { n: "text", none: 5, lent: { value: 1, persistent: false } },
  });
  await enter("send", byKey, contact, { data: { s: 5, b: null } });
  await enter("patch", byKey, contact, { data: { b: "again", p: 2.5 } });
  await enter("post", byKey, contact, { data: { q: { value: false, persistent: true } } });
  const fields = await server.rows<{ field: string; type: string }>(
    "select field, type from contact_fields where project_id = $1 order by field",
    id,
  );
  expect(Object.fromEntries(fields.map(({ field, type }) => [field, type]))).toEqual({
    b: "boolean",
    d: "date",
    n: "number",
    none: "number",
    o: "string",
    p: "number",
    q: "boolean",
    s: "string",
  });
  expect((await get(byKey, contact.id)).data).toMatchObject({ n: "text", s: 5, b: "again" });
});

test("POST /contacts returns 201 with isNew for new contacts and 200 with isUpdate otherwise", async () => {
  const { byKey } = server.project;
  const email = newAddress();
  const first = await upsert(byKey, { email: ` ${email.toUpperCase()}`, data: { a: 1 } });
  expect(first.status).toBe(201);
  expect(first.body).toEqual({
    id: expect.stringMatching(/^[0-9a-f-]{36}$/),
    email,
    subscribed: true,
    data: { a: 1 },
    createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
    updatedAt: expect.any(String),
    _meta: { isNew: true, isUpdate: false },
  });
  const second = await upsert(byKey, { email, data: { b: 2 } });
  expect(second.status).toBe(200);
  expect(second.body).toMatchObject({ id: first.body.id, data: { a: 1, b: 2 } });
  expect(second.body._meta).toEqual({ isNew: false, isUpdate: true });
  const { _meta, ...contact } = second.body;
  expect(await get(byKey, first.body.id)).toEqual(contact);
});

test("fifty concurrent upserts of a new address create one contact", async () => {
  const { byKey } = await server.createProject();
  const replies = await Promise.all(
    Array.from({ length: 50 }, (_, at) =>
      upsert(byKey, { email: "ada@example.com", data: { [`k${at}`]: at } }),
    ),
  );
  expect(replies.filter(({ status }) => status === 201)).toHaveLength(1);
  expect(replies.filter(({ status }) => status === 200)).toHaveLength(49);
  const [contact, ...others] = (await list(byKey, "")).data;
  expect(others).toEqual([]);
  expect(Object.keys(contact?.data ?? {})).toHaveLength(50);
});

const NEW_CONTACTS: Array<[Endpoint, boolean | undefined, boolean]> = [
  ["track", undefined, true],
  ["track", true, true],
  ["track", false, false],
  ["send", undefined, false],
  ["send", true, true],
  ["send", false, false],
  ["post", undefined, true],
  ["post", true, true],
  ["post", false, false],
];

test.for(NEW_CONTACTS)(
  "a new contact from %s with subscribed %s is subscribed: %s, without a flip event",
  async ([endpoint, subscribed, expected]) => {
    const { byKey } = server.project;
    const email = newAddress();
    await enter(endpoint, byKey, { id: "", email }, subscribed === undefined ? {} : { subscribed });
    const [contact] = (await list(byKey, `?search=${email}`)).data;
    expect(contact).toMatchObject({ email, subscribed: expected });
    expect(await flipsOf(byKey, contact?.id ?? "")).toEqual([]);
  },
);

test.for(ENDPOINTS)(
  "%s keeps an omitted subscribed and flips a given one once, with one event",
  async (endpoint) => {
    const { byKey } = server.project;
    const { body: contact } = await upsert(byKey, { email: newAddress() });
    const states: boolean[] = [];
    for (const subscribed of [undefined, true, false, false, undefined, true, true, undefined]) {
      const reply = await enter(endpoint, byKey, contact, subscribed === undefined ? {} : { subscribed });
      expect(reply.status).toBe(200);
      states.push((await get(byKey, contact.id)).subscribed);
    }
    expect(states).toEqual([true, true, false, false, false, true, true, true]);
    expect(await flipsOf(byKey, contact.id)).toEqual(["contact.subscribed", "contact.unsubscribed"]);
  },
);

test("a flip precedes the event tracked with it", async () => {
  const { byKey } = server.project;
  const { body: contact } = await upsert(byKey, { email: newAddress() });
  await enter("track", byKey, contact, { subscribed: false });
  expect((await eventsOf(byKey, contact.id)).map(({ name }) => name)).toEqual([
    "entered",
    "contact.unsubscribed",
  ]);
});

test.for(ENDPOINTS)("twenty concurrent unsubscribes through %s flip once", async (endpoint) => {
  const { byKey } = server.project;
  const { body: contact } = await upsert(byKey, { email: newAddress() });
  const replies = await Promise.all(
    Array.from({ length: 20 }, () => enter(endpoint, byKey, contact, { subscribed: false })),
  );
  expect(replies.map(({ status }) => status)).toEqual(Array(20).fill(200));
  expect(await flipsOf(byKey, contact.id)).toEqual(["contact.unsubscribed"]);
});

test("PATCH changes only the sent fields, clears data with null, and ignores an empty patch", async () => {
  const { byKey } = server.project;
  const { body: contact } = await upsert(byKey, { email: newAddress(), data: { a: 1 } });
  const { _meta, ...before } = contact;
  expect((await patch(byKey, contact.id, {})).body).toEqual(before);
  const email = newAddress();
  expect((await patch(byKey, contact.id, { email: email.toUpperCase() })).body).toMatchObject({
    email,
    subscribed: true,
    data: { a: 1 },
  });
  const changed = await patch(byKey, contact.id, { data: { b: 2 }, subscribed: false });
  expect(changed.body).toMatchObject({ id: contact.id, email, subscribed: false, data: { a: 1, b: 2 } });
  expect(changed.body.createdAt).toBe(contact.createdAt);
  expect(Date.parse(changed.body.updatedAt)).toBeGreaterThan(Date.parse(contact.updatedAt));
  expect((await patch(byKey, contact.id, { data: null })).body.data).toEqual({});
  expect((await patch(byKey, contact.id, { email })).status).toBe(200);
});

test("read-only fields are ignored by every endpoint", async () => {
  const { byKey, id } = await server.createProject();
  const { body: contact } = await upsert(byKey, { email: "ada@example.com" });
  const forged = {
    id: randomUUID(),
    projectId: server.project.id,
    createdAt: "2000-01-01T00:00:00Z",
    updatedAt: "2000-01-01T00:00:00Z",
    _meta: { isNew: true },
  };
  for (const endpoint of ENDPOINTS) expect((await enter(endpoint, byKey, contact, forged)).status).toBe(200);
  expect(await get(byKey, contact.id)).toMatchObject({ id: contact.id, createdAt: contact.createdAt });
  expect(await server.rows("select id from contacts where project_id = $1", id)).toEqual([
    { id: contact.id },
  ]);
});

test("an address of another contact returns 409 without changes, also in concurrent requests", async () => {
  const { byKey } = await server.createProject();
  const { body: ada } = await upsert(byKey, { email: "ada@example.com" });
  const { body: bob } = await upsert(byKey, { email: "bob@example.com", data: { a: 1 } });
  const reply = await server.call(contacts.updateContact, byKey, {
    params: { id: bob.id },
    body: { email: "ADA@example.com", data: { a: 2 }, subscribed: false },
  });
  expect(errorOf(reply)).toBe("409 CONFLICT");
  expect(await get(byKey, bob.id)).toEqual({ ...bob, _meta: undefined });
  expect(await flipsOf(byKey, bob.id)).toEqual([]);
  const race = await Promise.all(
    [ada, bob].map(({ id }) =>
      server.call(contacts.updateContact, byKey, { params: { id }, body: { email: "new@example.com" } }),
    ),
  );
  expect(race.map(({ status }) => status).toSorted()).toEqual([200, 409]);
});

test.for([
  [{}, ["email required"]],
  [
    { email: "x", subscribed: "yes", data: 5 },
    ["data invalid_type", "email invalid_string", "subscribed invalid_type"],
  ],
  [
    { email: null, subscribed: null, data: null },
    ["data invalid_type", "email invalid_type", "subscribed invalid_type"],
  ],
  [{ email: ["a@example.com"] }, ["email invalid_type"]],
  [{ email: "a@example.com, b@example.com" }, ["email invalid_string"]],
  [{ email: "Ada <a@example.com>" }, ["email invalid_string"]],
  [{ email: "a@example.com\r\nBcc: b@example.com" }, ["email invalid_string"]],
  [{ email: `${"x".repeat(65)}@example.com` }, ["email invalid_string"]],
  ["x", ["body invalid_type"]],
  [[], ["body invalid_type"]],
  [null, ["body invalid_type"]],
] as Array<[unknown, string[]]>)("rejects a contact of %j with %j", async ([body, faults]) => {
  const before = await server.countRows();
  const json = JSON.stringify(body);
  const reply = await server.call(contacts.upsertContact, server.project.byKey, { anyBody: json });
  expect(reply.status).toBe(422);
  expect(faultsOf(reply)).toEqual(faults);
  expect(await server.countRows()).toEqual(before);
});

test("spellings of one address are one contact", async () => {
  const { byKey } = await server.createProject();
  const ids = new Set<string>();
  for (const email of ["Grace@Bücher.example", "grace@xn--bcher-kva.example", " GRACE@BÜCHER.EXAMPLE "])
    ids.add((await upsert(byKey, { email })).body.id);
  expect(ids.size).toBe(1);
});

async function fill(project: TestProject, emails: readonly string[]): Promise<string[]> {
  const ids: string[] = [];
  for (const email of emails) ids.push((await upsert(project.byKey, { email })).body.id);
  return ids;
}

test("the list is newest first, counts on the first page, and pages neither skip nor repeat", async () => {
  const project = await server.createProject();
  const ids = await fill(
    project,
    Array.from({ length: 25 }, (_, at) => `p${at}@example.com`),
  );
  const first = await list(project.byKey, "");
  expect(first).toMatchObject({ total: 25, hasMore: true });
  expect(first.data).toHaveLength(20);
  const second = await list(project.byKey, `?cursor=${first.cursor}`);
  expect(second).toMatchObject({ total: 0, hasMore: false, cursor: null });
  expect([...first.data, ...second.data].map(({ id }) => id)).toEqual(ids.toReversed());
  const all = await list(project.byKey, "?limit=100");
  expect(all).toMatchObject({ total: 25, hasMore: false, cursor: null });
  const exact = await list(project.byKey, "?limit=25");
  expect(exact).toMatchObject({ hasMore: false, cursor: null });
  expect(await list((await server.createProject()).byKey, "")).toEqual({
    data: [],
    cursor: null,
    hasMore: false,
    total: 0,
  });
});

test("a cursor survives the deletion of its row and exposes no other project", async () => {
  const project = await server.createProject();
  const ids = await fill(project, ["a@example.com", "b@example.com", "c@example.com"]);
  const first = await list(project.byKey, "?limit=1");
  await server.call("DELETE", `/contacts/${ids[2]}`, project.byKey);
  const rest = await list(project.byKey, `?cursor=${first.cursor}`);
  expect(rest.data.map(({ id }) => id)).toEqual([ids[1], ids[0]]);
  const elsewhere = await server.createProject();
  expect((await list(elsewhere.byKey, `?cursor=${first.cursor}`)).data).toEqual([]);
});

const cursorOf = (text: string) => Buffer.from(text).toString("base64url");

test("rejects cursors that this list did not return", async () => {
  const { byKey } = server.project;
  const id = randomUUID();
  const cursors = {
    empty: "",
    "a word": "garbage",
    "another list's": cursorOf(`events:${id}`),
    "no id": cursorOf("contacts:1"),
    SQL: cursorOf(`contacts:${id}' or '1'='1`),
    "more parts": cursorOf(`contacts:${id}:x`),
    "bytes that are not text": "%ff%fe",
    "cut off": cursorOf(`contacts:${id}`).slice(0, -3),
    "with something after it": `${cursorOf(`contacts:${id}`)}!!`,
  };
  const names = Object.keys(cursors) as Array<keyof typeof cursors>;
  expect(
    await responsesByName(names, String, async (name) =>
      errorOf(await server.call(contacts.listContacts, byKey, { anyQuery: `?cursor=${cursors[name]}` })),
    ),
  ).toEqual(sameByName(names, String, () => "400 BAD_REQUEST"));
  const long = await server.call(contacts.listContacts, byKey, { query: { cursor: "x".repeat(501) } });
  expect(faultsOf(long)).toEqual(["cursor too_big"]);
});

test.for([
  ["limit=0", "limit too_small"],
  ["limit=-1", "limit too_small"],
  ["limit=101", "limit too_big"],
  ["limit=1000000000", "limit too_big"],
  ["limit=abc", "limit invalid_type"],
  ["limit=", "limit invalid_type"],
  ["limit=1.5", "limit invalid_type"],
  ["limit=1e1", "limit invalid_type"],
  ["limit=1&limit=2", "limit invalid_type"],
  ["limit=99999999999999999999", "limit invalid_type"],
  [`search=${"x".repeat(255)}`, "search too_big"],
  ["search=a&search=b", "search invalid_type"],
  ["search=a%00b", "search custom"],
] as const)("GET /contacts?%.40s returns 422", async ([query, fault]) => {
  const reply = await server.call(contacts.listContacts, server.project.byKey, { anyQuery: `?${query}` });
  expect(reply.status).toBe(422);
  expect(faultsOf(reply)).toEqual([fault]);
});

test("search finds parts of addresses in any case and takes every character literally", async () => {
  const project = await server.createProject();
  await fill(project, [
    "ada.lovelace@example.com",
    "50%off@example.com",
    "snake_case@example.com",
    "snakexcase@example.com",
    "o'brien@example.com",
    "müller@example.com",
    "x@xn--bcher-kva.example",
  ]);
  const find = async (search: string) =>
    (await list(project.byKey, `?search=${encodeURIComponent(search)}`)).data.map(({ email }) => email);
  expect(await find("LOVE")).toEqual(["ada.lovelace@example.com"]);
  expect(await find("%")).toEqual(["50%off@example.com"]);
  expect(await find("50%off")).toEqual(["50%off@example.com"]);
  expect(await find("_")).toEqual(["snake_case@example.com"]);
  expect(await find("e_c")).toEqual(["snake_case@example.com"]);
  expect(await find("o'b")).toEqual(["o'brien@example.com"]);
  expect(await find("MÜL")).toEqual(["müller@example.com"]);
  for (const domain of ["BÜCHER", "@bücher.example", "x@Bücher", "bücher.ex", "bu\u0308cher.example"])
    expect(await find(domain)).toEqual(["x@xn--bcher-kva.example"]);
  for (const nothing of ["\\", "\\%", "a\\", "🦀", "' or '1'='1", "x'--", "*", "."].slice(0, -1))
    expect(await find(nothing)).toEqual([]);
  expect(await find("@example.com")).toHaveLength(6);
  const all = await list(project.byKey, "?search=");
  expect(all).toMatchObject({ total: 7 });
  const page = await list(project.byKey, "?search=snake&limit=1");
  expect(page).toMatchObject({ total: 2, hasMore: true });
  const next = await list(project.byKey, `?search=snake&limit=1&cursor=${page.cursor}`);
  expect([page, next].flatMap(({ data }) => data.map(({ email }) => email))).toEqual([
    "snakexcase@example.com",
    "snake_case@example.com",
  ]);
});

const lookUp = (caller: TestCaller, emails: unknown) =>
  server.call<{ found: string[]; notFound: string[] }>("POST", "/contacts/lookup", caller, { emails });

test("lookup returns each spelling as sent, found or not", async () => {
  const project = await server.createProject();
  await fill(project, ["ada@example.com", "x@xn--bcher-kva.example"]);
  const emails = [
    "ADA@example.com",
    "bob@example.com",
    "x@bücher.example",
    "nonsense",
    "",
    "ada@example.com",
  ];
  const reply = await lookUp(project.byKey, emails);
  expect(reply.status).toBe(200);
  expect(reply.body).toEqual({
    found: ["ADA@example.com", "x@bücher.example", "ada@example.com"],
    notFound: ["bob@example.com", "nonsense", ""],
  });
  const many = Array.from({ length: 500 }, (_, at) => `p${at}@example.com`);
  expect((await lookUp(project.byKey, many)).body.notFound).toEqual(many);
});

test.for([
  [undefined, ["emails required"]],
  [[], ["emails too_small"]],
  [Array(501).fill("a@example.com"), ["emails too_big"]],
  ["a@example.com", ["emails invalid_type"]],
  [
    ["a@example.com", 5, null, {}],
    ["emails.1 invalid_type", "emails.2 invalid_type", "emails.3 invalid_type"],
  ],
] as Array<[unknown, string[]]>)("rejects a lookup of %.40j with %j", async ([emails, faults]) => {
  const reply = await server.call("POST", "/contacts/lookup", server.project.byKey, { emails });
  expect(reply.status).toBe(422);
  expect(faultsOf(reply)).toEqual(faults);
});
