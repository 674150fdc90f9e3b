// For tests: whether a reply is what the contract says of its endpoint, field by field, with nothing more in it.
import type { Endpoint } from "@postloft/contract/endpoint.ts";
import { ENDPOINTS } from "@postloft/contract/endpoints.ts";
import { errorAnswer, ERRORS } from "@postloft/contract/errors.ts";
import { errorsOf } from "@postloft/contract/openapi/errors.ts";
import type { z } from "zod";
import { plainPath } from "../platform/http/paths.ts";

export interface ReplyToCheck {
  method: string;
  /** As it was asked for, in whichever spelling. */
  path: string;
  status: number;
  contentType: string;
  text: string;
  /** What the text says, where it is JSON. */
  body: unknown;
}

/** What of a reply is not as the contract says, each with the path of its field; empty for what is no endpoint. */
export function replyFaults(reply: ReplyToCheck): string[] {
  const endpoint = endpointOf(reply.method, reply.path);
  if (endpoint === undefined || reply.method === "HEAD") return [];
  const schema = endpoint.answers[reply.status];
  // What is refused before it is a page's turn is told like everything else.
  const isRefusal = reply.status >= 400 && reply.contentType.startsWith("application/json");
  if (schema === undefined || (isRefusal && endpoint.envelope === "page"))
    return refusalFaults(endpoint, reply);
  if (schema === null) return reply.text === "" ? [] : ["there is a body, and the contract knows none"];
  // A family of types (`image/*`) is as good as one of them.
  const type = endpoint.contentType.replace("*", "");
  if (!reply.contentType.startsWith(type)) return [`it is ${reply.contentType}, not ${endpoint.contentType}`];
  if (endpoint.envelope === "raw" || endpoint.envelope === "page") return [];
  if (endpoint.envelope === "bare") return faultsOf(schema, reply.body, "");
  const { success, data } = reply.body as { success?: unknown; data?: unknown };
  return [...(success === true ? [] : ["success is not true"]), ...faultsOf(schema, data, "data")];
}

/** A refusal has the envelope of all, and a code that the contract lists for the endpoint. */
function refusalFaults(endpoint: Endpoint, { status, body, contentType }: ReplyToCheck): string[] {
  if (status < 400) return [`the contract knows no answer ${status}`];
  if (!contentType.startsWith("application/json")) return [`it is ${contentType}, not JSON`];
  const faults = faultsOf(errorAnswer, body, "");
  if (faults.length > 0) return faults;
  const { code } = (body as z.output<typeof errorAnswer>).error;
  // That there is no such path is said before it is anybody's.
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

/** Fields that parsing has dropped: nobody said that they are there. */
function undeclared(value: unknown, parsed: unknown, path: string): string[] {
  if (typeof value !== "object" || value === null || typeof parsed !== "object" || parsed === null) return [];
  return Object.entries(value).flatMap(([name, item]) =>
    name in parsed
      ? undeclared(item, (parsed as Record<string, unknown>)[name], join(path, name))
      : [`${join(path, name)}: the contract knows no such field`],
  );
}

const SEGMENTS = new Map(ENDPOINTS.map((endpoint) => [endpoint, endpoint.path.split("/")]));

/** The endpoint that a path leads to: of several the one that spells out more of it. */
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
