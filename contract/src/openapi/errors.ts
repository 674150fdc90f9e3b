// Derives the errors of an endpoint: its own codes, and those that follow from its callers and its input.
import { isOfProject, isSessionOnly, namesProjectInPath, type Endpoint } from "../endpoint.ts";
import { ERRORS, type ErrorCode } from "../errors.ts";
import { inputSchema } from "./schemas.ts";

/** Returns whether an API key may call the endpoint. */
export function takesKey(endpoint: Endpoint): boolean {
  return isOfProject(endpoint) && !isSessionOnly(endpoint);
}

/** Returns whether the endpoint supports `Idempotency-Key`, as every POST with a key does (decisions §1). */
export function acceptsIdempotencyKey(endpoint: Endpoint): boolean {
  return endpoint.method === "POST" && takesKey(endpoint);
}

/** Pages take forms and never reject their content. */
function takesCheckedBody(endpoint: Endpoint): boolean {
  return endpoint.takesBody && endpoint.envelope !== "page";
}

interface ErrorRule {
  /** The wording in docs/api.md. */
  readonly when: string;
  readonly codes: readonly ErrorCode[];
  readonly applies: (endpoint: Endpoint) => boolean;
}

export const ERROR_RULES: readonly ErrorRule[] = [
  {
    when: "a key or a session is required",
    codes: ["MISSING_AUTH", "INVALID_API_KEY"],
    applies: takesKey,
  },
  {
    when: "the caller must be authenticated",
    codes: ["RATE_LIMIT_EXCEEDED"],
    applies: ({ caller }) => caller !== "anyone",
  },
  {
    when: "a session sends its project in `X-Project-Id`",
    codes: ["PROJECT_ACCESS_DENIED"],
    applies: (endpoint) => takesKey(endpoint) && !namesProjectInPath(endpoint),
  },
  { when: "the path contains the project", codes: ["PROJECT_NOT_FOUND"], applies: namesProjectInPath },
  {
    when: "a key covers only a part of the API, or a session's role is too low",
    codes: ["FORBIDDEN"],
    applies: (endpoint) => takesKey(endpoint) || (isOfProject(endpoint) && endpoint.leastRole !== "MEMBER"),
  },
  {
    when: "only a session is accepted, or an instance token",
    codes: ["UNAUTHORIZED"],
    applies: isSessionOnly,
  },
  {
    when: "a session must send its project, or the request has a cursor",
    codes: ["BAD_REQUEST"],
    applies: (endpoint) =>
      endpoint.caller === "tracker" ||
      endpoint.caller === "project" ||
      queryFields(endpoint).includes("cursor"),
  },
  {
    when: "a page of another site uses a session to make a change",
    codes: ["FORBIDDEN"],
    applies: ({ caller, isRead, method }) => caller !== "anyone" && (method !== "GET" || !isRead),
  },
  {
    when: "data of a project is changed",
    codes: ["PROJECT_DISABLED"],
    applies: (endpoint) => isOfProject(endpoint) && !endpoint.isOpenWhenDisabled,
  },
  { when: "a POST with a key", codes: ["IDEMPOTENCY_KEY_REUSED"], applies: acceptsIdempotencyKey },
  {
    when: "a body is read",
    codes: ["PAYLOAD_TOO_LARGE", "UNSUPPORTED_MEDIA_TYPE"],
    applies: ({ takesBody }) => takesBody,
  },
  { when: "a JSON body or an upload is read", codes: ["INVALID_REQUEST_BODY"], applies: takesCheckedBody },
  {
    when: "a body, a query parameter or an `Idempotency-Key` is validated",
    codes: ["VALIDATION_ERROR"],
    applies: (endpoint) =>
      takesCheckedBody(endpoint) || queryFields(endpoint).length > 0 || acceptsIdempotencyKey(endpoint),
  },
  {
    when: "the path contains an id, and the endpoint has no separate code for a missing one",
    codes: ["RESOURCE_NOT_FOUND"],
    applies: ({ path, errors }) =>
      /\/:(?!projectId\b)/.test(path) && !errors.some((code) => ERRORS[code].status === 404),
  },
  {
    when: "always, except for the endpoints about the installation",
    codes: ["INTERNAL_SERVER_ERROR", "SERVICE_UNAVAILABLE"],
    applies: ({ caller, takesBody }) => caller !== "anyone" || takesBody,
  },
];

/** Returns every code of the endpoint in catalog order, which is by status. */
export function errorsOf(endpoint: Endpoint): ErrorCode[] {
  const rules = ERROR_RULES.filter((rule) => rule.applies(endpoint));
  const codes = new Set([...endpoint.errors, ...rules.flatMap((rule) => rule.codes)]);
  return (Object.keys(ERRORS) as ErrorCode[]).filter((code) => codes.has(code));
}

function queryFields(endpoint: Endpoint): string[] {
  return Object.keys(inputSchema(endpoint.query).properties ?? {});
}
