// Defines the scopes of keys: a noun of the API, with read or write access.

/** Nouns that a scope can contain, which are the first parts of the endpoint names that accept secret keys. */
export const SCOPE_NOUNS = [
  "v1",
  "contacts",
  "suppressions",
  "segments",
  "templates",
  "uploads",
  "campaigns",
  "workflows",
  "executions",
  "events",
  "activity",
  "analytics",
  "deliverability",
  "emails",
  "received",
  "mailbox",
  "domains",
  "projects",
  "members",
  "invitations",
  "audit",
  "requests",
  "webhooks",
  "secrets",
] as const;

/** The noun of every endpoint with a secret in its response, regardless of its resource. */
const SECRETS = "secrets";

/** Makes a test key. It also allows `POST /v1/send`, but the email stays in the local mailbox. Cannot be combined with write scopes. */
export const TEST_SCOPE = "test:send";

/** Covers every noun except `secrets`, which must be listed explicitly. */
const ANY = "*";

export const SCOPES: readonly string[] = [
  ...[ANY, ...SCOPE_NOUNS].flatMap((noun) => [`${noun}:read`, `${noun}:write`]),
  TEST_SCOPE,
];

/** Returns whether any of the scopes allows writing. */
export const doWrite = (scopes: readonly string[]): boolean =>
  scopes.some((scope) => scope.endsWith(":write"));

/** The parts of an endpoint that decide which scope it needs. */
export interface ScopedEndpoint {
  name: string;
  isRead: boolean;
  isSecret: boolean;
}

/** Returns the noun for the scope of an endpoint. */
export function nounOf({ name, isSecret }: Pick<ScopedEndpoint, "name" | "isSecret">): string {
  return isSecret ? SECRETS : (name.split(".")[0] ?? "");
}

/** Returns the scope that an endpoint needs. */
export function scopeOf(endpoint: ScopedEndpoint): string {
  return `${nounOf(endpoint)}:${endpoint.isRead ? "read" : "write"}`;
}

/** Returns whether one of the scopes allows an endpoint. `write` includes `read`. */
export function isInScope(endpoint: ScopedEndpoint, scopes: readonly string[]): boolean {
  if ((endpoint.name === "v1.send" || endpoint.name === "v1.sendBatch") && scopes.includes(TEST_SCOPE))
    return true;
  const noun = nounOf(endpoint);
  return scopes.some((scope) => {
    const [input, right] = scope.split(":");
    const isNamed = input === noun || (input === ANY && noun !== SECRETS);
    return isNamed && (right === "write" || endpoint.isRead);
  });
}
