// The HTTP side as one OpenAPI 3.1 document, made from the endpoints. No I/O: the server serves it, tools/generate writes it down.
import type { z } from "zod";
import ANSWER_EXAMPLES from "../answer-examples.json" with { type: "json" };
import type { Endpoint, UnknownFields } from "../endpoint.ts";
import { ENDPOINTS } from "../endpoints.ts";
import { errorAnswer, ERRORS, type ErrorCode } from "../errors.ts";
import { formatBytes, LIMITS } from "../limits/limits.ts";
import { errorsOf, takesIdempotencyKey, takesKey } from "./errors.ts";
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

/** What a noun is called in the documentation, where its own word would not do, and what its endpoints are about. */
const NOUNS: Readonly<Record<string, { title?: string; about: string }>> = {
  v1: {
    title: "Track and send",
    about: "The short way in: what happened to a contact, a mail to somebody, a look at an address.",
  },
  contacts: { about: "Who receives: one address per project, with data of its own." },
  uploads: {
    title: "Images",
    about: "Images for template bodies, stored here and served to whoever reads a mail.",
  },
  billing: { about: "What a project pays, by Stripe, where the installation asks for it." },
  suppressions: { title: "Suppression list", about: "Addresses that get nothing, and why." },
  segments: { about: "Which contacts: by a filter, or by hand." },
  templates: { about: "What mails say, kept under an id." },
  campaigns: { about: "One message to many contacts, now or later." },
  workflows: { about: "Graphs of steps that contacts go through." },
  executions: { about: "Contacts on their way through workflows: started, watched, explained, ended." },
  events: { about: "What happened to contacts." },
  activity: {
    title: "Activity feed",
    about: "What happened to mails, contacts, campaigns and workflows, in one list.",
  },
  analytics: { about: "Numbers over a period, by days of the viewer's zone." },
  deliverability: {
    title: "Deliverability",
    about: "How receivers judge the mail of a project, as they report it.",
  },
  emails: { about: "Each mail to one recipient, and where it stands." },
  mailbox: { title: "Local mailbox", about: "What the transport `mailbox` kept instead of sending it." },
  tracking: { title: "Opens and clicks", about: "The pixel and the links in mails." },
  oauth: {
    title: "Other services",
    about: "Logging in through GitHub, Google or an OpenID Connect provider.",
  },
  accountPages: { title: "Account pages", about: "What the links in mails about accounts open." },
  pages: { title: "Public pages", about: "What the links in mails open, for a person without a login." },
  domains: { title: "Sender domains", about: "Where mail may come from, and the proof in DNS." },
  auth: { title: "Logging in", about: "Accounts and sessions." },
  users: { title: "Account", about: "The person who is logged in." },
  projects: { about: "The tenants: keys, settings, rates." },
  keys: { title: "Scoped keys", about: "Secret keys that open a part of the API of a project." },
  notifications: { title: "Notifications", about: "What members are told by mail." },
  members: { about: "People of a project, and what they may do." },
  invitations: { about: "Asked to join a project, not come yet." },
  audit: { title: "Audit log", about: "Who changed what of a project, when and from where." },
  requests: { title: "API requests", about: "What programs asked lately, and how it was answered." },
  webhooks: { about: "Where other services report to. Not for callers of the API." },
  instance: { title: "Installation", about: "What this installation offers and how it is." },
};

/** `contacts` → `Contacts`. */
export function nounTitle(noun: string): string {
  return NOUNS[noun]?.title ?? noun.charAt(0).toUpperCase() + noun.slice(1);
}

/** What stands in an answer without an envelope. */
function rawSchema({ contentType }: Endpoint): Json {
  if (contentType === "application/json") return { type: "object" };
  const isText = contentType.startsWith("text/") || contentType.startsWith("message/");
  return isText ? { type: "string" } : { type: "string", format: "binary" };
}

const STATUS_TEXTS: Readonly<Record<number, string>> = {
  200: "Done.",
  201: "Created.",
  202: "Taken; it is done in the background.",
  204: "Done; there is no body.",
  302: "Leads on.",
  503: "Not now.",
};

/**
 * @param serverUrl where this API is reached: the public address without a slash at the end, or `/` for "where this document was found"
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
        "Transactional mail, contacts and events of the projects on one installation. Unknown fields in a request are ignored unless the endpoint says otherwise; answers may gain fields.",
      contact: { name: "Whoever runs this installation" },
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
        Error: outputSchema(errorAnswer),
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
  if (takesIdempotencyKey(endpoint)) parameters.push({ $ref: "#/components/parameters/IdempotencyKey" });
  return {
    operationId: endpoint.name,
    tags: [nounTitle(nounOf(endpoint))],
    summary: endpoint.summary,
    description: endpoint.description,
    security: SECURITY[endpoint.caller],
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(endpoint.takesBody ? { requestBody: requestBody(endpoint) } : {}),
    responses: { ...answers(endpoint), ...errors(endpoint, errorGroups) },
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
  warned: "Unknown fields are ignored and named in `warnings`.",
  refused: "Unknown fields are refused (422).",
  "refused-unless-returned":
    "Unknown fields are refused (422). Fields that the answer has are ignored, so a whole object can be sent back.",
};

function requestBody(endpoint: Endpoint): Json {
  const limitBytes = endpoint.bodyLimitBytes ?? LIMITS.bodyBytes.value;
  const example = EXAMPLE_BODIES[endpoint.name];
  const content = { schema: inputSchema(endpoint.body), ...(example === undefined ? {} : { example }) };
  return {
    required: !endpoint.isBodyOptional,
    description: [`At most ${formatBytes(limitBytes)}.`, UNKNOWN_FIELDS[endpoint.unknownFields]]
      .filter((sentence) => sentence !== "")
      .join(" "),
    content: Object.fromEntries(bodyTypes(endpoint).map((type) => [type, content])),
  };
}

/** The content types an endpoint reads; the first is the one to use. */
export function bodyTypes(endpoint: Endpoint): readonly string[] {
  if (endpoint.bodyKind === "upload") return ["multipart/form-data"];
  if (endpoint.bodyKind === "text-json") return ["text/plain", "application/json"];
  return endpoint.envelope === "page"
    ? ["application/x-www-form-urlencoded", "multipart/form-data"]
    : ["application/json"];
}

function answers(endpoint: Endpoint): Json {
  const headers = headerReferences([
    "X-Request-ID",
    ...(takesKey(endpoint) ? (["RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset"] as const) : []),
    ...(takesIdempotencyKey(endpoint) ? (["Idempotency-Replayed"] as const) : []),
  ]);
  return Object.fromEntries(
    Object.entries(endpoint.answers).map(([status, schema]) => {
      const description = STATUS_TEXTS[Number(status)] ?? "Answered.";
      const content =
        schema === null
          ? {}
          : { content: answerContent(endpoint, schema, exampleOf(endpoint, status, schema)) };
      return [status, { description, headers, ...content }];
    }),
  );
}

/** A real answer, recorded by tools/generate/answer-examples.ts: of what succeeds, where one was recorded of that shape. */
function exampleOf({ name, envelope }: Endpoint, status: string, schema: z.ZodType): Json {
  const examples: Readonly<Record<string, unknown>> = ANSWER_EXAMPLES;
  if (!status.startsWith("2") || !(name in examples)) return {};
  const example = examples[name];
  const said = envelope === "wrapped" ? (example as { data?: unknown }).data : example;
  return schema.safeParse(said).success ? { example } : {};
}

function answerContent(endpoint: Endpoint, schema: z.ZodType, example: Json): Json {
  if (endpoint.envelope === "raw" || endpoint.envelope === "page")
    return { [endpoint.contentType]: { schema: rawSchema(endpoint) } };
  const data = outputSchema(schema);
  if (endpoint.envelope === "bare") return { "application/json": { schema: data, ...example } };
  const properties = { success: { type: "boolean", const: true }, data };
  const wrapped = { type: "object", properties, required: ["success", "data"] };
  return { "application/json": { schema: wrapped, ...example } };
}

/** One response for each status, which names the codes; equal ones are shared as components. */
function errors(endpoint: Endpoint, groups: Map<string, ErrorCode[]>): Json {
  const byStatus = Map.groupBy(errorsOf(endpoint), (code) => ERRORS[code].status);
  const responses = [...byStatus]
    .filter(([status]) => !(status in endpoint.answers))
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
  "X-Request-ID": header("The id of this request: the one sent, if it was valid, else a new one.", {
    type: "string",
  }),
  "RateLimit-Limit": header("Requests a minute. Under a key, unless the limit is off.", { type: "integer" }),
  "RateLimit-Remaining": header("Requests left in this minute.", { type: "integer" }),
  "RateLimit-Reset": header("Seconds until the minute ends.", { type: "integer" }),
  "Retry-After": header("Seconds after which to try again.", { type: "integer" }),
  "Idempotency-Replayed": header("The answer was given before and is given again; nothing was done.", {
    type: "string",
    const: "true",
  }),
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
  description: `Under a key: the same request with the same value is done once and answered alike for ${LIMITS.idempotencyHours.value} hours. Printable ASCII.`,
  schema: { type: "string", minLength: 1, maxLength: LIMITS.idempotencyKeyLength.value },
};
