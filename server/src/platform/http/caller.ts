// Identifies the caller of a request by API key or session, and checks their role and scopes (spec §5, decisions §1–2).
import { isOfProject, type CallerKind, type Endpoint } from "@postloft/contract/endpoint.ts";
import { reaches, type Role } from "@postloft/contract/roles.ts";
import { isInScope, scopeOf } from "@postloft/contract/scopes.ts";
import { withValues } from "@postloft/contract/translation.ts";
import { isWithinNetworks } from "./ip-networks.ts";
import { AppError } from "../app-error.ts";

export interface Caller {
  projectId: string | null;
  disabled: boolean;
  userId: string | null;
  sessionId: string | null;
  /** The role in the project. Null without a project, and for users who do not belong to the project in the path. */
  role: Role | null;
  /** The user has not verified their address although that is required (REQUIRE_EMAIL_VERIFICATION). */
  mayNotSend: boolean;
  /** The scopes of the key. Null means that it may do everything. */
  scopes: readonly string[] | null;
  /** The caller used an API key, which counts against the rate limit and allows an Idempotency-Key. */
  byKey: boolean;
  /** `secret`, `public`, or the id of a scoped key. Null without a key. */
  key: string | null;
  /** The hash of that key, which distinguishes it from keys before and after a rotation. Null without a key. */
  keyHash: Buffer | null;
}

/** A key with its project's data. */
export interface PresentedKey {
  hash: Buffer;
  projectId: string;
  kind: "public" | "secret";
  disabled: boolean;
  /** Present on keys with limited scopes. */
  scoped?: {
    id: string;
    /** The key can do at most what this role can. */
    role: "ADMIN" | "MEMBER";
    scopes: readonly string[];
    /** The networks that the key may be used from. An empty list allows all. */
    networks: readonly string[];
    isExpired: boolean;
  };
}

/** Looks up credentials in the folders of projects and users; provided by api.ts. */
export interface Credentials {
  findKey(key: string): Promise<PresentedKey | null>;
  findSession(cookie: string): Promise<{ userId: string; sessionId: string } | null>;
  findMembership(
    userId: string,
    projectId: string,
  ): Promise<{ role: Role; disabled: boolean; mayNotSend: boolean } | null>;
  /** Returns whether this is the token printed at the start. Absent if there is none. */
  isOperatorToken?: (token: string) => boolean;
}

export interface PresentedCredentials {
  authorization: string | undefined;
  cookie: string | undefined;
  projectHeader: string | undefined;
  /** The project in the path, for endpoints with one. */
  pathProject: string | undefined;
  /** The address of the client. */
  ip: string | undefined;
}

export const NO_ONE: Caller = {
  projectId: null,
  disabled: false,
  userId: null,
  sessionId: null,
  role: null,
  mayNotSend: false,
  scopes: null,
  byKey: false,
  key: null,
  keyHash: null,
};
/** The secret key acts as an admin. A public key is limited by the kind of caller alone. */
const KEY_ROLES = { secret: "ADMIN", public: "MEMBER" } as const;
/** The word that a key may use in a path for its own project. */
const OWN_PROJECT = "current";
const BEARER = /^bearer +((?:pk|sk)_[A-Za-z0-9_-]{1,200})$/i;
const BEARER_TOKEN = /^bearer +(\S{1,200})$/i;
/** Longer than any of our keys, so longer headers are not parsed. */
const MAX_AUTHORIZATION_LENGTH = 300;

/**
 * Identifies the caller before the request is read. `checkRights` checks permissions after the request's shape.
 * @throws AppError 400, 401 or 403 by spec §5 and decisions §1
 */
export async function identify(
  kind: CallerKind,
  input: PresentedCredentials,
  credentials: Credentials,
): Promise<Caller> {
  if (kind === "anyone") return NO_ONE;
  if (kind === "session" || kind === "operator") {
    if (input.authorization !== undefined) {
      const token = BEARER_TOKEN.exec(input.authorization)?.[1];
      const isOperator = kind === "operator" && token !== undefined && credentials.isOperatorToken?.(token);
      if (isOperator !== true) throw new AppError("UNAUTHORIZED");
      return NO_ONE;
    }
    return { ...NO_ONE, ...(await requireSession(input.cookie, credentials, "UNAUTHORIZED")) };
  }
  if (kind === "member") {
    if (input.authorization !== undefined) throw new AppError("UNAUTHORIZED");
    return identifyMember(
      await requireSession(input.cookie, credentials, "UNAUTHORIZED"),
      input.pathProject,
      credentials,
    );
  }
  if (input.authorization !== undefined) return identifyByKey(kind, input, credentials);
  const session = await requireSession(input.cookie, credentials, "MISSING_AUTH");
  if (kind === "project-by-path") return identifyMember(session, input.pathProject, credentials);
  // Ids are compared in lower case.
  const projectId = input.projectHeader?.toLowerCase();
  if (projectId === undefined || projectId === "")
    throw new AppError("BAD_REQUEST", {
      message: "A session must send its project in the header X-Project-Id.",
    });
  const membership = await credentials.findMembership(session.userId, projectId);
  if (membership === null) throw new AppError("PROJECT_ACCESS_DENIED");
  return { ...NO_ONE, ...session, projectId, ...membership };
}

/**
 * Identifies a user by the project in the path. Without membership the role stays null, so the project is reported as missing after the
 * request is read.
 */
async function identifyMember(
  session: { userId: string; sessionId: string },
  pathProject: string | undefined,
  credentials: Credentials,
): Promise<Caller> {
  const projectId = pathProject?.toLowerCase() ?? "";
  const membership = await credentials.findMembership(session.userId, projectId);
  return membership === null
    ? { ...NO_ONE, ...session }
    : { ...NO_ONE, ...session, projectId, ...membership };
}

/**
 * Enforces the required role, the scopes of keys and disabled projects. This is the only place that does.
 * @throws AppError PROJECT_NOT_FOUND for a project in the path that the caller does not belong to, FORBIDDEN, PROJECT_DISABLED,
 * EMAIL_VERIFICATION_REQUIRED
 */
export function checkRights(endpoint: Endpoint, { role, scopes, disabled, mayNotSend }: Caller): void {
  if (!isOfProject(endpoint)) return;
  if (role === null) throw new AppError("PROJECT_NOT_FOUND");
  if (scopes !== null && !isInScope(endpoint, scopes))
    throw new AppError(
      "FORBIDDEN",
      withValues("This requires a key with the scope `{scope}`, but yours has {scopes}.", {
        scope: scopeOf(endpoint),
        scopes: scopes.map((scope) => `\`${scope}\``).join(", "),
      }),
    );
  if (!reaches(role, endpoint.leastRole))
    throw new AppError(
      "FORBIDDEN",
      withValues("This requires the role {required} in the project, but {owner} is {role}.", {
        required: endpoint.leastRole,
        owner: scopes === null ? "yours" : "that of your key",
        role,
      }),
    );
  if (disabled && !endpoint.isOpenWhenDisabled) throw new AppError("PROJECT_DISABLED");
  if (mayNotSend && endpoint.sends) throw new AppError("EMAIL_VERIFICATION_REQUIRED");
}

async function identifyByKey(
  kind: CallerKind,
  input: PresentedCredentials,
  credentials: Credentials,
): Promise<Caller> {
  const header = input.authorization ?? "";
  const text = header.length > MAX_AUTHORIZATION_LENGTH ? undefined : BEARER.exec(header)?.[1];
  if (text === undefined) throw new AppError("INVALID_API_KEY", formFault(header));
  if (text.startsWith("pk_") && kind !== "tracker") throw new AppError("INVALID_API_KEY");
  const key = await credentials.findKey(text);
  if (key === null || text.startsWith("pk_") !== (key.kind === "public"))
    throw new AppError("INVALID_API_KEY", {
      message: "The API key is not valid. Keys stop working when they are regenerated.",
    });
  if (key.scoped !== undefined) checkScopedKey(key.scoped, input.ip);
  const inPath = input.pathProject?.toLowerCase() ?? "";
  const isOther = kind === "project-by-path" && inPath !== OWN_PROJECT && inPath !== key.projectId;
  return {
    ...NO_ONE,
    projectId: key.projectId,
    disabled: key.disabled,
    role: isOther ? null : (key.scoped?.role ?? KEY_ROLES[key.kind]),
    scopes: key.scoped?.scopes ?? null,
    byKey: true,
    key: key.scoped?.id ?? key.kind,
    keyHash: key.hash,
  };
}

/** Checks that the key has not expired and may be used from this address. Scopes are checked later. */
function checkScopedKey(
  { networks, isExpired }: NonNullable<PresentedKey["scoped"]>,
  ip: string | undefined,
): void {
  if (isExpired) throw new AppError("INVALID_API_KEY", { message: "The API key has expired." });
  if (networks.length > 0 && !isWithinNetworks(ip, networks))
    throw new AppError(
      "INVALID_API_KEY",
      withValues("The API key can't be used from the address {address}.", {
        address: ip ?? "of this request",
      }),
    );
}

/** Returns a hint for a malformed key without repeating the key. */
function formFault(header: string): { message?: string } {
  if (header.length > MAX_AUTHORIZATION_LENGTH) return {};
  if (/^(pk|sk)_/.test(header))
    return { message: "The word Bearer is missing before the key. Send `Authorization: Bearer <key>`." };
  return /^bearer +(?!pk_|sk_)/i.test(header)
    ? { message: "The token after `Bearer` is not a Postloft key. Keys begin with `sk_` or `pk_`." }
    : {};
}

async function requireSession(
  cookie: string | undefined,
  credentials: Credentials,
  code: "UNAUTHORIZED" | "MISSING_AUTH",
) {
  const session = cookie === undefined ? null : await credentials.findSession(cookie);
  if (session === null) throw new AppError(code);
  return session;
}
