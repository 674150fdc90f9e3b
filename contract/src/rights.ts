// Who may call what, as one table: endpoint × kind of caller. Derived from `caller`, `leastRole` and `isOpenWhenDisabled`.
import { isOfProject, isSessionOnly, namesProjectInPath, type Endpoint } from "./endpoint.ts";
import type { ErrorCode } from "./errors.ts";
import { reaches, type Role } from "./roles.ts";
import { nounOf } from "./scopes.ts";

/** The columns: a name for readers, and what such a caller is told; null: let in. */
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

/** For whoever shows a key or nothing: a person's endpoints tell them all the same. */
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
