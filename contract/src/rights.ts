// The permissions of each kind of caller for each endpoint as a table, derived from `caller`, `leastRole` and `isOpenWhenDisabled`.
import { isOfProject, isSessionOnly, namesProjectInPath, type Endpoint } from "./endpoint.ts";
import type { ErrorCode } from "./errors.ts";
import { reaches, type Role } from "./roles.ts";
import { nounOf } from "./scopes.ts";

/** The columns: a name for readers, and the error for this kind of caller; null if the call is allowed. */
export const RIGHTS: Readonly<Record<string, (endpoint: Endpoint) => ErrorCode | null>> = {
  nobody: (endpoint) => forKeys(endpoint, "MISSING_AUTH"),
  "public key": (endpoint) => (endpoint.caller === "tracker" ? null : forKeys(endpoint, "INVALID_API_KEY")),
  "secret key": (endpoint) => forKeys(endpoint, null),
  "key with `*:read`": (endpoint) => forScope(endpoint, endpoint.isRead && !endpoint.isSecret),
  "key with `*:write`": (endpoint) => forScope(endpoint, !endpoint.isSecret),
  "key with `contacts:write`": (endpoint) => forScope(endpoint, nounOf(endpoint) === "contacts"),
  "key with `secrets:write`": (endpoint) => forScope(endpoint, endpoint.isSecret),
  "MEMBER's key with `*:write`": (endpoint) =>
    forScope(endpoint, !endpoint.isSecret && reaches("MEMBER", endpoint.leastRole)),
  "MEMBER's key with `secrets:write`": (endpoint) =>
    forScope(endpoint, endpoint.isSecret && reaches("MEMBER", endpoint.leastRole)),
  "foreign secret key": (endpoint) =>
    forKeys(endpoint, namesProjectInPath(endpoint) ? "PROJECT_NOT_FOUND" : null),
  "foreign session": (endpoint) =>
    !isOfProject(endpoint)
      ? null
      : namesProjectInPath(endpoint)
        ? "PROJECT_NOT_FOUND"
        : "PROJECT_ACCESS_DENIED",
  MEMBER: (endpoint) => forRole(endpoint, "MEMBER"),
  ADMIN: (endpoint) => forRole(endpoint, "ADMIN"),
  OWNER: (endpoint) => forRole(endpoint, "OWNER"),
  "secret key, project disabled": (endpoint) => forKeys(endpoint, whenDisabled(endpoint)),
  "public key, project disabled": (endpoint) =>
    endpoint.caller === "tracker" ? whenDisabled(endpoint) : forKeys(endpoint, "INVALID_API_KEY"),
  "OWNER, project disabled": (endpoint) => (isOfProject(endpoint) ? whenDisabled(endpoint) : null),
};

/** For callers with a key or without credentials. Endpoints for sessions return the same error to all of them. */
function forKeys(endpoint: Endpoint, code: ErrorCode | null): ErrorCode | null {
  if (endpoint.caller === "anyone") return null;
  return isSessionOnly(endpoint) ? "UNAUTHORIZED" : code;
}

function forScope(endpoint: Endpoint, isOpened: boolean): ErrorCode | null {
  return forKeys(endpoint, isOpened ? null : "FORBIDDEN");
}

const whenDisabled = ({ isOpenWhenDisabled }: Endpoint): ErrorCode | null =>
  isOpenWhenDisabled ? null : "PROJECT_DISABLED";

function forRole(endpoint: Endpoint, role: Role): ErrorCode | null {
  return isOfProject(endpoint) && !reaches(role, endpoint.leastRole) ? "FORBIDDEN" : null;
}
