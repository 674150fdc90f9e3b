// Generates docs/api.md: conventions, every endpoint in the order of the contract, and the limits.
import { isOfProject, type CallerKind, type Endpoint } from "@postloft/contract/endpoint.ts";
import { ENDPOINTS } from "@postloft/contract/endpoints.ts";
import { nounTitle } from "@postloft/contract/openapi/nouns.ts";
import { bodyTypes } from "@postloft/contract/openapi/openapi.ts";
import { EXAMPLE_BODIES } from "@postloft/contract/openapi/examples.ts";
import {
  inputSchema,
  nounOf,
  outputSchema,
  resourceName,
  RESOURCES,
  resourceSchema,
  type JsonSchema,
} from "@postloft/contract/openapi/schemas.ts";
import { ERRORS } from "@postloft/contract/errors.ts";
import { RIGHTS } from "@postloft/contract/rights.ts";
import type { Limit } from "@postloft/contract/limits/limit.ts";
import { formatBytes, LIMITS } from "@postloft/contract/limits/limits.ts";
import { conventions } from "./api-conventions.ts";
import { fieldsOf, isArray, itemsOf, referenceName } from "./api-fields.ts";
import { errorLinks } from "./errors-page.ts";
import { code, fenced, GENERATED, linkTo, page, table, wrap } from "./markdown.ts";

const CALLERS: Readonly<Record<CallerKind, string>> = {
  anyone: "No key needed",
  tracker: "Public key, secret key or session",
  project: "Secret key or session",
  "project-by-path": "The project's secret key, or a session of a member",
  member: "Session of a member only",
  session: "Session only",
  operator: "Session, or the token printed at start",
};

/** Returns the text of docs/api.md. */
export function apiPage(): string {
  const nouns = Map.groupBy(ENDPOINTS, nounOf);
  return page([
    "# HTTP API",
    GENERATED,
    conventions(),
    "## Contents",
    table(
      ["endpoint", "what it does"],
      ENDPOINTS.map((endpoint) => [linkTo(heading(endpoint)), endpoint.summary]),
    ),
    ...[...nouns].flatMap(([noun, endpoints]) => [
      `## ${nounTitle(noun)}`,
      resource(noun),
      ...endpoints.map(endpointText),
    ]),
    "## Rights",
    rights(),
    "## Limits",
    table(
      ["limit", "meaning"],
      Object.values(LIMITS).map((limit) => [limitText(limit), limit.meaning]),
    ),
  ]);
}

/** Returns the table of permissions that the server enforces. */
function rights(): string {
  const callers = Object.entries(RIGHTS);
  return page([
    wrap(
      "Who is let in (✓), and the status that others get. The secret key has the rights of an ADMIN, a scoped key at most those of the member who made it. Where a session of another " +
        "project, or another project's key, is let in, it finds what is its own: ids of others are a 404 like ids that nothing has.",
    ),
    table(
      ["endpoint", ...callers.map(([name]) => name)],
      ENDPOINTS.map((endpoint) => [
        linkTo(heading(endpoint)),
        ...callers.map(([, verdict]) => {
          const appError = verdict(endpoint);
          return appError === null ? "✓" : String(ERRORS[appError].status);
        }),
      ]),
    ),
  ]).trimEnd();
}

function heading(endpoint: Endpoint): string {
  return `${endpoint.method} ${endpoint.path}`;
}

function resource(noun: string): string {
  const name = resourceName(noun);
  const schema = RESOURCES.get(name);
  return schema === undefined ? "" : `### ${name}\n\n${responseTable(resourceSchema(schema))}`;
}

function endpointText(endpoint: Endpoint): string {
  const { query, isPaged } = queryOf(endpoint);
  return [
    `### ${heading(endpoint)}`,
    wrap(
      `**${endpoint.summary}.** ${CALLERS[endpoint.caller]}.${roleText(endpoint)}${isPaged ? ` Takes ${linkTo("Lists", "`limit` and `cursor`")}.` : ""}`,
    ),
    wrap(endpoint.description),
    inputText("query", query),
    inputText("body", inputSchema(endpoint.body)),
    responsesText(endpoint),
    endpoint.errors.length === 0 ? "" : wrap(`Errors of its own: ${errorLinks(endpoint.errors)}.`),
    example(endpoint),
  ]
    .filter((part) => part !== "")
    .join("\n\n");
}

function roleText(endpoint: Endpoint): string {
  return isOfProject(endpoint) && endpoint.leastRole !== "MEMBER"
    ? ` Needs the role ${endpoint.leastRole}${endpoint.leastRole === "OWNER" ? "" : " or more"}.`
    : "";
}

const PAGE_FIELDS = ["limit", "cursor"];

/** Returns the query without paging parameters, and whether it had any. */
function queryOf(endpoint: Endpoint): { query: JsonSchema; isPaged: boolean } {
  const query = inputSchema(endpoint.query);
  const fields = Object.entries(query.properties ?? {});
  const own = fields.filter(([name]) => !PAGE_FIELDS.includes(name));
  const isPaged = fields.length - own.length === PAGE_FIELDS.length;
  return { query: isPaged ? { ...query, properties: Object.fromEntries(own) } : query, isPaged };
}

function inputText(part: string, schema: JsonSchema): string {
  const rows = fieldsOf(schema).map(({ name, type, isRequired, meaning }) => [
    code(name),
    type,
    isRequired ? "yes" : "",
    meaning,
  ]);
  return table([part, "type", "required", "meaning"], rows);
}

function responseTable(schema: JsonSchema): string {
  const rows = fieldsOf(schema).map(({ name, type, isRequired, meaning }) => [
    code(name),
    isRequired ? type : `${type}, may be missing`,
    meaning,
  ]);
  return table(["field", "type", "meaning"], rows);
}

/** Combines statuses with the same response. */
function responsesText(endpoint: Endpoint): string {
  const place = endpoint.envelope === "wrapped" ? ", in `data`" : "";
  const texts = Object.entries(endpoint.responses).map(([status, schema]) => ({
    status: `**${status}**`,
    text:
      (endpoint.envelope === "raw" || endpoint.envelope === "page") && schema !== null
        ? `${code(endpoint.contentType)}.`
        : responseText(schema === null ? null : outputSchema(schema)),
  }));
  return [...Map.groupBy(texts, ({ text }) => text)]
    .map(([text, group]) => `Answers ${group.map(({ status }) => status).join(" or ")}${place}: ${text}`)
    .map((text) => text.replace(/ +\n/, "\n"))
    .join("\n\n");
}

/** Returns the text after "Answers 200:", with tables on separate lines. */
function responseText(schema: JsonSchema | null): string {
  if (schema === null) return "no body.";
  const name = referenceName(schema);
  if (name !== null) return `${linkTo(name)}.`;
  const [base = {}, added = {}] = schema.allOf ?? [];
  const baseName = referenceName(base);
  if (baseName !== null) return `${linkTo(baseName)} and\n\n${responseTable(added)}`;
  if (isArray(schema)) return `an array of ${responseText(itemsOf(schema))}`;
  const listed = pageItem(schema);
  if (listed !== null) return `a ${linkTo("Lists", "page")} of ${linkTo(listed)}.`;
  const fields = responseTable(schema);
  return fields === "" ? "an empty object." : `\n\n${fields}`;
}

/** Returns the item type of a cursor list, or null for other responses. */
function pageItem(schema: JsonSchema): string | null {
  const { data, ...rest } = schema.properties ?? {};
  if (Object.keys(rest).join() !== "cursor,hasMore,total" || typeof data !== "object") return null;
  return referenceName(itemsOf(data));
}

const KEYS: Readonly<Record<CallerKind, string>> = {
  anyone: "-c cookies.txt",
  tracker: '-H "Authorization: Bearer $PUBLIC_KEY"',
  project: '-H "Authorization: Bearer $SECRET_KEY"',
  "project-by-path": '-H "Authorization: Bearer $SECRET_KEY"',
  member: "-b cookies.txt",
  session: "-b cookies.txt",
  operator: "-b cookies.txt",
};

const MAX_JSON_LINE_LENGTH = 80;

/** Returns a curl call for endpoints with a body. Others need only the path and the key. */
function example(endpoint: Endpoint): string {
  const body = endpoint.bodyKind === "upload" ? {} : EXAMPLE_BODIES[endpoint.name];
  if (body === undefined) return "";
  const url = `"$URL${endpoint.path.replaceAll(/:(\w+)/g, (_all, name: string) => `$${name.toUpperCase()}`)}"`;
  const call = `curl ${endpoint.method === "POST" ? "" : `-X ${endpoint.method} `}${url}`;
  if (endpoint.envelope === "page")
    return fenced(
      "sh",
      `${call} \\\n  -d '${new URLSearchParams(body as Record<string, string>).toString()}'`,
    );
  if (endpoint.bodyKind === "upload") {
    const parts = fieldsOf(inputSchema(endpoint.body)).map(({ name }) => `-F "${name}=@a-file"`);
    return fenced("sh", [`${call} ${KEYS[endpoint.caller]}`, ...parts].join(" \\\n  "));
  }
  const lines = [
    `${call} ${KEYS[endpoint.caller]}`,
    `-H "Content-Type: ${bodyTypes(endpoint)[0]}"`,
    `-d '${jsonText(body).replaceAll("'", "'\\''")}'`,
  ];
  return fenced("sh", lines.join(" \\\n  "));
}

function oneLine(value: unknown): string {
  return JSON.stringify(value, null, 1).replaceAll(/\n\s*/g, " ");
}

/** Returns JSON on one line if short, otherwise with one line per field. */
function jsonText(body: Readonly<Record<string, unknown>>): string {
  const short = oneLine(body);
  if (short.length <= MAX_JSON_LINE_LENGTH) return short;
  return `{\n${Object.entries(body)
    .map(([name, value]) => `    "${name}": ${oneLine(value)}`)
    .join(",\n")}\n  }`;
}

function limitText({ value, unit }: Limit): string {
  return unit === "bytes" ? formatBytes(value) : `${value} ${unit}`;
}
