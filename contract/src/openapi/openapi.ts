// Generates one OpenAPI 3.1 document from the endpoints. No I/O: the server serves the document and tools/generate stores it.
import type { z } from "zod";
import type { Endpoint, UnknownFields } from "../endpoint.ts";
import { ENDPOINTS } from "../endpoints.ts";
import { errorSchema, ERRORS, type ErrorCode } from "../errors.ts";
import { formatBytes, LIMITS } from "../limits/limits.ts";
import { Components, pascalCase } from "./components.ts";
import { eventCalls } from "./event-call.ts";
import { errorsOf, acceptsIdempotencyKey, takesKey } from "./errors.ts";
import { EXAMPLE_BODIES, EXAMPLE_ID, EXAMPLE_PARAMETERS, EXAMPLE_UPLOADS } from "./examples.ts";
import { NOUNS, nounTitle } from "./nouns.ts";
import { plainTypes } from "./rewrite-unions.ts";
import { RESPONSE_EXAMPLES } from "./response-examples.ts";
import {
  inputSchema,
  nounOf,
  outputSchema,
  resourceReference,
  RESOURCES,
  resourceSchema,
  type JsonSchema,
} from "./schemas.ts";
import { SECURITY, securitySchemes } from "./security.ts";

type Json = Record<string, unknown>;

/** Returns the schema of a response without an envelope. */
function rawSchema({ contentType }: Endpoint): JsonSchema {
  if (contentType === "application/json") return { type: "object" };
  const isText = contentType.startsWith("text/") || contentType.startsWith("message/");
  return isText ? { type: "string" } : { type: "string", format: "binary" };
}

const STATUS_TEXTS: Readonly<Record<number, string>> = {
  200: "Done.",
  201: "Created.",
  202: "Accepted; the work is done in the background.",
  204: "Done; the response has no body.",
  302: "Redirect.",
  503: "Temporarily unavailable.",
};

/** Requests that other services, mail programs and mailbox providers send to us. No API client sends them. */
const INBOUND = new Set([
  "webhooks.sns",
  "webhooks.stripe",
  "pages.unsubscribe",
  "tracking.open",
  "tracking.click",
  "instance.reach",
  "instance.allowTls",
]);

/** The endpoints in the document: all except those that receive requests of other services. */
export const DESCRIBED_ENDPOINTS: readonly Endpoint[] = ENDPOINTS.filter(({ name }) => !INBOUND.has(name));

interface Description {
  readonly paths: Readonly<Record<string, Json>>;
  readonly components: Readonly<Record<string, Json>>;
}

const describeOnce = once(() => describe(new Components()));

/**
 * Returns the OpenAPI document of this API. The paths and schemas are built once because that takes about a second.
 *
 * @param serverUrl the public URL of this API without a trailing slash, or `/` for the location of this document
 * @param version of the service
 */
export function openApiDocument(serverUrl: string, version: string): Json {
  const { paths, components } = describeOnce();
  return {
    openapi: "3.1.0",
    info: {
      title: "Postloft",
      version,
      description:
        "Transactional email, contacts and events of the projects on one installation. Unknown fields in a request are ignored unless the endpoint documents otherwise; responses may get additional fields.",
      contact: { name: "Administrator of this installation" },
      license: { name: "MIT", identifier: "MIT" },
    },
    servers: [{ url: serverUrl }],
    tags: [...new Set(DESCRIBED_ENDPOINTS.map(nounOf))].map((noun) => ({
      name: nounTitle(noun),
      description: NOUNS[noun]?.about ?? "",
    })),
    paths,
    webhooks: eventCalls(nounTitle("webhooks")),
    components: { ...components, securitySchemes: securitySchemes(serverUrl) },
  };
}

function once<Value>(make: () => Value): () => Value {
  let made: { value: Value } | null = null;
  return () => (made ??= { value: make() }).value;
}

/** Returns the paths and all components except the credentials, which depend on the server's URL. */
function describe(components: Components): Description {
  const errorGroups = new Map<string, ErrorCode[]>();
  const paths: Record<string, Json> = {};
  components.define(
    new Map([
      ...[...RESOURCES].map(([name, resource]) => [name, plainTypes(resourceSchema(resource))] as const),
      ["Error", plainTypes(outputSchema(errorSchema))],
    ]),
  );
  for (const endpoint of DESCRIBED_ENDPOINTS) {
    const item = (paths[endpoint.path.replaceAll(/:(\w+)/g, "{$1}")] ??= {});
    item[endpoint.method.toLowerCase()] = operation(endpoint, components, errorGroups);
  }
  return {
    paths,
    components: {
      schemas: components.schemas,
      responses: Object.fromEntries([...errorGroups].map(([name, codes]) => [name, errorResponse(codes)])),
      parameters: { IdempotencyKey: IDEMPOTENCY_KEY },
      headers: HEADERS,
    },
  };
}

function operation(endpoint: Endpoint, components: Components, errorGroups: Map<string, ErrorCode[]>): Json {
  const parameters = [...parametersOf("path", endpoint.params), ...parametersOf("query", endpoint.query)];
  if (acceptsIdempotencyKey(endpoint)) parameters.push({ $ref: "#/components/parameters/IdempotencyKey" });
  return {
    operationId: endpoint.name,
    tags: [nounTitle(nounOf(endpoint))],
    summary: endpoint.summary,
    description: endpoint.description,
    security: SECURITY[endpoint.caller],
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(hasFields(endpoint) ? { requestBody: requestBody(endpoint, components) } : {}),
    responses: { ...describeResponses(endpoint, components), ...errors(endpoint, errorGroups) },
  };
}

function parametersOf(place: "path" | "query", schema: z.ZodType): Json[] {
  const { properties, required } = inputSchema(schema);
  return Object.entries(properties ?? {}).map(([name, property]) => {
    const { description, ...type } = typeof property === "object" ? property : {};
    const isRequired = place === "path" || (required ?? []).includes(name);
    return {
      name,
      in: place,
      ...(description === undefined ? {} : { description }),
      ...(isRequired ? { required: true, example: EXAMPLE_PARAMETERS[name] ?? EXAMPLE_ID } : {}),
      schema: plainTypes(type),
    };
  });
}

const UNKNOWN_FIELDS: Readonly<Record<UnknownFields, string>> = {
  ignored: "",
  warned: "Unknown fields are ignored and listed in `warnings`.",
  refused: "Unknown fields are rejected (422).",
  "refused-unless-returned":
    "Unknown fields are rejected (422). Fields of the response are ignored, so that you can send a whole object back.",
};

/** Returns whether the body has fields to describe. The form of a page with only a button has none. */
function hasFields(endpoint: Endpoint): boolean {
  return endpoint.takesBody && Object.keys(inputSchema(endpoint.body).properties ?? {}).length > 0;
}

function requestBody(endpoint: Endpoint, components: Components): Json {
  const limitBytes = endpoint.bodyLimitBytes ?? LIMITS.bodyBytes.value;
  const example = EXAMPLE_BODIES[endpoint.name] ?? EXAMPLE_UPLOADS[endpoint.name];
  const schema = components.name(
    plainTypes(inputSchema(endpoint.body)),
    `${pascalCase(endpoint.name)}Request`,
  );
  const content = { schema, ...(example === undefined ? {} : { example }) };
  return {
    required: !endpoint.isBodyOptional,
    description: [`Up to ${formatBytes(limitBytes)}.`, UNKNOWN_FIELDS[endpoint.unknownFields]]
      .filter((sentence) => sentence !== "")
      .join(" "),
    content: Object.fromEntries(bodyTypes(endpoint).map((type) => [type, content])),
  };
}

/** Returns the content types an endpoint reads; the first is the preferred one. */
export function bodyTypes(endpoint: Endpoint): readonly string[] {
  if (endpoint.bodyKind === "upload") return ["multipart/form-data"];
  if (endpoint.bodyKind === "text-json") return ["text/plain", "application/json"];
  return endpoint.envelope === "page"
    ? ["application/x-www-form-urlencoded", "multipart/form-data"]
    : ["application/json"];
}

function describeResponses(endpoint: Endpoint, components: Components): Json {
  const headers = headerReferences([
    "X-Request-ID",
    ...(takesKey(endpoint) ? (["RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset"] as const) : []),
    ...(acceptsIdempotencyKey(endpoint) ? (["Idempotency-Replayed"] as const) : []),
  ]);
  return Object.fromEntries(
    Object.entries(endpoint.responses).map(([status, schema], at) => {
      const description = STATUS_TEXTS[Number(status)] ?? "Answered.";
      if (schema === null) return [status, { description, headers }];
      const name = `${pascalCase(endpoint.name)}Result${at === 0 ? "" : status}`;
      const media = {
        schema: components.name(responseSchema(endpoint, schema), name),
        ...exampleOf(endpoint, status, schema),
      };
      return [status, { description, headers, content: { [endpoint.contentType]: media } }];
    }),
  );
}

/** Returns the example of a success response. An example without a status is the one of each response whose schema it matches. */
function exampleOf({ name, envelope }: Endpoint, status: string, schema: z.ZodType): Json {
  const example = RESPONSE_EXAMPLES[`${name} ${status}`] ?? RESPONSE_EXAMPLES[name];
  if (!status.startsWith("2") || example === undefined) return {};
  const said = envelope === "wrapped" ? (example as { data?: unknown }).data : example;
  const isText = envelope === "raw" || envelope === "page";
  return isText || schema.safeParse(said).success ? { example } : {};
}

function responseSchema(endpoint: Endpoint, schema: z.ZodType): JsonSchema {
  if (endpoint.envelope === "raw" || endpoint.envelope === "page") return rawSchema(endpoint);
  const data = plainTypes(outputSchema(schema));
  if (endpoint.envelope === "bare") return data;
  const properties = { success: plainTypes({ type: "boolean", const: true }), data };
  return { type: "object", properties, required: ["success", "data"] };
}

/** Returns one response for each status, which lists the codes. Equal ones are shared as components. */
function errors(endpoint: Endpoint, groups: Map<string, ErrorCode[]>): Json {
  const byStatus = Map.groupBy(errorsOf(endpoint), (code) => ERRORS[code].status);
  const responses = [...byStatus]
    .filter(([status]) => !(status in endpoint.responses))
    .map(([status, codes]) => {
      const name = codes.join("-");
      groups.set(name, codes);
      return [status, { $ref: `#/components/responses/${name}` }] as const;
    });
  return Object.fromEntries(responses);
}

const RETRIED_STATUSES = [409, 429, 503];

function errorResponse(codes: readonly ErrorCode[]): Json {
  const [first] = codes;
  const isRetried = first !== undefined && RETRIED_STATUSES.includes(ERRORS[first].status);
  return {
    description: codes.map((code) => `\`${code}\`: ${ERRORS[code].message}`).join("\n\n"),
    headers: headerReferences(["X-Request-ID", ...(isRetried ? (["Retry-After"] as const) : [])]),
    content: { "application/json": { schema: { $ref: resourceReference("Error") } } },
  };
}

const HEADERS = {
  "X-Request-ID": header("The id of this request: the id you sent if it was valid, otherwise a new one.", {
    type: "string",
  }),
  "RateLimit-Limit": header("Requests per minute, for calls with a key, unless the limit is off.", {
    type: "integer",
  }),
  "RateLimit-Remaining": header("Requests left in this minute.", { type: "integer" }),
  "RateLimit-Reset": header("Seconds until the minute ends.", { type: "integer" }),
  "Retry-After": header("Seconds to wait before trying again.", { type: "integer" }),
  "Idempotency-Replayed": header(
    "The stored response of an earlier request was returned; nothing was done.",
    {
      type: "string",
      const: "true",
    },
  ),
};

function header(description: string, schema: Json): Json {
  return { description, schema };
}

function headerReferences(names: ReadonlyArray<keyof typeof HEADERS>): Json {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}

const IDEMPOTENCY_KEY = {
  name: "Idempotency-Key",
  in: "header",
  description: `With a key, repeating a request with the same value does the work once and returns the same response for ${LIMITS.idempotencyHours.value} hours. Printable ASCII.`,
  schema: { type: "string", minLength: 1, maxLength: LIMITS.idempotencyKeyLength.value },
};
