// Tests the OpenAPI document with a validator, and against the endpoints, errors and examples it is generated from.
import { validate } from "@scalar/openapi-parser";
import { expect, test } from "vitest";
import { ENDPOINTS } from "../endpoints.ts";
import { ERRORS } from "../errors.ts";
import { COMPONENT_NAMES } from "./component-names.ts";
import { pascalCase } from "./components.ts";
import { DESCRIBED_ENDPOINTS, openApiDocument } from "./openapi.ts";
import { errorsOf } from "./errors.ts";
import { EXAMPLE_BODIES, EXAMPLE_UPLOADS } from "./examples.ts";
import { RESPONSE_EXAMPLES } from "./response-examples.ts";
import { inputSchema } from "./schemas.ts";

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

/** Returns the schema that a reference names, or the value itself. */
function resolved(value: unknown): unknown {
  const $ref = member(value, "$ref");
  return typeof $ref === "string" ? member(document, ...$ref.slice(2).split("/")) : value;
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

test("the document leaves out what other services and mail programs call", () => {
  const described = new Set(DESCRIBED_ENDPOINTS.map(({ name }) => name));
  expect(ENDPOINTS.map(({ name }) => name).filter((name) => !described.has(name))).toEqual([
    "tracking.open",
    "tracking.click",
    "pages.unsubscribe",
    "webhooks.sns",
    "webhooks.stripe",
    "instance.reach",
    "instance.allowTls",
  ]);
});

test("the document contains every other endpoint exactly once and nothing else", () => {
  const found = operations().map(
    ({ path, method, value }) => `${String(value["operationId"])} ${method} ${path}`,
  );
  const expected = DESCRIBED_ENDPOINTS.map(
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
  for (const endpoint of DESCRIBED_ENDPOINTS) {
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
  const inputs = ENDPOINTS.flatMap(({ name, params, query, body }) =>
    [params, query, body].flatMap((schema) => objectsIn(inputSchema(schema), [name])),
  );
  const mute = inputs
    .filter(({ path }) => path.at(-2) === "properties" || path.at(-1) === "items")
    .filter(({ value }) => !["type", "anyOf", "enum", "const", "$ref", "allOf"].some((name) => name in value))
    .map(({ path }) => path.join("/"));
  expect(mute).toEqual([]);
});

/** Returns the schemas of the document, with their paths. */
function schemas(): Array<{ path: readonly string[]; value: Json }> {
  const roots = [
    ...objectsIn(member(document, "components", "schemas")),
    ...operations().flatMap(({ path, value }) =>
      objectsIn([value["parameters"], value["requestBody"], value["responses"]], [path]),
    ),
  ];
  return roots.filter(({ path }) => !path.some((name) => name === "example" || name === "examples"));
}

test("no schema has a list of types or is null alone, which generators of Go and Java reject", () => {
  const lists = schemas().filter(({ value }) => Array.isArray(value["type"]));
  expect(lists.map(({ path }) => path.join("/"))).toEqual([]);
  const nulls = schemas().filter(({ path, value }) => value["type"] === "null" && path.at(-2) !== "anyOf");
  expect(nulls.map(({ path }) => path.join("/"))).toEqual([]);
});

test("anyOf only makes one type nullable, and the branches of oneOf exclude each other", () => {
  for (const { path, value } of schemas()) {
    const [anyOf, oneOf] = [value["anyOf"], value["oneOf"]] as Array<Json[] | undefined>;
    const nullable = anyOf === undefined || (anyOf.length === 2 && anyOf[1]?.["type"] === "null");
    expect({ path, nullable }).toEqual({ path, nullable: true });
    const types = (oneOf ?? []).map((branch) => member(resolved(branch), "type"));
    const references = (oneOf ?? []).map((branch) => branch["$ref"]);
    // A condition has a field and a group has conditions.
    if (references.join() === FILTER_PARTS.join()) continue;
    expect({ path, types }).toEqual({ path, types: [...new Set(types)] });
  }
});

const FILTER_PARTS = ["#/components/schemas/FilterCondition", "#/components/schemas/FilterGroup"];

test("every object with fields is a named component", () => {
  const unnamed = schemas()
    .filter(({ value }) => value["type"] === "object" && "properties" in value)
    // The fields that an object adds to another one are a part of its component.
    .filter(({ path }) => path.length > 1 && path.at(-2) !== "allOf")
    .filter(({ value }) => Object.keys(value["properties"] as Json).length > 0);
  expect(unnamed.map(({ path }) => path.join("/"))).toEqual([]);
});

/** Returns the names of the components that a value refers to, directly or through other components. */
function componentsOf(value: unknown, found = new Set<string>()): Set<string> {
  for (const { value: inner } of objectsIn(value)) {
    const name = /^#\/components\/schemas\/(.+)$/.exec(String(inner["$ref"]))?.[1];
    if (name === undefined || found.has(name)) continue;
    found.add(name);
    componentsOf(member(document, "components", "schemas", name), found);
  }
  return found;
}

test("components of several operations have their own names; add them to component-names.ts", () => {
  const users = new Map<string, string[]>();
  for (const { value } of operations())
    for (const name of componentsOf(value))
      users.set(name, [...(users.get(name) ?? []), String(value["operationId"])]);
  const named = [...users].filter(([name]) =>
    DESCRIBED_ENDPOINTS.some((endpoint) => name.startsWith(`${pascalCase(endpoint.name)}Re`)),
  );
  expect(named.filter(([, names]) => names.length > 1)).toEqual([]);
  const schemaNames = Object.keys(member(document, "components", "schemas") as Json);
  expect([...COMPONENT_NAMES.values()].filter((name) => !schemaNames.includes(name))).toEqual([]);
});

test("no two components have the same name, not even of different kinds", () => {
  const kinds = ["schemas", "responses", "parameters", "securitySchemes"];
  const names = kinds.flatMap((kind) =>
    Object.keys(member(document, "components", kind) as Json).map((name) => name.toLowerCase()),
  );
  expect(names.length).toBe(new Set(names).size);
});

test("every operation has an example of its parameters, its body and its success responses", () => {
  const missing = operations().flatMap(({ value }) => {
    const parameters = (value["parameters"] ?? []) as Json[];
    const responses = Object.entries(value["responses"] as Json).filter(([status]) => status.startsWith("2"));
    const contents = [value["requestBody"], ...responses.map(([, response]) => response)].flatMap((part) =>
      Object.values((member(part, "content") ?? {}) as Json),
    );
    return [...parameters.filter(({ required }) => required === true), ...contents]
      .filter((part) => member(part, "example") === undefined)
      .map(() => value["operationId"]);
  });
  expect(missing).toEqual([]);
});

test("every example of a response belongs to an operation and matches its schema", () => {
  const unfit = Object.entries(RESPONSE_EXAMPLES).flatMap(([key, example]) => {
    const [name, status] = key.split(" ");
    const endpoint = DESCRIBED_ENDPOINTS.find((one) => one.name === name);
    if (endpoint === undefined) return [{ key, problem: "no such operation" }];
    if (endpoint.envelope === "raw" || endpoint.envelope === "page") return [];
    const said = endpoint.envelope === "wrapped" ? member(example, "data") : example;
    const fits = Object.entries(endpoint.responses)
      .filter(([other]) => status === undefined || other === status)
      .some(([, schema]) => schema?.safeParse(said).success === true);
    return fits ? [] : [{ key, problem: "does not match" }];
  });
  expect(unfit).toEqual([]);
});

test("every body has a valid example, and there are no other examples", () => {
  const uploads = ENDPOINTS.filter(({ bodyKind }) => bodyKind === "upload");
  expect(Object.keys(EXAMPLE_UPLOADS).toSorted()).toEqual(uploads.map(({ name }) => name).toSorted());
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
  const send = resolved(member(content("/v1/send", "post"), "application/json", "schema"));
  expect(member(send, "required")).toEqual(["success", "data"]);
  expect(member(send, "properties", "success")).toEqual({ type: "boolean", description: "Always true." });
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
  const extended = resolved(schema);
  expect(member(extended, "allOf", "0")).toEqual({ $ref: "#/components/schemas/Contact" });
  expect(Object.keys(member(extended, "allOf", "1", "properties") as Json)).toEqual(["_meta"]);
});

test("the public key is only accepted by tracker endpoints", () => {
  const open = operations().filter(({ value }) => JSON.stringify(value["security"]).includes("publicKey"));
  const trackers = DESCRIBED_ENDPOINTS.filter(({ caller }) => caller === "tracker");
  expect(open.map(({ value }) => value["operationId"])).toEqual(trackers.map(({ name }) => name));
});

function sessionCookie(url: string): unknown {
  return member(openApiDocument(url, "1.2.3"), "components", "securitySchemes", "sessionCookie", "name");
}

test("the server URL and cookie match the installation", () => {
  expect(document["servers"]).toEqual([{ url: "https://post.example.com" }]);
  expect(sessionCookie("https://post.example.com")).toBe("__Host-postloft_session");
  expect(sessionCookie("http://localhost:3000")).toBe("postloft_session");
});
