// Tests templates over HTTP: what is stored, listed and rejected, and the separation of projects.
import { randomUUID } from "node:crypto";
import { beforeAll, expect, test } from "vitest";
import * as domains from "@postloft/contract/domains.ts";
import * as templates from "@postloft/contract/templates.ts";
import { LIMITS } from "@postloft/contract/limits/limits.ts";
import type { ErrorEnvelope } from "../platform/http/errors.ts";
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
import type { ResponseOf } from "../testing/typed-call.ts";

// No sender runs here, so that emails keep their state.
const server = useTestServer({ ROLES: "api" });

type Template = ResponseOf<typeof templates.getTemplate>;

const plain = { name: "Welcome", subject: "Hi {{firstName}}", body: "<p>Hi</p>", type: "TRANSACTIONAL" };
/** Saving returns warnings (unknown-variables.test.ts). */
async function save<Body>(method: string, path: string, caller: TestCaller, body: object) {
  const reply = await server.call<Body & { warnings?: unknown }>(method, path, caller, body);
  delete reply.body.warnings;
  return reply as Reply<Body>;
}
const create = (body: object = {}, caller: TestCaller = server.project.byKey) =>
  save<Template>("POST", "/templates", caller, { ...plain, ...body });
const refuse = (body: object, caller: TestCaller = server.project.byKey) =>
  server.call("POST", "/templates", caller, { ...plain, ...body });
const read = (id: string, caller: TestCaller = server.project.byKey) =>
  server.call(templates.getTemplate, caller, { params: { id } });
const patch = (id: string, body: object, caller: TestCaller = server.project.byKey) =>
  save<ErrorEnvelope>("PATCH", `/templates/${id}`, caller, body);
const list = async (query = "", caller: TestCaller = server.project.byKey) =>
  (await server.call(templates.listTemplates, caller, { anyQuery: query })).body;

let other: TestProject;
beforeAll(async () => {
  other = await server.createProject();
});

test("returns a template as it was sent and reads it again", async () => {
  const input = {
    ...plain,
    name: "  Welcome ",
    description: "For new people",
    type: "MARKETING",
    from: "News@sandbox.localhost",
    fromName: " The shop ",
    replyTo: "Answers@example.com",
    design: { blocks: [{ text: "Hi" }] },
  };
  const reply = await create(input);
  expect(reply.status).toBe(201);
  expect(reply.body).toEqual({
    ...input,
    locales: [],
    previewText: null,
    id: expect.any(String),
    name: "Welcome",
    from: "news@sandbox.localhost",
    fromName: "The shop",
    replyTo: "answers@example.com",
    createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
    updatedAt: reply.body.createdAt,
  });
  expect((await read(reply.body.id)).body).toEqual(reply.body);
  expect((await read(reply.body.id, server.project.bySession)).body).toEqual(reply.body);
});

test("stores optional fields as null when they are left out or blank", async () => {
  const empty = { description: null, from: null, fromName: null, replyTo: null, design: null };
  expect((await create()).body).toMatchObject(empty);
  expect((await create({ description: " ", fromName: "" })).body).toMatchObject(empty);
  expect((await create(empty)).body).toMatchObject(empty);
});

test.for([
  [
    "nothing",
    { name: undefined, subject: undefined, body: undefined, type: undefined },
    "name subject body type",
    "required",
  ],
  ["empty texts", { name: " ", subject: "", body: "" }, "name subject body", "too_small"],
  [
    "long texts",
    {
      name: "x".repeat(101),
      description: "x".repeat(501),
      subject: "x".repeat(999),
      fromName: "x".repeat(257),
    },
    "name description subject fromName",
    "too_big",
  ],
  [
    "line breaks",
    { name: "a\nb", subject: "a\r\nb", fromName: "a\nb" },
    "name subject fromName",
    "invalid_string",
  ],
  ["invalid addresses", { from: "x", replyTo: "a@b@c" }, "from replyTo", "invalid_string"],
  ["a sender that includes a name", { from: "Shop <news@sandbox.localhost>" }, "from", "invalid_string"],
  [
    "variables in the sender",
    { from: "{{x}}@sandbox.localhost", fromName: "{{name}}", replyTo: "{{x}}@example.com" },
    "from fromName replyTo",
    "invalid_string",
  ],
  ["an unknown type", { type: "marketing" }, "type", "invalid_enum_value"],
  [
    "values of the wrong type",
    { name: 1, description: 2, subject: 4, body: {}, from: 5, fromName: 6, replyTo: 7, design: "x" },
    "name description subject body from fromName replyTo design",
    "invalid_type",
  ],
  ["null in required fields", { name: null, subject: null, body: null }, "name subject body", "invalid_type"],
  ["a NUL", { name: "a\u0000", design: { a: "\u0000" } }, "name design.a", "custom"],
] as Array<[string, object, string, string]>)(
  "%s: rejects every invalid field on create and on change",
  async ([, body, fields, code]) => {
    const { id } = (await create()).body;
    const before = await server.countRows();
    const faults = fields
      .split(" ")
      .map((field) => `${field} ${code}`)
      .toSorted();
    expect(faultsOf(await refuse(body))).toEqual(faults);
    expect(faultsOf(await patch(id, body))).toEqual(code === "required" ? [] : faults);
    expect(await server.countRows()).toEqual(before);
    expect((await read(id)).body).toMatchObject(plain);
  },
);

test.for([
  [{ subject: "Hi {{" }, ["subject"], /^Line 1, column 4: ./],
  [{ body: "<p>\n  {{#if a}" }, ["body"], /^Line 2, column 3: ./],
  [{ body: "{{#each a}}x" }, ["body"], /^Line 1, column 1: ./],
  [{ body: "{{> partial}}" }, ["body"], /Partials/],
  [{ body: "{{* decorator}}" }, ["body"], /Decorators/],
  [{ body: "{{nosuchhelper a b}}" }, ["body"], /Unknown helper/],
  [{ body: "{{log a}}" }, ["body"], /Unknown helper/],
  [{ body: "{{a ?? }}" }, ["body"], /two values/],
  [{ body: `{{${"a.".repeat(50)}b}}` }, ["body"], /dots/],
  [{ body: "{{#if a}}".repeat(60) }, ["body"], /nested/],
  [{ body: "{{a}}".repeat(1_501) }, ["body"], /1,500/],
  [{ subject: "{{", body: "{{#if}}" }, ["body", "subject"], /^Line 1, column 1: ./],
] as Array<[object, string[], RegExp]>)(
  "reports the template error in %j with line and column on create and on change",
  async ([fault, fields, message]) => {
    const { id } = (await create()).body;
    for (const reply of [await refuse(fault), await patch(id, fault)]) {
      expect(reply.status).toBe(422);
      expect(faultsOf(reply)).toEqual(fields.map((field) => `${field} custom`));
      expect(reply.body.error.errors?.[0]?.message).toMatch(message);
    }
    expect((await read(id)).body).toMatchObject(plain);
  },
);

test("requires room for the footer of a marketing body in any order of body and type changes", async () => {
  const body = "{{a}}".repeat(1_500);
  const transactional = await create({ body });
  expect(transactional.status).toBe(201);
  expect(faultsOf(await refuse({ body, type: "MARKETING" }))).toEqual(["body custom"]);
  expect(faultsOf(await patch(transactional.body.id, { type: "MARKETING" }))).toEqual(["body custom"]);
  const marketing = await create({ type: "MARKETING" });
  expect(faultsOf(await patch(marketing.body.id, { body }))).toEqual(["body custom"]);
  expect((await patch(marketing.body.id, { body, type: "HEADLESS" })).status).toBe(200);
});

test("requires a verified sender domain on create and on change but keeps a stored one", async () => {
  const { body: domain } = await server.call(domains.createDomain, server.project.byKey, {
    body: {
      domain: "shop.example",
    },
  });
  const from = "a@shop.example";
  const { id } = (await create()).body;
  expect(errorOf(await refuse({ from }))).toBe("403 DOMAIN_NOT_VERIFIED");
  expect(errorOf(await patch(id, { from }))).toBe("403 DOMAIN_NOT_VERIFIED");
  await server.call(domains.verifyDomain, server.project.byKey, { params: { id: domain.id } });
  expect((await patch(id, { from })).status).toBe(200);
  expect(errorOf(await refuse({ from }, other.byKey))).toBe("403 DOMAIN_NOT_VERIFIED");
  await server.rows("update domains set last_checked_at = null, status = 'PENDING' where id = $1", domain.id);
  expect((await patch(id, { subject: "Still here" })).body).toMatchObject({ from, subject: "Still here" });
  expect(errorOf(await patch(id, { from }))).toBe("403 DOMAIN_NOT_VERIFIED");
});

const remove = async (id = "") => server.call("DELETE", `/domains/${id}`, server.project.byKey);

test("protects a domain from deletion while a template sends from it", async () => {
  const ids: string[] = [];
  for (const name of ["held.example", "mail.held.example"]) {
    const { body } = await server.call(domains.createDomain, server.project.byKey, {
      body: {
        domain: name,
      },
    });
    await server.call(domains.verifyDomain, server.project.byKey, { params: { id: body.id } });
    ids.push(body.id);
  }
  const [held, free] = ids;
  const template = await create({ name: "Holder", from: "a@held.example" });
  const refused = await remove(held);
  expect(errorOf(refused)).toBe("409 CONFLICT");
  expect(refused.body.message).toContain('"Holder"');
  expect((await remove(free)).status).toBe(204);
  await patch(template.body.id, { from: null });
  expect((await remove(held)).status).toBe(204);
});

test("changes only the given fields, clears them with null and ignores an empty change", async () => {
  const { body: before } = await create({
    description: "x",
    from: "a@sandbox.localhost",
    fromName: "A",
    replyTo: "r@example.com",
    design: { a: 1 },
  });
  expect((await patch(before.id, {})).body).toEqual(before);
  expect(faultsOf(await patch(before.id, { unknown: 1 }))).toEqual(["unknown unknown_field"]);
  const { body: after } = await patch(before.id, { name: "New", replyTo: null, design: null });
  expect(after).toEqual({
    ...before,
    name: "New",
    replyTo: null,
    design: null,
    updatedAt: expect.any(String),
  });
  expect((after as unknown as Template).updatedAt > before.updatedAt).toBe(true);
  expect((await read(before.id)).body).toEqual(after);
});

test("keeps concurrent changes of different fields", async () => {
  const { id } = (await create()).body;
  await Promise.all([
    patch(id, { name: "Both" }),
    patch(id, { subject: "Both" }),
    patch(id, { body: "Both" }),
  ]);
  expect((await read(id)).body).toMatchObject({ name: "Both", subject: "Both", body: "Both" });
});

test("rejects the second of two conflicting changes when it states the version it read", async () => {
  const { id, updatedAt: expectedUpdatedAt } = (await create()).body;
  const elsewhere = expectedUpdatedAt.replace("Z", "+00:00");
  const both = await Promise.all([
    patch(id, { subject: "One", expectedUpdatedAt }),
    patch(id, { subject: "Two", expectedUpdatedAt: elsewhere }),
  ]);
  expect(both.map(({ status }) => status).toSorted()).toEqual([200, 409]);
  const [refused] = both.filter(({ status }) => status === 409);
  expect(refused?.body.error.code).toBe("CHANGED_MEANWHILE");
  const { subject, updatedAt } = (await read(id)).body;
  expect(subject).toBe(both[0].status === 200 ? "One" : "Two");
  expect(refused?.body.error.message).toContain(updatedAt);

  expect((await patch(id, { subject: "Three", expectedUpdatedAt: updatedAt })).status).toBe(200);
  expect((await patch(id, { subject: "Four" })).status).toBe(200);
  expect((await read(id)).body.subject).toBe("Four");
  const faulty = await patch(id, { subject: "Five", expectedUpdatedAt: "yesterday" });
  expect(faultsOf(faulty)).toEqual(["expectedUpdatedAt invalid_date"]);
});

test("allows duplicate names", async () => {
  const ids = [(await create({ name: "Same" })).body.id, (await create({ name: "Same" })).body.id];
  expect(new Set(ids).size).toBe(2);
});

test("copies everything of a template into an independent one", async () => {
  const { body: first } = await create({ design: { a: [1] }, fromName: "A", description: "x" });
  const copy = await server.call(templates.duplicateTemplate, server.project.byKey, {
    params: { id: first.id },
  });
  expect(copy.status).toBe(201);
  expect(copy.body).toEqual({
    ...first,
    id: expect.any(String),
    name: "Welcome (copy)",
    createdAt: expect.any(String),
    updatedAt: expect.any(String),
  });
  expect(copy.body.id).not.toBe(first.id);
  await patch(copy.body.id, { body: "Changed" });
  expect((await read(first.id)).body).toEqual(first);
});

test("deletes a template once", async () => {
  const { id } = (await create()).body;
  expect((await server.call(templates.deleteTemplate, server.project.byKey, { params: { id } })).status).toBe(
    204,
  );
  expect(errorOf(await server.call(templates.deleteTemplate, server.project.byKey, { params: { id } }))).toBe(
    "404 TEMPLATE_NOT_FOUND",
  );
  expect((await server.call(templates.getTemplate, server.project.byKey, { params: { id } })).status).toBe(
    404,
  );
});

const CALLS_BY_ID = [
  ["GET", ""],
  ["PATCH", ""],
  ["DELETE", ""],
  ["POST", "/duplicate"],
  ["GET", "/usage"],
] as const;

test("treats another project's template as missing and leaves it unchanged", async () => {
  const { body: theirs } = await create({}, other.byKey);
  const ask = (id: string, caller: TestCaller) =>
    responsesByName(CALLS_BY_ID, nameOf, async ([method, path]) => {
      const headers = { ...caller.headers, "x-request-id": "same" };
      const body = method === "PATCH" ? { name: "Mine" } : undefined;
      const reply = await server.call(method, `/templates/${id}${path}`, { ...caller, headers }, body);
      return `${reply.status} ${reply.text.replace(/"timestamp":"[^"]*"/, "")}`;
    });
  const missing = await ask(randomUUID(), server.project.byKey);
  expect(Object.values(missing).every((response) => response.startsWith("404 "))).toBe(true);
  expect(await ask(theirs.id, server.project.byKey)).toEqual(missing);
  expect(await ask(theirs.id, server.project.bySession)).toEqual(missing);
  expect(await ask("no-id", server.project.byKey)).toEqual(missing);
  expect((await read(theirs.id, other.byKey)).body).toEqual(theirs);
  expect((await list("", server.project.byKey)).data.map(({ id }) => id)).not.toContain(theirs.id);
});

const nameOf = ([method, path]: readonly [string, string]) => `${method} ${path}`;

test("requires the secret key or a session of the project", async () => {
  const { id } = (await create()).body;
  const calls = [
    ["GET", "/templates"],
    ["POST", "/templates"],
    ["POST", "/templates/preview"],
    ...CALLS_BY_ID.map(([method, path]) => [method, `/templates/${id}${path}`]),
  ] as Array<[string, string]>;
  const ask = (caller: TestCaller) =>
    responsesByName(calls, nameOf, async ([method, path]) =>
      errorOf(
        await server.call(method, path, caller, method === "GET" || method === "DELETE" ? undefined : plain),
      ),
    );
  const all = (response: string) => sameByName(calls, nameOf, () => response);
  expect(await ask({})).toEqual(all("401 MISSING_AUTH"));
  expect(await ask({ key: server.project.publicKey })).toEqual(all("401 INVALID_API_KEY"));
  expect(await ask({ key: `sk_${"x".repeat(48)}` })).toEqual(all("401 INVALID_API_KEY"));
  expect(await ask({ cookie: other.owner.cookie, projectId: server.project.id })).toEqual(
    all("403 PROJECT_ACCESS_DENIED"),
  );
});

test("lets a disabled project read its templates but not change them", async () => {
  const project = await server.createProject();
  const { id } = (await create({}, project.byKey)).body;
  await server.rows("update projects set disabled = true where id = $1", project.id);
  expect((await read(id, project.byKey)).status).toBe(200);
  for (const [method, path] of [
    ["POST", "/templates"],
    ["PATCH", `/templates/${id}`],
    ["DELETE", `/templates/${id}`],
    ["POST", `/templates/${id}/duplicate`],
  ] as const)
    expect(
      errorOf(await server.call(method, path, project.byKey, method === "DELETE" ? undefined : plain)),
    ).toBe("403 PROJECT_DISABLED");
});

test("makes one template and one copy for the same Idempotency-Key", async () => {
  const project = await server.createProject();
  const again = (key: string, body: object = plain, path = "/templates") =>
    server.call<Template>("POST", path, { ...project.byKey, headers: { "idempotency-key": key } }, body);
  const [first, second] = [await again("one"), await again("one")];
  expect([first.status, second.status]).toEqual([201, 201]);
  expect(second.body).toEqual(first.body);
  expect(second.headers.get("idempotency-replayed")).toBe("true");
  expect(errorOf((await again("one", { ...plain, name: "Other" })) as never)).toBe(
    "409 IDEMPOTENCY_KEY_REUSED",
  );
  expect((await again("two", { ...plain, body: "{{" })).status).toBe(422);
  expect((await again("two")).status).toBe(201);
  const copies = [
    await again("three", {}, `/templates/${first.body.id}/duplicate`),
    await again("three", {}, `/templates/${first.body.id}/duplicate`),
  ];
  expect(copies[1]?.body).toEqual(copies[0]?.body);
  expect(await list("", project.byKey)).toMatchObject({ total: 3 });
});

test("lists all templates without a limit and pages with one, by name and type, without designs", async () => {
  const project = await server.createProject();
  const names = ["Apple 100%", "Banana_1", "Apple_pie", "cherry", "APPLE"];
  const ids: string[] = [];
  for (const [at, name] of names.entries())
    ids.push(
      (await create({ name, type: at % 2 === 0 ? "MARKETING" : "HEADLESS", design: { a: 1 } }, project.byKey))
        .body.id,
    );
  const newestFirst = ids.toReversed();
  const all = await list("", project.byKey);
  expect(all).toMatchObject({ cursor: null, hasMore: false, total: 5 });
  expect(all.data.map(({ id }) => id)).toEqual(newestFirst);
  expect(all.data[0]).not.toHaveProperty("design");
  expect(all.data[0]?.body).toBe(plain.body);
  const seen: string[] = [];
  for (let query = "?limit=2"; ;) {
    const page = await list(query, project.byKey);
    seen.push(...page.data.map(({ id }) => id));
    expect(page.total).toBe(query.includes("cursor") ? 0 : 5);
    if (!page.hasMore) break;
    query = `?limit=2&cursor=${page.cursor}`;
  }
  expect(seen).toEqual(newestFirst);
  const namesOf = async (query: string) => (await list(query, project.byKey)).data.map(({ name }) => name);
  expect(await namesOf("?search=apple")).toEqual(["APPLE", "Apple_pie", "Apple 100%"]);
  expect(await namesOf("?search=%25")).toEqual(["Apple 100%"]);
  expect(await namesOf("?search=e_p")).toEqual(["Apple_pie"]);
  expect(await namesOf("?type=HEADLESS&limit=1")).toEqual(["cherry"]);
  expect(await list("?type=TRANSACTIONAL", project.byKey)).toMatchObject({ data: [], total: 0 });
  const bad = await server.call(templates.listTemplates, project.byKey, { anyQuery: "?limit=101&type=x" });
  expect(faultsOf(bad)).toEqual(["limit too_big", "type invalid_enum_value"]);
  expect(errorOf(await server.call(templates.listTemplates, project.byKey, { query: { cursor: "x" } }))).toBe(
    "400 BAD_REQUEST",
  );
  const foreign = Buffer.from(`contacts:${ids[0]}`).toString("base64url");
  expect(
    errorOf(await server.call(templates.listTemplates, project.byKey, { query: { cursor: foreign } })),
  ).toBe("400 BAD_REQUEST");
});

/** Inserts `count` templates with bodies of the given size, bypassing the API. */
const makeMany = (projectId: string, count: number, bytes: number) =>
  server.rows(
    `insert into templates (project_id, id, name, type, subject, body)
     select $1, gen_random_uuid(), 'Many', 'HEADLESS', 'x', repeat('x', $3) from generate_series(1, $2)`,
    projectId,
    count,
    bytes,
  );

test("lists a thousand and one templates as a thousand and a cursor to the last", async () => {
  const project = await server.createProject();
  await makeMany(project.id, LIMITS.templatesListed.value + 1, 10);
  const first = await list("", project.byKey);
  expect(first).toMatchObject({ hasMore: true, total: 1001 });
  expect(first.data).toHaveLength(1000);
  const last = await list(`?cursor=${first.cursor}`, project.byKey);
  expect(last).toMatchObject({ hasMore: false, total: 0 });
  expect(new Set([...first.data, ...last.data].map(({ id }) => id)).size).toBe(1001);
});

test("splits templates too large for one response into pages without gaps or duplicates", async () => {
  const project = await server.createProject();
  await makeMany(project.id, 5, 1_000_000);
  const first = await list("", project.byKey);
  expect(first).toMatchObject({ hasMore: true, total: 5 });
  expect(first.data).toHaveLength(2);
  const seen = first.data.map(({ id }) => id);
  for (let page = first; page.hasMore;) {
    page = await list(`?limit=100&cursor=${page.cursor}`, project.byKey);
    seen.push(...page.data.map(({ id }) => id));
  }
  expect([seen.length, new Set(seen).size]).toEqual([5, 5]);
});

test("reports that no campaign or workflow uses a template", async () => {
  const { id } = (await create()).body;
  const usage = await server.call(templates.getTemplateUsage, server.project.byKey, { params: { id } });
  expect(usage.body).toEqual({ campaigns: [], workflowSteps: [], executions: [], emailsSent: 0 });
});

test("supports the older path and a design as large as the body limit", async () => {
  const design = { text: "x".repeat(500_000) };
  const { status, body } = await server.call<Template>("POST", "/v1/templates", server.project.byKey, {
    ...plain,
    design,
  });
  expect(status).toBe(201);
  expect(body.design).toEqual(design);
  const large = await refuse({ design: { text: "x".repeat(LIMITS.bodyBytes.value) } });
  expect(errorOf(large)).toBe("413 PAYLOAD_TOO_LARGE");
});

test("stores hostile texts unchanged", async () => {
  const name = `"><img src=x onerror=alert(1)>'; drop table templates; --`;
  const body = `<script>alert(1)</script>{{constructor}}{{__proto__.x}}{{"\u202e"}}`;
  const reply = await create({ name, body, description: "\u202egnp.exe" });
  expect(reply.status).toBe(201);
  expect((await read(reply.body.id)).body).toMatchObject({ name, body });
});
