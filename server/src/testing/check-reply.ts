// Checks in tests whether a response has exactly the fields that the contract declares for its endpoint.
import type { Endpoint } from "@postloft/contract/endpoint.ts";
import { ENDPOINTS } from "@postloft/contract/endpoints.ts";
import { errorSchema, ERRORS } from "@postloft/contract/errors.ts";
import { errorsOf } from "@postloft/contract/openapi/errors.ts";
import { withValues } from "@postloft/contract/translation.ts";
import type { z } from "zod";
import { plainPath } from "../platform/http/paths.ts";

export interface ReplyToCheck {
  method: string;
  /** As requested, in any spelling. */
  path: string;
  status: number;
  contentType: string;
  text: string;
  /** The parsed text if it is JSON. */
  body: unknown;
}

/** Returns the violations of the contract with the path of each field. Empty for paths that are not endpoints. */
export function replyFaults(reply: ReplyToCheck): string[] {
  const endpoint = endpointOf(reply.method, reply.path);
  if (endpoint === undefined || reply.method === "HEAD") return [];
  const schema = endpoint.responses[reply.status];
  // Requests that are rejected before a page handles them get the usual error.
  const isError = reply.status >= 400 && reply.contentType.startsWith("application/json");
  if (schema === undefined || (isError && endpoint.envelope === "page")) return errorFaults(endpoint, reply);
  if (schema === null) return reply.text === "" ? [] : ["there is a body, and the contract knows none"];
  // Any type of a family (`image/*`) is valid.
  const type = endpoint.contentType.replace("*", "");
  if (!reply.contentType.startsWith(type)) return [`it is ${reply.contentType}, not ${endpoint.contentType}`];
  if (endpoint.envelope === "raw" || endpoint.envelope === "page") return [];
  if (endpoint.envelope === "bare") return faultsOf(schema, reply.body, "");
  const { success, data } = reply.body as { success?: unknown; data?: unknown };
  return [...(success === true ? [] : ["success is not true"]), ...faultsOf(schema, data, "data")];
}

/** Checks that an error has the common envelope and a code that the contract lists for the endpoint. */
function errorFaults(endpoint: Endpoint, { status, body, contentType }: ReplyToCheck): string[] {
  if (status < 400) return [`the contract knows no answer ${status}`];
  if (!contentType.startsWith("application/json")) return [`it is ${contentType}, not JSON`];
  const faults = faultsOf(errorSchema, body, "");
  if (faults.length > 0) return faults;
  const { error } = body as z.output<typeof errorSchema>;
  const { code } = error;
  for (const { message, translation } of [error, ...(error.errors ?? [])])
    if (translation !== undefined && withValues(translation.key, translation.values).message !== message)
      return [`the translation of "${message}" is another message`];
  // An unknown path is reported before an endpoint is found.
  const isListed = code === "RESOURCE_NOT_FOUND" || errorsOf(endpoint).includes(code);
  const known = ERRORS[code].status === status && isListed;
  return known ? [] : [`the contract does not list ${status} ${code} for it`];
}

const root = (path: string) => (path === "" ? "the body" : path);
const join = (path: string, name: PropertyKey) => (path === "" ? String(name) : `${path}.${String(name)}`);

function faultsOf(schema: z.ZodType, value: unknown, path: string): string[] {
  const parsed = schema.safeParse(value);
  if (parsed.success) return undeclared(value, parsed.data, path);
  return parsed.error.issues.map(
    (issue) => `${root(issue.path.reduce<string>(join, path))}: ${issue.message}`,
  );
}

/** Returns the fields that parsing dropped because they are not declared. */
function undeclared(value: unknown, parsed: unknown, path: string): string[] {
  if (typeof value !== "object" || value === null || typeof parsed !== "object" || parsed === null) return [];
  return Object.entries(value).flatMap(([name, item]) =>
    name in parsed
      ? undeclared(item, (parsed as Record<string, unknown>)[name], join(path, name))
      : [`${join(path, name)}: the contract knows no such field`],
  );
}

const SEGMENTS = new Map(ENDPOINTS.map((endpoint) => [endpoint, endpoint.path.split("/")]));

/** Returns the endpoint of a path, the most specific one if several match. */
function endpointOf(method: string, path: string): Endpoint | undefined {
  const asked = (plainPath(path).split(/[?#]/)[0] ?? "").replace(/\/$/, "").split("/");
  let best: { endpoint: Endpoint; score: string } | undefined;
  for (const [endpoint, segments] of SEGMENTS) {
    if (endpoint.method !== method || segments.length !== asked.length) continue;
    if (
      !segments.every((segment, at) => segment === asked[at] || (segment.startsWith(":") && asked[at] !== ""))
    )
      continue;
    const score = segments.map((segment) => (segment.startsWith(":") ? "0" : "1")).join("");
    if (best === undefined || score > best.score) best = { endpoint, score };
  }
  return best?.endpoint;
}
