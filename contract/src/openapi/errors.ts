// Which errors an endpoint can answer: its own, and those that follow from who may call it and what it reads.
import { isOfProject, isSessionOnly, namesProjectInPath, type Endpoint } from "../endpoint.ts";
import { ERRORS, type ErrorCode } from "../errors.ts";
import { inputSchema } from "./schemas.ts";

/** Whether an API key may call it. */
export function takesKey(endpoint: Endpoint): boolean {
  return isOfProject(endpoint) && !isSessionOnly(endpoint);
}

/** Whether it honours `Idempotency-Key`: every POST under a key (decisions §1). */
export function takesIdempotencyKey(endpoint: Endpoint): boolean {
  return endpoint.method === "POST" && takesKey(endpoint);
}

/** A form, which is what pages take, is never refused for what it says. */
function takesCheckedBody(endpoint: Endpoint): boolean {
  return endpoint.takesBody && endpoint.envelope !== "page";
}

interface ErrorRule {
  /** As it stands in docs/api.md. */
  readonly when: string;
  readonly codes: readonly ErrorCode[];
  readonly applies: (endpoint: Endpoint) => boolean;
}

export const ERROR_RULES: readonly ErrorRule[] = [
  {
    when: "a key or a session is needed",
    codes: ["MISSING_AUTH", "INVALID_API_KEY"],
    applies: takesKey,
  },
  {
    when: "somebody has to say who they are",
    codes: ["RATE_LIMIT_EXCEEDED"],
    applies: ({ caller }) => caller !== "anyone",
  },
  {
    when: "a session names its project in `X-Project-Id`",
    codes: ["PROJECT_ACCESS_DENIED"],
    applies: (endpoint) => takesKey(endpoint) && !namesProjectInPath(endpoint),
  },
  { when: "the project stands in the path", codes: ["PROJECT_NOT_FOUND"], applies: namesProjectInPath },
  {
    when: "a key opens only a part of the API, or a session's role is less than the endpoint needs",
    codes: ["FORBIDDEN"],
    applies: (endpoint) => takesKey(endpoint) || (isOfProject(endpoint) && endpoint.leastRole !== "MEMBER"),
  },
  {
    when: "only a session will do, or a token of the installation",
    codes: ["UNAUTHORIZED"],
    applies: isSessionOnly,
  },
  {
    when: "a session has to name its project, or a cursor is sent",
    codes: ["BAD_REQUEST"],
    applies: (endpoint) =>
      endpoint.caller === "tracker" ||
      endpoint.caller === "project" ||
      queryFields(endpoint).includes("cursor"),
  },
  {
    when: "a page of another site uses a session to change something",
    codes: ["FORBIDDEN"],
    applies: ({ caller, isRead, method }) => caller !== "anyone" && (method !== "GET" || !isRead),
  },
  {
    when: "something of a project changes",
    codes: ["PROJECT_DISABLED"],
    applies: (endpoint) => isOfProject(endpoint) && !endpoint.isOpenWhenDisabled,
  },
  { when: "a POST under a key", codes: ["IDEMPOTENCY_KEY_REUSED"], applies: takesIdempotencyKey },
  {
    when: "a body is read",
    codes: ["PAYLOAD_TOO_LARGE", "UNSUPPORTED_MEDIA_TYPE"],
    applies: ({ takesBody }) => takesBody,
  },
  { when: "a JSON body or an upload is read", codes: ["INVALID_REQUEST_BODY"], applies: takesCheckedBody },
  {
    when: "there is a body, a query parameter or an `Idempotency-Key` to check",
    codes: ["VALIDATION_ERROR"],
    applies: (endpoint) =>
      takesCheckedBody(endpoint) || queryFields(endpoint).length > 0 || takesIdempotencyKey(endpoint),
  },
  {
    when: "there is an id in the path, and the endpoint names no code of its own for a missing one",
    codes: ["RESOURCE_NOT_FOUND"],
    applies: ({ path, errors }) =>
      /\/:(?!projectId\b)/.test(path) && !errors.some((code) => ERRORS[code].status === 404),
  },
  {
    when: "always, but for the endpoints that tell about the installation",
    codes: ["INTERNAL_SERVER_ERROR", "SERVICE_UNAVAILABLE"],
    applies: ({ caller, takesBody }) => caller !== "anyone" || takesBody,
  },
];

/** Every code the endpoint can answer, in the order of the catalog, which is by status. */
export function errorsOf(endpoint: Endpoint): ErrorCode[] {
  const rules = ERROR_RULES.filter((rule) => rule.applies(endpoint));
  const codes = new Set([...endpoint.errors, ...rules.flatMap((rule) => rule.codes)]);
  return (Object.keys(ERRORS) as ErrorCode[]).filter((code) => codes.has(code));
}

function queryFields(endpoint: Endpoint): string[] {
  return Object.keys(inputSchema(endpoint.query).properties ?? {});
}
