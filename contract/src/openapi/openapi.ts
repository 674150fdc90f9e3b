// Generates one OpenAPI 3.1 document from the endpoints. No I/O: the server serves the document and tools/generate stores it.
import type { z } from "zod";
import ANSWER_EXAMPLES from "../answer-examples.json" with { type: "json" };
import type { Endpoint, UnknownFields } from "../endpoint.ts";
import { ENDPOINTS } from "../endpoints.ts";
import { errorSchema, ERRORS, type ErrorCode } from "../errors.ts";
import { formatBytes, LIMITS } from "../limits/limits.ts";
import { errorsOf, acceptsIdempotencyKey, takesKey } from "./errors.ts";
import { EXAMPLE_BODIES } from "./examples.ts";
import {
  inputSchema,
  nounOf,
  outputSchema,
  resourceReference,
  RESOURCES,
  resourceSchema,
} from "./schemas.ts";
import { SECURITY, securitySchemes } from "./security.ts";

type Json = Record<string, unknown>;

/** Title (unless it follows from the noun) and description of each noun in the documentation. */
const NOUNS: Readonly<Record<string, { title?: string; about: string }>> = {
  v1: {
    title: "Track and send",
    about: "The quickest start: track an event, send an email, check an address.",
  },
  contacts: { about: "Recipients: one address per project, each with custom data." },
  uploads: {
    title: "Images",
    about: "Images for template bodies, stored here and shown in emails.",
  },
  billing: { about: "Billing of projects through Stripe, if the installation uses it." },
  suppressions: { title: "Suppression list", about: "Addresses that get no email, with the reason." },
  segments: { about: "Groups of contacts, defined by a filter or by hand." },
  templates: { about: "Reusable email content with an id." },
  campaigns: { about: "One message to many contacts, now or later." },
  workflows: { about: "Graphs of steps for contacts." },
  executions: { about: "Contacts in workflows: start, watch, explain and end executions." },
  events: { about: "Events of contacts." },
  activity: {
    title: "Activity feed",
    about: "Activity of emails, contacts, campaigns and workflows in one list.",
  },
  analytics: { about: "Reports over a period, by days in the viewer's time zone." },
  deliverability: {
    title: "Deliverability",
    about: "Reputation of a project's email, as reported by receivers.",
  },
  emails: { about: "Emails to single recipients, with their status." },
  mailbox: {
    title: "Local mailbox",
    about: "Messages that the transport `mailbox` kept instead of sending them.",
  },
  tracking: { title: "Opens and clicks", about: "The pixel and the links in emails." },
  oauth: {
    title: "Other services",
    about: "Sign-in through GitHub, Google or an OpenID Connect provider.",
  },
  accountPages: { title: "Account pages", about: "Pages behind the links in account emails." },
  pages: { title: "Public pages", about: "Pages behind the links in emails, for people without an account." },
  domains: { title: "Sender domains", about: "Verified sender domains and their DNS records." },
  auth: { title: "Signing in", about: "Accounts and sessions." },
  users: { title: "Account", about: "The signed-in account." },
  projects: { about: "Tenants with their keys, settings and rates." },
  keys: { title: "Scoped keys", about: "Secret keys for a part of a project's API." },
  notifications: { title: "Notifications", about: "Notifications of members by email." },
  members: { about: "The people of a project and their roles." },
  invitations: { about: "Pending invitations to a project." },
  audit: { title: "Audit log", about: "Changes of a project with author, time and origin." },
  requests: { title: "API requests", about: "Recent API requests and their responses." },
  webhooks: { about: "Endpoints for reports of other services. Not for API callers." },
  instance: { title: "Installation", about: "Features and health of this installation." },
};

/** `contacts` → `Contacts`. */
export function nounTitle(noun: string): string {
  return NOUNS[noun]?.title ?? noun.charAt(0).toUpperCase() + noun.slice(1);
}

/** Returns the schema of a response without an envelope. */
function rawSchema({ contentType }: Endpoint): Json {
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

/**
 * @param serverUrl the public URL of this API without a trailing slash, or `/` for the location of this document
 * @param version of the service
 */
export function openApiDocument(serverUrl: string, version: string): Json {
  const errorGroups = new Map<string, ErrorCode[]>();
  const paths: Record<string, Json> = {};
  for (const endpoint of ENDPOINTS) {
    const item = (paths[endpoint.path.replaceAll(/:(\w+)/g, "{$1}")] ??= {});
    item[endpoint.method.toLowerCase()] = operation(endpoint, errorGroups);
  }
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
    tags: [...new Set(ENDPOINTS.map(nounOf))].map((noun) => ({
      name: nounTitle(noun),
      description: NOUNS[noun]?.about ?? "",
    })),
    paths,
    components: {
      schemas: {
        ...Object.fromEntries([...RESOURCES].map(([name, resource]) => [name, resourceSchema(resource)])),
        Error: outputSchema(errorSchema),
      },
      responses: Object.fromEntries([...errorGroups].map(([name, codes]) => [name, errorResponse(codes)])),
      parameters: { IdempotencyKey: IDEMPOTENCY_KEY },
      headers: HEADERS,
      securitySchemes: securitySchemes(serverUrl),
    },
  };
}

function operation(endpoint: Endpoint, errorGroups: Map<string, ErrorCode[]>): Json {
  const parameters = [...parametersOf("path", endpoint.params), ...parametersOf("query", endpoint.query)];
  if (acceptsIdempotencyKey(endpoint)) parameters.push({ $ref: "#/components/parameters/IdempotencyKey" });
  return {
    operationId: endpoint.name,
    tags: [nounTitle(nounOf(endpoint))],
    summary: endpoint.summary,
    description: endpoint.description,
    security: SECURITY[endpoint.caller],
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(endpoint.takesBody ? { requestBody: requestBody(endpoint) } : {}),
    responses: { ...describeResponses(endpoint), ...errors(endpoint, errorGroups) },
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
      ...(isRequired ? { required: true } : {}),
      schema: type,
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

function requestBody(endpoint: Endpoint): Json {
  const limitBytes = endpoint.bodyLimitBytes ?? LIMITS.bodyBytes.value;
  const example = EXAMPLE_BODIES[endpoint.name];
  const content = { schema: inputSchema(endpoint.body), ...(example === undefined ? {} : { example }) };
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

function describeResponses(endpoint: Endpoint): Json {
  const headers = headerReferences([
    "X-Request-ID",
    ...(takesKey(endpoint) ? (["RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset"] as const) : []),
    ...(acceptsIdempotencyKey(endpoint) ? (["Idempotency-Replayed"] as const) : []),
  ]);
  return Object.fromEntries(
    Object.entries(endpoint.responses).map(([status, schema]) => {
      const description = STATUS_TEXTS[Number(status)] ?? "Answered.";
      const content =
        schema === null
          ? {}
          : { content: responseContent(endpoint, schema, exampleOf(endpoint, status, schema)) };
      return [status, { description, headers, ...content }];
    }),
  );
}

/** Returns a real success response recorded by tools/generate/answer-examples.ts, if one with this shape exists. */
function exampleOf({ name, envelope }: Endpoint, status: string, schema: z.ZodType): Json {
  const examples: Readonly<Record<string, unknown>> = ANSWER_EXAMPLES;
  if (!status.startsWith("2") || !(name in examples)) return {};
  const example = examples[name];
  const said = envelope === "wrapped" ? (example as { data?: unknown }).data : example;
  return schema.safeParse(said).success ? { example } : {};
}

function responseContent(endpoint: Endpoint, schema: z.ZodType, example: Json): Json {
  if (endpoint.envelope === "raw" || endpoint.envelope === "page")
    return { [endpoint.contentType]: { schema: rawSchema(endpoint) } };
  const data = outputSchema(schema);
  if (endpoint.envelope === "bare") return { "application/json": { schema: data, ...example } };
  const properties = { success: { type: "boolean", const: true }, data };
  const wrapped = { type: "object", properties, required: ["success", "data"] };
  return { "application/json": { schema: wrapped, ...example } };
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
