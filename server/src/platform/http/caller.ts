// Identifies the caller of a request by API key or session, and checks their role and scopes (spec §5, decisions §1–2).
import { isOfProject, type CallerKind, type Endpoint } from "@postloft/contract/endpoint.ts";
import { reaches, type Role } from "@postloft/contract/roles.ts";
import { isInScope, scopeOf } from "@postloft/contract/scopes.ts";
import { isWithinNetworks } from "./ip-networks.ts";
import { Refusal } from "../refusal.ts";

export interface Caller {
  projectId: string | null;
  disabled: boolean;
  userId: string | null;
  sessionId: string | null;
  /** In the project; null where there is none, and of whoever names a project in the path that is not theirs. */
  role: Role | null;
  /** Somebody whose address is not proved, where that is asked for (REQUIRE_EMAIL_VERIFICATION). */
  mayNotSend: boolean;
  /** What its key is for; null: everything. */
  scopes: readonly string[] | null;
  /** Came with an API key: counts against the rate limit and may use an Idempotency-Key. */
  byKey: boolean;
  /** Which one: `secret`, `public`, or the id of a scoped key; null without one. */
  key: string | null;
  /** The hash of that key, which tells it from the keys before and after a rotation; null without one. */
  keyHash: Buffer | null;
}

/** A key as its project knows it. */
export interface PresentedKey {
  hash: Buffer;
  projectId: string;
  kind: "public" | "secret";
  disabled: boolean;
  /** Of a key that is not for everything. */
  scoped?: {
    id: string;
    /** The key can do at most what this role can. */
    role: "ADMIN" | "MEMBER";
    scopes: readonly string[];
    /** From where it may be used; none: from anywhere. */
    networks: readonly string[];
    isExpired: boolean;
  };
}

/** What the folders of projects and users know about credentials; given by api.ts. */
export interface Credentials {
  findKey(key: string): Promise<PresentedKey | null>;
  findSession(cookie: string): Promise<{ userId: string; sessionId: string } | null>;
  findMembership(
    userId: string,
    projectId: string,
  ): Promise<{ role: Role; disabled: boolean; mayNotSend: boolean } | null>;
  /** Whether it is the token that was printed at start. Absent: there is none. */
  isOperatorToken?: (token: string) => boolean;
}

export interface PresentedCredentials {
  authorization: string | undefined;
  cookie: string | undefined;
  projectHeader: string | undefined;
  /** The project in the path, where the endpoint has it there. */
  pathProject: string | undefined;
  /** Where the request came from. */
  ip: string | undefined;
}

export const NOBODY: Caller = {
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
/** The secret key acts as an admin. The kind of caller alone decides what a public key opens. */
const KEY_ROLES = { secret: "ADMIN", public: "MEMBER" } as const;
/** What a key may write in a path for its own project. */
const OWN_PROJECT = "current";
const BEARER = /^bearer +((?:pk|sk)_[A-Za-z0-9_-]{1,200})$/i;
const BEARER_TOKEN = /^bearer +(\S{1,200})$/i;
/** Longer than any key of ours: not even looked at. */
const MAX_AUTHORIZATION_LENGTH = 300;

/**
 * Who calls, before anything of the request is read; what they may do is judged after its shape (`checkRights`).
 *
 * @throws Refusal 400, 401 or 403 as spec §5 and decisions §1 say.
 */
export async function identify(
  kind: CallerKind,
  given: PresentedCredentials,
  credentials: Credentials,
): Promise<Caller> {
  if (kind === "anyone") return NOBODY;
  if (kind === "session" || kind === "operator") {
    if (given.authorization !== undefined) {
      const token = BEARER_TOKEN.exec(given.authorization)?.[1];
      const isOperator = kind === "operator" && token !== undefined && credentials.isOperatorToken?.(token);
      if (isOperator !== true) throw new Refusal("UNAUTHORIZED");
      return NOBODY;
    }
    return { ...NOBODY, ...(await requireSession(given.cookie, credentials, "UNAUTHORIZED")) };
  }
  if (kind === "member") {
    if (given.authorization !== undefined) throw new Refusal("UNAUTHORIZED");
    return identifyMember(
      await requireSession(given.cookie, credentials, "UNAUTHORIZED"),
      given.pathProject,
      credentials,
    );
  }
  if (given.authorization !== undefined) return identifyByKey(kind, given, credentials);
  const session = await requireSession(given.cookie, credentials, "MISSING_AUTH");
  if (kind === "project-by-path") return identifyMember(session, given.pathProject, credentials);
  // In the one spelling in which ids are compared.
  const projectId = given.projectHeader?.toLowerCase();
  if (projectId === undefined || projectId === "")
    throw new Refusal("BAD_REQUEST", {
      message: "A session must name its project in the header X-Project-Id.",
    });
  const membership = await credentials.findMembership(session.userId, projectId);
  if (membership === null) throw new Refusal("PROJECT_ACCESS_DENIED");
  return { ...NOBODY, ...session, projectId, ...membership };
}

/** Of whoever is no member of the project in the path the role stays open: it is missing to them, once their request is read. */
async function identifyMember(
  session: { userId: string; sessionId: string },
  pathProject: string | undefined,
  credentials: Credentials,
): Promise<Caller> {
  const projectId = pathProject?.toLowerCase() ?? "";
  const membership = await credentials.findMembership(session.userId, projectId);
  return membership === null
    ? { ...NOBODY, ...session }
    : { ...NOBODY, ...session, projectId, ...membership };
}

/**
 * The one place where roles and scopes of keys are enforced: what the endpoint asks for at least, and whether its project is disabled.
 *
 * @throws Refusal PROJECT_NOT_FOUND for a project in the path that is not the caller's, FORBIDDEN, PROJECT_DISABLED, EMAIL_VERIFICATION_REQUIRED.
 */
export function checkRights(endpoint: Endpoint, { role, scopes, disabled, mayNotSend }: Caller): void {
  if (!isOfProject(endpoint)) return;
  if (role === null) throw new Refusal("PROJECT_NOT_FOUND");
  if (scopes !== null && !isInScope(endpoint, scopes))
    throw new Refusal("FORBIDDEN", {
      message: `This needs a key with the scope \`${scopeOf(endpoint)}\`; yours has ${scopes.map((scope) => `\`${scope}\``).join(", ")}.`,
    });
  if (!reaches(role, endpoint.leastRole))
    throw new Refusal("FORBIDDEN", {
      message: `This needs the role ${endpoint.leastRole} in the project; ${scopes === null ? "yours" : "that of your key"} is ${role}.`,
    });
  if (disabled && !endpoint.isOpenWhenDisabled) throw new Refusal("PROJECT_DISABLED");
  if (mayNotSend && endpoint.sends) throw new Refusal("EMAIL_VERIFICATION_REQUIRED");
}

async function identifyByKey(
  kind: CallerKind,
  given: PresentedCredentials,
  credentials: Credentials,
): Promise<Caller> {
  const header = given.authorization ?? "";
  const text = header.length > MAX_AUTHORIZATION_LENGTH ? undefined : BEARER.exec(header)?.[1];
  if (text === undefined) throw new Refusal("INVALID_API_KEY", formFault(header));
  if (text.startsWith("pk_") && kind !== "tracker") throw new Refusal("INVALID_API_KEY");
  const key = await credentials.findKey(text);
  if (key === null || text.startsWith("pk_") !== (key.kind === "public"))
    throw new Refusal("INVALID_API_KEY", {
      message: "The API key is not valid. Keys stop working when they are regenerated.",
    });
  if (key.scoped !== undefined) checkScopedKey(key.scoped, given.ip);
  const inPath = given.pathProject?.toLowerCase() ?? "";
  const isOther = kind === "project-by-path" && inPath !== OWN_PROJECT && inPath !== key.projectId;
  return {
    ...NOBODY,
    projectId: key.projectId,
    disabled: key.disabled,
    role: isOther ? null : (key.scoped?.role ?? KEY_ROLES[key.kind]),
    scopes: key.scoped?.scopes ?? null,
    byKey: true,
    key: key.scoped?.id ?? key.kind,
    keyHash: key.hash,
  };
}

/** Whether it holds still, and from there. What it opens is judged later. */
function checkScopedKey(
  { networks, isExpired }: NonNullable<PresentedKey["scoped"]>,
  ip: string | undefined,
): void {
  if (isExpired) throw new Refusal("INVALID_API_KEY", { message: "The API key has expired." });
  if (networks.length > 0 && !isWithinNetworks(ip, networks))
    throw new Refusal("INVALID_API_KEY", {
      message: `The API key may not be used from the address ${ip ?? "of this request"}.`,
    });
}

/** Of a key that nearly came right; what was sent is not repeated. */
function formFault(header: string): { message?: string } {
  if (header.length > MAX_AUTHORIZATION_LENGTH) return {};
  if (/^(pk|sk)_/.test(header))
    return { message: "The key stands alone in the header: write `Authorization: Bearer <key>`." };
  return /^bearer +(?!pk_|sk_)/i.test(header)
    ? { message: "What stands behind `Bearer` is no key of this service: keys begin with `sk_` or `pk_`." }
    : {};
}

async function requireSession(
  cookie: string | undefined,
  credentials: Credentials,
  code: "UNAUTHORIZED" | "MISSING_AUTH",
) {
  const session = cookie === undefined ? null : await credentials.findSession(cookie);
  if (session === null) throw new Refusal(code);
  return session;
}
