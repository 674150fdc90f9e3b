// Sends invalid input to every endpoint of the contract. The response is never a 5xx, always has the error envelope, names every invalid
// field and changes nothing.
import { gzipSync } from "node:zlib";
import * as fc from "fast-check";
import { beforeAll, beforeEach, expect, test } from "vitest";
import { z } from "zod";
import * as contacts from "@postloft/contract/contacts.ts";
import * as templates from "@postloft/contract/templates.ts";
import { isSessionOnly, type Endpoint } from "@postloft/contract/endpoint.ts";
import { ENDPOINTS } from "@postloft/contract/endpoints.ts";
import { errorSchema } from "@postloft/contract/errors.ts";
import { LIMITS } from "@postloft/contract/limits/limits.ts";
import { bodyTypes } from "@postloft/contract/openapi/openapi.ts";
import { faultsOf, useTestServer, type Reply, type TestCaller } from "../../testing/test-server.ts";
import type { ErrorEnvelope } from "./errors.ts";

// No process sends emails here, so nothing changes in the background.
const server = useTestServer({ ROLES: "api" });
const envelope = z.strictObject(errorSchema.shape);

// Public pages take forms and are tested in contacts/pages/subscription-pages.test.ts. Links and pixels in emails always respond and are
// tested in deliveries/tracking/tracking.test.ts.
const API = ENDPOINTS.filter((one) => one.envelope !== "page");
// Uploads are not JSON and are tested in contacts/import/imports.test.ts.
const withBody = API.filter(({ takesBody, bodyKind }) => takesBody && bodyKind !== "upload");
const fieldsOf = (schema: z.ZodType): string[] =>
  schema instanceof z.ZodObject ? Object.keys(schema.shape) : [];
/** The more endpoints there are, the fewer tries each one gets, so that the file stays under half a minute. */
const RUNS_PER_ENDPOINT = Math.ceil(150 / withBody.length);
const MAX_PAIRS = 2_000;
const withQuery = API.filter(({ query }) => fieldsOf(query).length > 0);

function callerOf(endpoint: Endpoint): TestCaller {
  if (endpoint.caller === "anyone") return {};
  return isSessionOnly(endpoint) ? { cookie: server.project.owner.cookie } : server.project.byKey;
}

let contactId = "";
let templateId = "";

/** Returns a path to an existing resource, so that accepted input reaches the database. */
function pathOf({ path }: Endpoint): string {
  const isOfContact = path.startsWith("/contacts") || path.includes(":contactId");
  const isOfTemplate = path.startsWith("/templates");
  const id = isOfContact ? contactId : isOfTemplate ? templateId : server.project.id;
  return path.replace(/:[a-zA-Z]+/g, id);
}

beforeAll(async () => {
  const contact = { email: "there@example.com" };
  const { body } = await server.call(contacts.upsertContact, server.project.byKey, { body: contact });
  contactId = body.id;
  const template = { name: "There", type: "HEADLESS", subject: "Hello", body: "Hello" };
  const made = await server.call(templates.createTemplate, server.project.byKey, { anyBody: template });
  templateId = made.body.id;
});

let before: Record<string, number> = {};

/** Counts the rows of all tables except the rate counters, because those also count rejected sign-ups and sign-ins. */
async function countRows() {
  const { rate_windows: _counters, ...counts } = await server.countRows();
  return counts;
}

beforeEach(async () => {
  // Otherwise the rate limits of sign-up and sign-in would reject most requests.
  await server.rows("delete from rate_windows");
  // Otherwise a hostile name that one endpoint accepted could confirm the reset of the project at another one.
  await server.rows("update projects set name = 'A project'");
  before = await countRows();
});

/** Checks the rules of every response, and that a rejected request changed nothing. */
async function inspect(reply: Reply<ErrorEnvelope>): Promise<void> {
  const after = await countRows();
  const isRefused = reply.status >= 400;
  const error = isRefused ? envelope.parse(reply.body).error : null;
  const fields = error?.errors?.map(({ field }) => field) ?? [];
  const requestId = reply.headers.get("x-request-id");
  expect({
    isBug: reply.status >= 500,
    status: error?.statusCode ?? reply.status,
    requestId: error?.requestId ?? requestId,
    hasFields: fields.length > 0,
    fieldsToldTwice: fields.length - new Set(fields).size,
    rows: isRefused ? after : before,
  }).toEqual({
    isBug: false,
    status: reply.status,
    requestId,
    hasFields: reply.status === 422,
    fieldsToldTwice: 0,
    rows: before,
  });
  before = after;
}

async function send(endpoint: Endpoint, body: unknown, headers: Record<string, string> = {}) {
  const caller = { ...callerOf(endpoint), headers };
  const reply = await server.call(endpoint.method, pathOf(endpoint), caller, body);
  await inspect(reply);
  return reply;
}

/** A placeholder for a number that JSON can express and JavaScript cannot represent. */
const TOO_LARGE = "\u0001too large\u0001";
const toJson = (value: unknown) =>
  JSON.stringify(value).replaceAll(/"\\u0001too large\\u0001"(?!:)/g, "1e400");

function nested(levels: number): unknown {
  let value: unknown = {};
  for (let at = 0; at < levels; at++) value = at % 2 === 0 ? [value] : { a: value };
  return value;
}

const TEXTS = [
  "",
  " ",
  "\u0000",
  "a\u0000@example.com",
  "\ud800",
  "a@example.com\udfff",
  "a\r\nBcc: b@example.com",
  "a@example.com\r\nRCPT TO:<b@example.com>",
  "a@example.com,b@example.com",
  "a@example.com <b@example.com>",
  "group:a@example.com;",
  "\u212a@example.com",
  "{{#if",
  "{{{{{{",
  "{{constructor.constructor 'return process'}}",
  "'; drop table contacts; --",
  "%00",
  "../../etc/passwd",
  "<script>alert(1)</script>",
  "\u202egnp.exe",
  "x".repeat(10_000),
  "🦀".repeat(3_000),
  "00000000-0000-0000-0000-000000000000",
  "9999-99-99T99:99:99Z",
  TOO_LARGE,
];
const NAMES = [
  "__proto__",
  "constructor",
  "prototype",
  "toString",
  "\u0000",
  "\udfff",
  "",
  "x".repeat(300),
  "a.b",
];
const VALUES: unknown[] = [
  ...TEXTS,
  null,
  true,
  0,
  -1,
  1.5,
  1e308,
  -0,
  2 ** 53,
  [],
  {},
  [null],
  [[]],
  ["\u0000"],
  [TOO_LARGE],
  { email: null },
  { email: "x", name: "a\nb" },
  { a: "\u0000" },
  { a: "\ud800" },
  { a: TOO_LARGE },
  { a: { value: "\u0000", persistent: false } },
  { a: [{ b: "x\u0000" }] },
  { "X-A": "a\r\nb" },
  nested(5),
  nested(41),
  nested(500),
  Array(2_000).fill("x"),
  Array(600).fill(0),
  // Parsed instead of written as a literal, because only parsing makes `__proto__` an own key.
  ...NAMES.map((name): unknown => JSON.parse(`{${JSON.stringify(name)}:1}`)),
];
const hostileText = fc.constantFrom(...TEXTS);
const hostileValue: fc.Arbitrary<unknown> = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom(...VALUES) },
  hostileText.map((text) => [text]),
  hostileText.map((text) => ({ [text]: text })),
  fc.jsonValue(),
);

/** A valid value for each field. */
const VALID: Record<string, unknown> = {
  email: "valid@example.com",
  event: "opened",
  to: "valid@example.com",
  from: "a@sandbox.localhost",
  subject: "Hello",
  body: "Hello",
  type: "MARKETING",
  password: "a password for tests",
  name: "A name",
  domain: "valid.example.com",
  emails: ["valid@example.com"],
};

/** Returns the smallest valid body of the endpoint. */
function validBody(endpoint: Endpoint): Record<string, unknown> {
  const missing = endpoint.body.safeParse({}).error?.issues.map(({ path }) => path[0]) ?? [];
  // The project has no default sender, so each call needs `from`.
  const fields = fieldsOf(endpoint.body).filter((field) => missing.includes(field) || field === "from");
  return Object.fromEntries(fields.map((field) => [field, VALID[field]]));
}

const pairs = withBody.flatMap((endpoint) =>
  fieldsOf(endpoint.body).flatMap((field) => VALUES.map((value) => ({ endpoint, field, value }))),
);
/**
 * Where samples begin, from 0 to 1, random in each run. An error prints the value, and the environment variable of that name repeats the
 * sample.
 */
const SAMPLE_FROM = Number(process.env["SAMPLE_FROM"] ?? Math.random().toFixed(6));
const triedPairs = sample(pairs, MAX_PAIRS);

/** Returns evenly spaced items, at most `most`. */
function sample<Item>(all: readonly Item[], most: number): Item[] {
  const step = Math.ceil(all.length / most);
  const start = Math.min(Math.floor(SAMPLE_FROM * step), step - 1);
  return all.filter((_, at) => at % step === start);
}

/** Adds the value that repeats this sample to an error. */
function drawnAgain(what: string): (cause: unknown) => never {
  return (cause) => {
    throw new Error(`SAMPLE_FROM=${SAMPLE_FROM}: ${what.slice(0, 500)}`, { cause });
  };
}

test.for(withBody)("$method $path accepts or rejects each hostile value in each field", async (endpoint) => {
  const own = triedPairs.filter((pair) => pair.endpoint === endpoint);
  for (const { field, value } of own) {
    const body = toJson({ ...validBody(endpoint), [field]: value });
    await send(endpoint, body).catch(drawnAgain(`${field} in ${body}`));
  }
  expect(own.length).toBeGreaterThan(0);
});

test.for(withBody)("$method $path accepts or rejects any JSON", async (endpoint) => {
  const anything = fc.oneof(
    fc.jsonValue({ maxDepth: 5 }),
    hostileValue,
    fc.dictionary(fc.constantFrom(...fieldsOf(endpoint.body), "__proto__", "x"), hostileValue),
  );
  const statuses = new Set<number>();
  await fc.assert(
    fc.asyncProperty(anything, async (body) => {
      statuses.add((await send(endpoint, toJson(body))).status);
    }),
    { numRuns: RUNS_PER_ENDPOINT },
  );
  expect(Math.max(...statuses)).toBeLessThan(500);
});

/** Returns whether the schema rejects the value in an otherwise valid body, because of this field. */
function isRefusedAlone(endpoint: Endpoint, field: string, value: unknown): boolean {
  const body: unknown = JSON.parse(toJson({ ...validBody(endpoint), [field]: value }));
  const result = endpoint.body.safeParse(body);
  return !result.success && result.error.issues.some(({ path }) => path[0] === field);
}

/** Returns whether the field's own schema rejects the value regardless of the other fields. */
function isRefusedByItself(endpoint: Endpoint, field: string, value: unknown): boolean {
  const { body } = endpoint;
  return body instanceof z.ZodObject && body.shape[field]?.safeParse(value).success === false;
}

test.for(withBody)(
  "$method $path reports all fields together that are rejected separately",
  async (endpoint) => {
    const fields = fieldsOf(endpoint.body);
    const mutations = fc.uniqueArray(fc.tuple(fc.constantFrom(...fields), hostileValue), {
      selector: ([field]) => field,
      minLength: 1,
    });
    await fc.assert(
      fc.asyncProperty(mutations, async (changes) => {
        const body = { ...validBody(endpoint), ...Object.fromEntries(changes) };
        const reply = await send(endpoint, toJson(body));
        const reported = new Set(faultsOf(reply).map((fault) => fault.split(/[. ]/)[0]));
        // Beyond the depth limit, the rest of the body is not read.
        const isTooDeep = faultsOf(reply).some((fault) => fault.length > 2 * LIMITS.jsonDepth.value);
        // Rules about several fields are not checked while one of the fields is invalid.
        const isAskedTogether = !changes.some(([field, value]) => isRefusedByItself(endpoint, field, value));
        const missing = changes
          .filter(([field, value]) => !isTooDeep && isRefusedAlone(endpoint, field, value))
          .filter(([field, value]) => isAskedTogether || isRefusedByItself(endpoint, field, value))
          .map(([field]) => field)
          .filter((field) => !reported.has(field));
        expect(missing).toEqual([]);
      }),
      { numRuns: RUNS_PER_ENDPOINT },
    );
  },
);

/** Returns bodies that are not JSON. */
function notJson(endpoint: Endpoint): Array<string | Buffer> {
  const valid = JSON.stringify(validBody(endpoint));
  return [
    ...(endpoint.isBodyOptional ? [] : [Buffer.alloc(0)]),
    "{",
    valid.slice(0, valid.length / 2),
    valid.slice(0, -1),
    valid + valid,
    `${valid},`,
    `[${valid},]`,
    `/* */${valid}`,
    `\ufeff${valid}`,
    "{'email':1}",
    '{"email":NaN}',
    '{"email":"a\nb"}',
    Buffer.from([...Buffer.from('{"email":"'), 0xff, 0xfe, ...Buffer.from('"}')]),
    Buffer.from(valid, "utf16le"),
    gzipSync(valid),
  ];
}

test.for(withBody)("$method $path returns 400 for invalid JSON", async (endpoint) => {
  for (const body of notJson(endpoint)) expect((await send(endpoint, body)).status).toBe(400);
});

const DEEP = 1_000_000;
/** Size limits apply before the endpoint's own schema, so one endpoint with the normal limit and one with the large limit cover all. */
const LARGE = withBody.filter(({ name }) => name === "contacts.upsert" || name === "v1.send");

/** Returns JSON that is far too large or deep. */
function tooMuch(endpoint: Endpoint): string[] {
  const size = Math.min(endpoint.bodyLimitBytes ?? LIMITS.bodyBytes.value, 10_000_000) - 100;
  return [
    "[".repeat(DEEP),
    '{"a":'.repeat(DEEP / 10),
    "[".repeat(DEEP / 4) + "]".repeat(DEEP / 4),
    `${'{"data":'.repeat(DEEP / 10)}1${"}".repeat(DEEP / 10)}`,
    `{"email":${"[".repeat(DEEP / 4)}${"]".repeat(DEEP / 4)}}`,
    `{"to":[${"0,".repeat(size / 4)}0]}`,
    `{"headers":[${"[],".repeat(size / 4)}0]}`,
    `{${Array.from({ length: 60_000 }, (_, at) => `"k${at}":0`).join(",")}}`,
    `{"headers":{${Array.from({ length: 60_000 }, (_, at) => `"k${at}":0`).join(",")}}}`,
    `{${'"email":1,'.repeat(50_000)}"email":2}`,
    JSON.stringify({ email: "x".repeat(size) }),
    JSON.stringify({ ["x".repeat(size)]: "\u0000" }),
    '{"data":{"a":1e400},"email":-1e400}',
    '{"__proto__":{"polluted":1},"data":{"__proto__":{"polluted":1}}}',
  ];
}

test.for(LARGE)("$method $path withstands too much JSON", async (endpoint) => {
  const statuses = new Set<number>();
  for (const body of tooMuch(endpoint)) statuses.add((await send(endpoint, body)).status);
  expect(statuses).toContain(422);
  expect({}).not.toHaveProperty("polluted");
});

const ORDINARY = withBody.filter(({ bodyLimitBytes }) => bodyLimitBytes === null);

test.for(ORDINARY)("$method $path returns 413 for a body above its limit", async (endpoint) => {
  const large = Buffer.alloc(LIMITS.bodyBytes.value + 1, " ");
  expect((await send(endpoint, large)).body.error.code).toBe("PAYLOAD_TOO_LARGE");
});

test.for(withBody)("$method $path rejects a body with another content type", async (endpoint) => {
  const body = JSON.stringify(validBody(endpoint));
  const types = ["text/plain", "application/xml", "multipart/form-data; boundary=x", "x", "json", ","];
  for (const type of types.filter((one) => !bodyTypes(endpoint).includes(one))) {
    const reply = await send(endpoint, body, { "content-type": type });
    expect(reply.status).toBe(415);
  }
  for (const [encoding, bytes] of [
    ["gzip", gzipSync(body)],
    ["br", Buffer.from(`br${body}`)],
  ] as const)
    expect((await send(endpoint, bytes, { "content-encoding": encoding })).status).toBeOneOf([400, 415]);
});

const QUERY_VALUES = [
  ...TEXTS.map((text) => encodeURIComponent(text.toWellFormed()).slice(0, 2_000)),
  "%00",
  "a%00b",
  "%ff",
  "%",
  "%zz",
  "%ed%a0%80",
  "%C0%80",
  "+",
  "=",
  "&",
  ";",
  "[]",
  "a%0d%0ab",
  "-1",
  "0",
  "101",
  "1e9",
  "Infinity",
  "NaN",
  "1.5",
  "%EF%BC%90",
  "%201",
];
const hostileQuery = fc.oneof(
  fc.constantFrom(...QUERY_VALUES),
  fc.string({ maxLength: 20 }).map((text) => encodeURIComponent(text.toWellFormed())),
);

const parameters = withQuery.flatMap((endpoint) =>
  fieldsOf(endpoint.query).flatMap((name) => QUERY_VALUES.map((value) => ({ endpoint, name, value }))),
);
const triedParameters = sample(parameters, MAX_PAIRS);

test.for(withQuery)(
  "$method $path accepts or rejects each hostile value in each parameter",
  async (endpoint) => {
    const own = triedParameters.filter((one) => one.endpoint === endpoint);
    for (const { name, value } of own) {
      const path = `${pathOf(endpoint)}?${name}=${value}`;
      await server.call(endpoint.method, path, callerOf(endpoint)).then(inspect).catch(drawnAgain(path));
    }
    expect(own.length).toBeGreaterThan(0);
  },
);

test.for(withQuery)("$method $path accepts or rejects any query", async (endpoint) => {
  const names = fc.constantFrom(
    ...fieldsOf(endpoint.query).flatMap((name) => [name, `${name}[]`, `${name}[a]`]),
  );
  const query = fc.array(fc.tuple(fc.oneof({ weight: 4, arbitrary: names }, hostileQuery), hostileQuery), {
    maxLength: 5,
  });
  const statuses = new Set<number>();
  await fc.assert(
    fc.asyncProperty(query, async (drawn) => {
      const text = drawn.map(([name, value]) => `${name}=${value}`).join("&");
      const path = `${pathOf(endpoint)}?${text}`;
      const reply = await server.call(endpoint.method, path, callerOf(endpoint));
      await inspect(reply);
      statuses.add(reply.status);
    }),
    { numRuns: RUNS_PER_ENDPOINT },
  );
  expect(Math.max(...statuses)).toBeLessThan(500);
});

const withParameters = API.filter(({ path }) => path.includes(":"));

test.for(withParameters)(
  "$method $path handles any text in the path and finds no object for an invalid id",
  async (endpoint) => {
    await fc.assert(
      fc.asyncProperty(hostileQuery, async (text) => {
        const path = endpoint.path.replace(/:[a-zA-Z]+/, `${text.replaceAll("/", "")}x`);
        const reply = await server.call(
          endpoint.method,
          path,
          callerOf(endpoint),
          endpoint.takesBody ? {} : undefined,
        );
        await inspect(reply);
        // A key may use any word in place of its own project's id, and an event may have any name.
        const isWord = endpoint.caller === "project-by-path" || endpoint.path.includes(":eventName");
        expect(reply.status).toBeOneOf(isWord ? [200, 400, 404, 422] : [400, 404, 422]);
      }),
      { numRuns: Math.ceil(RUNS_PER_ENDPOINT / 2) },
    );
  },
);

test("ignores headers that Postloft does not define", async () => {
  const values = ["", " ", "x".repeat(5_000), "' or 1=1 --", "\u00ff", "null", "[]", "-1"];
  for (const name of [
    "x-project-id",
    "origin",
    "sec-fetch-site",
    "cookie",
    "x-forwarded-for",
    "accept",
    "te",
  ])
    for (const value of values) {
      const reply = await server.call(contacts.listContacts, {
        ...server.project.byKey,
        headers: { [name]: value },
      });
      expect(reply.status).toBe(200);
    }
  for (const name of ["authorization", "cookie", "idempotency-key", "x-request-id", "content-length"])
    for (const value of values) {
      const headers = { [name]: value, ...(name === "content-length" ? { connection: "close" } : {}) };
      const reply = await server.call(contacts.listContacts, { headers }).catch(() => null);
      expect(reply?.status ?? 400).toBeOneOf([400, 401]);
    }
});
