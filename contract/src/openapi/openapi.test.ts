// Tests the OpenAPI document with a validator, and against the endpoints, errors and examples it is generated from.
import { validate } from "@scalar/openapi-parser";
import { expect, test } from "vitest";
import { ENDPOINTS } from "../endpoints.ts";
import { ERRORS } from "../errors.ts";
import { openApiDocument } from "./openapi.ts";
import { errorsOf } from "./errors.ts";
import { EXAMPLE_BODIES } from "./examples.ts";

type Json = Record<string, unknown>;

interface Operation {
  path: string;
  method: string;
  value: Json;
}

const document = openApiDocument("https://post.example.com", "1.2.3");

function isObject(value: unknown): value is Json {
  return typeof value === "object" && value !== null;
}

function member(value: unknown, ...names: readonly string[]): unknown {
  return names.reduce<unknown>((inner, name) => (isObject(inner) ? inner[name] : undefined), value);
}

function operations(): Operation[] {
  return Object.entries(member(document, "paths") as Json).flatMap(([path, item]) =>
    Object.entries(item as Json).map(([method, value]) => ({ path, method, value: value as Json })),
  );
}

/** Returns every object in a value, with its path. */
function objectsIn(
  value: unknown,
  path: readonly string[] = [],
): Array<{ path: readonly string[]; value: Json }> {
  if (!isObject(value)) return [];
  const inner = Object.entries(value).flatMap(([name, child]) => objectsIn(child, [...path, name]));
  return [{ path, value }, ...inner];
}

test("the document is valid OpenAPI 3.1", async () => {
  const result = await validate(structuredClone(document));
  expect(result.errors ?? []).toEqual([]);
  expect(result.valid).toBe(true);
  expect(document["openapi"]).toBe("3.1.0");
});

test("the validator rejects a document with a broken operation", async () => {
  const broken = structuredClone(document);
  const track = member(broken, "paths", "/v1/track", "post") as Json;
  delete track["responses"];
  track["parameters"] = [{ name: "x" }];
  expect((await validate(broken)).valid).toBe(false);
});

test("the document contains every endpoint exactly once and nothing else", () => {
  const found = operations().map(
    ({ path, method, value }) => `${String(value["operationId"])} ${method} ${path}`,
  );
  const expected = ENDPOINTS.map(
    ({ name, method, path }) => `${name} ${method.toLowerCase()} ${path.replaceAll(/:(\w+)/g, "{$1}")}`,
  );
  expect(found.toSorted()).toEqual(expected.toSorted());
  expect(new Set(ENDPOINTS.map(({ name }) => name)).size).toBe(ENDPOINTS.length);
});

test("every $ref resolves and every shared response is used", () => {
  const references = objectsIn(document).flatMap(({ value }) =>
    typeof value["$ref"] === "string" ? [value["$ref"]] : [],
  );
  const unresolved = references.filter(
    (reference) => member(document, ...reference.slice(2).split("/")) === undefined,
  );
  expect(unresolved).toEqual([]);
  expect(references.length).toBeGreaterThan(ENDPOINTS.length);
  for (const kind of ["responses", "schemas", "headers", "parameters"]) {
    const names = Object.keys(member(document, "components", kind) as Json);
    expect(names.filter((name) => !references.includes(`#/components/${kind}/${name}`))).toEqual([]);
  }
});

test("an operation has the statuses of its endpoint and of each possible error", () => {
  for (const endpoint of ENDPOINTS) {
    const operation = operations().find(({ value }) => value["operationId"] === endpoint.name);
    const statuses = [
      ...Object.keys(endpoint.responses),
      ...errorsOf(endpoint).map((code) => String(ERRORS[code].status)),
    ];
    expect(Object.keys(member(operation, "value", "responses") as Json)).toEqual(
      [...new Set(statuses)].toSorted(),
    );
  }
});

test("error responses list the codes of the caller kind and of the endpoint", () => {
  const responses = member(document, "paths", "/v1/send", "post", "responses");
  const described = (status: string) => {
    const name =
      String(member(responses, status, "$ref"))
        .split("/")
        .at(-1) ?? "";
    return String(member(document, "components", "responses", name, "description"));
  };
  expect(described("401")).toContain("`INVALID_API_KEY`");
  expect(described("403")).toContain("`DOMAIN_NOT_VERIFIED`");
  expect(described("404")).toContain("`TEMPLATE_NOT_FOUND`");
  expect(described("404")).not.toContain("`RESOURCE_NOT_FOUND`");
  expect(described("409")).toContain("`IDEMPOTENCY_KEY_REUSED`");
  expect(Object.keys(member(document, "paths", "/users/@me", "get", "responses") as Json)).toEqual([
    "200",
    "401",
    "429",
    "500",
    "503",
  ]);
  expect(Object.keys(member(document, "paths", "/health", "get", "responses") as Json)).toEqual(["200"]);
});

test("every request field has a type, including the inputs of transformations", () => {
  const inputs = operations().flatMap(({ path, value }) =>
    objectsIn([value["parameters"], value["requestBody"]], [path]),
  );
  const mute = inputs
    .filter(({ path }) => path.at(-2) === "properties" || path.at(-1) === "items" || path.at(-1) === "schema")
    .filter(({ value }) => !["type", "anyOf", "enum", "const", "$ref", "allOf"].some((name) => name in value))
    .map(({ path }) => path.join("/"));
  expect(mute).toEqual([]);
});

test("every body except uploads has a valid example, and there are no other examples", () => {
  const withBody = ENDPOINTS.filter(({ takesBody, bodyKind }) => takesBody && bodyKind !== "upload");
  expect(Object.keys(EXAMPLE_BODIES).toSorted()).toEqual(withBody.map(({ name }) => name).toSorted());
  for (const { name, body } of withBody) {
    expect({ name, issues: body.safeParse(EXAMPLE_BODIES[name]).error?.issues }).toEqual({
      name,
      issues: undefined,
    });
  }
});

test("responses have their envelope, and raw responses their content type", () => {
  const content = (path: string, method: string) =>
    member(document, "paths", path, method, "responses", "200", "content");
  const send = member(content("/v1/send", "post"), "application/json", "schema");
  expect(member(send, "required")).toEqual(["success", "data"]);
  expect(member(send, "properties", "success")).toEqual({ type: "boolean", const: true });
  const read = member(content("/contacts/{id}", "get"), "application/json", "schema");
  expect(read).toEqual({ $ref: "#/components/schemas/Contact" });
  expect(Object.keys(content("/mailbox/messages/{id}/raw", "get") as Json)).toEqual(["message/rfc822"]);
  expect(Object.keys(content("/metrics", "get") as Json)).toEqual(["text/plain"]);
  expect(Object.keys(content("/openapi.json", "get") as Json)).toEqual(["application/json"]);
  expect(
    member(document, "paths", "/contacts/{id}", "delete", "responses", "204", "content"),
  ).toBeUndefined();
});

test("an object that extends a resource refers to it and lists only additional fields", () => {
  const schema = member(
    document,
    "paths",
    "/contacts",
    "post",
    "responses",
    "201",
    "content",
    "application/json",
    "schema",
  );
  expect(member(schema, "allOf", "0")).toEqual({ $ref: "#/components/schemas/Contact" });
  expect(Object.keys(member(schema, "allOf", "1", "properties") as Json)).toEqual(["_meta"]);
});

test("the public key is only accepted by tracker endpoints", () => {
  const open = operations().filter(({ value }) => JSON.stringify(value["security"]).includes("publicKey"));
  const trackers = ENDPOINTS.filter(({ caller }) => caller === "tracker");
  expect(open.map(({ value }) => value["operationId"])).toEqual(trackers.map(({ name }) => name));
});

function sessionCookie(url: string): unknown {
  return member(openApiDocument(url, "1.2.3"), "components", "securitySchemes", "session", "name");
}

test("the server URL and cookie match the installation", () => {
  expect(document["servers"]).toEqual([{ url: "https://post.example.com" }]);
  expect(sessionCookie("https://post.example.com")).toBe("__Host-postloft_session");
  expect(sessionCookie("http://localhost:3000")).toBe("postloft_session");
});
