// The log of API requests: requests and responses without secrets or personal data, and without delaying any request.
import { assert, jsonValue, property, string } from "fast-check";
import { expect, test, vi } from "vitest";
import * as contacts from "@postloft/contract/contacts.ts";
import * as requests from "@postloft/contract/requests.ts";
import * as templates from "@postloft/contract/templates.ts";
import * as v1 from "@postloft/contract/v1.ts";
import { LIMITS } from "@postloft/contract/limits/limits.ts";
import { sql } from "kysely";
import { errorOf, useTestServer, type TestProject } from "../testing/test-server.ts";
import { redactBody, redactPath } from "./redact.ts";
import { sweepRequests } from "./request-log.ts";

const server = useTestServer({ ROLES: "api" });
const WAIT = { timeout: 30_000, interval: 50 };

const list = async ({ byKey }: TestProject, query = "") =>
  (await server.call(requests.listRequests, byKey, { anyQuery: query })).body;
const untilLogged = (project: TestProject, requestId: string) =>
  vi.waitUntil(async () => (await list(project, `?requestId=${requestId}`)).data[0], WAIT);

test("finds a request by its id with its response and without personal data", async () => {
  const project = await server.createProject();
  const headers = { "user-agent": "shop/1.2", "x-request-id": "order-4711" };
  const body = {
    email: "ada@example.com",
    event: "signed-up",
    subscribed: true,
    data: { plan: "pro", age: 36, address: { street: "1 Hidden Lane" } },
  };
  const asked = await server.call(v1.track, { key: project.publicKey, headers }, { body });
  expect(asked.status).toBe(200);
  const logged = await untilLogged(project, "order-4711");
  expect(logged).toMatchObject({
    method: "POST",
    path: "/v1/track",
    status: 200,
    errorCode: null,
    key: "public",
    userAgent: "shop/1.2",
    leftOut: 0,
  });
  const { body: one } = await server.call(requests.getRequest, project.byKey, { params: { id: logged.id } });
  expect(one.body).toEqual({
    email: "[…]@example.com",
    event: "signed-up",
    subscribed: true,
    data: { plan: "[text of 3]", age: "[number]", address: { street: "[text of 13]" } },
  });
  expect(one.response).toEqual({
    success: true,
    data: {
      contact: expect.stringMatching(/^[\da-f-]{36}$/),
      event: expect.stringMatching(/^[\da-f-]{36}$/),
      timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT/),
    },
  });
  const other = await server.createProject();
  expect(errorOf(await server.call(requests.getRequest, other.byKey, { params: { id: logged.id } }))).toBe(
    "404 REQUEST_NOT_FOUND",
  );
  expect((await list(other, "?requestId=order-4711")).data).toEqual([]);
  await server.call(contacts.listContacts, { ...project.bySession }, { query: { search: "secret-person" } });
  await server.call(
    contacts.listContacts,
    {
      ...project.byKey,
      headers: { "x-request-id": "after" },
    },
    { query: { search: "secret-person" } },
  );
  await untilLogged(project, "after");
  const paths = (await list(project, "?path=/contacts")).data.map(({ path }) => path);
  expect(paths).toEqual(["/contacts"]);
});

test("keeps failures with their code and finds them by status, method and page", async () => {
  const project = await server.createProject();
  for (const [method, path, body] of [
    ["POST", "/v1/send", {}],
    ["GET", "/contacts/nobody", undefined],
    ["GET", "/contacts", undefined],
  ] as const)
    await server.call(method, path, project.byKey, body);
  const all = await vi.waitUntil(async () => {
    const { data } = await list(project);
    return data.filter(({ path }) => path !== "/requests").length === 3 && data;
  }, WAIT);
  expect(all.map(({ status, errorCode }) => [status, errorCode])).toContainEqual([422, "VALIDATION_ERROR"]);
  const failed = await list(project, "?status=4xx&limit=1");
  const next = await list(project, `?status=4xx&limit=1&cursor=${failed.cursor}`);
  expect([...failed.data, ...next.data].map(({ path }) => path)).toEqual(["/contacts/nobody", "/v1/send"]);
  expect((await list(project, "?status=422&method=POST")).data.map(({ path }) => path)).toEqual(["/v1/send"]);
  expect(errorOf(await server.call(requests.listRequests, project.byKey, { query: { status: "abc" } }))).toBe(
    "422 VALIDATION_ERROR",
  );
  expect(errorOf(await server.call(requests.listRequests, project.byKey, { query: { cursor: "abc" } }))).toBe(
    "400 BAD_REQUEST",
  );
});

test("keeps the response to a request, with the names of its values instead of the values", async () => {
  const project = await server.createProject();
  const ask = async (id: string, path: string, body?: object) => {
    const caller = { ...project.byKey, headers: { "x-request-id": id } };
    await server.call(body === undefined ? "GET" : "POST", path, caller, body);
    const logged = await untilLogged(project, id);
    const params = { id: logged.id };
    return (await server.call(requests.getRequest, project.byKey, { params })).body.response;
  };
  const data = { "ada@example.com": "1 Hidden Lane" };
  const created = await ask("created", "/contacts", { email: "ada@example.com", data });
  expect(created).toMatchObject({ email: "[…]@example.com", data: { "[…]": "[text of 13]" } });
  const rejected = await ask("rejected", "/v1/send", {
    to: "ada",
    from: "a@unknown.example",
    subject: "x".repeat(2_000),
    body: "<p></p>",
  });
  expect(rejected).toMatchObject({ success: false, error: { code: "VALIDATION_ERROR", statusCode: 422 } });
  const { errors } = (rejected as { error: { errors: Array<{ field: string; message: string }> } }).error;
  expect(errors.map(({ field }) => field)).toContain("subject");
  expect(errors.find(({ field }) => field === "subject")?.message).toMatch(/\{\w+\}/);
  const missing = await ask("missing", "/contacts/ada@example.com");
  expect(JSON.stringify([created, rejected, missing])).not.toMatch(/Hidden|ada@/);
  expect(missing).toMatchObject({ error: { code: "CONTACT_NOT_FOUND" } });
});

test("keeps a few of many requests in a second, and counts the skipped ones in the next entry", async () => {
  const project = await server.createProject();
  const places = LIMITS.loggedRequests.value;
  const many = 5 * places;
  await Promise.all(Array.from({ length: many }, () => server.call(templates.listTemplates, project.byKey)));
  await vi.waitFor(async () => {
    await server.call(templates.listTemplates, project.byKey);
    const { data } = await list(project, "?limit=100");
    const seen = data.length + data.reduce((sum, { leftOut }) => sum + leftOut, 0);
    expect(data.some(({ leftOut }) => leftOut > 0)).toBe(true);
    expect(seen).toBeGreaterThanOrEqual(many);
    expect(data.length).toBeLessThan(many);
  }, WAIT);
});

test("keeps requests that could not be written, and writes them once", async () => {
  const project = await server.createProject();
  await server.rows("create sequence failed_writes");
  // A sequence is not rolled back, so only the first two writes fail.
  await server.rows(`
    create function fail_twice() returns trigger language plpgsql as $$
    begin
      if nextval('failed_writes') <= 2 then raise exception 'as the test asked'; end if;
      return null;
    end $$`);
  await server.rows(
    "create trigger fails before insert on api_requests for each statement execute function fail_twice()",
  );
  for (const name of ["a", "b"])
    await server.call("GET", "/templates", { ...project.byKey, headers: { "x-request-id": `lost-${name}` } });
  await untilLogged(project, "lost-b");
  await server.rows("drop trigger fails on api_requests");
  for (const name of ["a", "b"])
    expect((await list(project, `?requestId=lost-${name}`)).data).toHaveLength(1);
  expect(await server.rows("select last_value > 2 as failed from failed_writes")).toEqual([{ failed: true }]);
});

test("deletes requests after their retention", async () => {
  const project = await server.createProject();
  await server.call(templates.listTemplates, { ...project.byKey, headers: { "x-request-id": "old" } });
  await server.call(templates.listTemplates, { ...project.byKey, headers: { "x-request-id": "young" } });
  await untilLogged(project, "old");
  await untilLogged(project, "young");
  await sql`update api_requests set at = at - make_interval(days => ${LIMITS.requestLogDays.value}, mins => 1)
    where request_id = 'old'`.execute(server.database);
  await sweepRequests(server.database);
  expect((await list(project, "?requestId=old")).data).toEqual([]);
  expect((await list(project, "?requestId=young")).data).toHaveLength(1);
});

test.each([
  [
    { email: "ada@shop.example", to: ["bob@mail.example"] },
    { email: "[…]@shop.example", to: ["[…]@mail.example"] },
  ],
  [
    { to: { name: "Ada", email: "ada@shop.example" } },
    { to: { name: "[text of 3]", email: "[…]@shop.example" } },
  ],
  [
    { data: { password: "Tr0ub@secretpart", email: "a@shop.example" } },
    { data: { password: "[text of 16]", email: "[text of 14]" } },
  ],
  [
    { password: "a@shop.example", event: "a@shop.example" },
    { password: "[text of 14]", event: "[text of 14]" },
  ],
  [{ email: "Tr0ub@secretpart" }, { email: "[text of 16]" }],
  [{ url: "https://u:p@hooks.example.com/T00/SECRETTOKEN?key=abc" }, { url: "[text of 53]" }],
  [{ email: "https://u:p@hooks.example.com" }, { email: "[text of 29]" }],
  [{ email: "a@shop.example/T00" }, { email: "[text of 18]" }],
  [
    { apiToken: 9999, iban: 12345, pins: [1, 2] },
    { apiToken: "[number]", iban: "[number]", pins: ["[number]", "[number]"] },
  ],
  [
    { limit: 20, position: { x: 1, y: 2 }, data: { limit: 20 } },
    { limit: 20, position: { x: 1, y: 2 }, data: { limit: "[number]" } },
  ],
  [
    { subscribed: true, data: { sick: true } },
    { subscribed: true, data: { sick: "[boolean]" } },
  ],
])("redacts %j to %j", (body, kept) => {
  expect(redactBody(Buffer.from(JSON.stringify(body)))).toEqual(kept);
});

/** The same value with every text replaced. */
function withTexts(value: unknown, text: string): unknown {
  if (typeof value === "string") return text;
  if (Array.isArray(value)) return value.map((item) => withTexts(item, text));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, withTexts(item, text)]));
}

test("keeps no text outside the naming fields in any body", () => {
  const hidden = "hidden words";
  assert(
    property(jsonValue({ maxDepth: 4 }), string(), (value, name) => {
      const texts = withTexts(value, hidden);
      const person = { name: hidden, email: `${hidden.replace(" ", ".")}@example.com` };
      const body = {
        data: { [name]: texts, event: texts },
        password: hidden,
        variables: texts,
        to: [person, `${hidden} <a@b.c>`],
        name: hidden,
        template: `${hidden} <a@b.c>`,
      };
      const kept = JSON.stringify(redactBody(Buffer.from(JSON.stringify(body))));
      expect(kept).not.toMatch(/hidden[ .]words/);
    }),
  );
  expect(redactBody(Buffer.from('{"event":"a\\u0000b"}'))).toEqual({ event: "a�b" });
  const key = `sk_${"a".repeat(48)}`;
  const mistaken = { event: `key ${key}`, [key]: 1, template: "whsec_QUJDREVGR0g=", name: "task_of_the_day" };
  expect(JSON.stringify(redactBody(Buffer.from(JSON.stringify(mistaken))))).not.toMatch(/aaaa|QUJD/);
  expect(redactPath(`/contacts/${key}`, "/contacts/:id")).toBe("/contacts/[secret]");
  expect(redactPath("/task_assigned_today", "unknown")).toBe("/task_assigned_today");
  const asked = ["/suppressions/ada%40example.com", "/suppressions/:address"] as const;
  expect(redactPath(...asked)).toBe("/suppressions/:address");
  expect(redactPath("/contacts/1", "/contacts/:id")).toBe("/contacts/1");
  expect(redactBody(Buffer.from("no json"))).toBeNull();
  expect(redactBody(Buffer.from(JSON.stringify({ text: "x".repeat(20_000) })))).toBeNull();
});
