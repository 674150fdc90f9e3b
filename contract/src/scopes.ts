// Defines the scopes of keys: a noun of the API, and whether it may be read or written.

/** What keys can be let in to: the first part of the names of the endpoints that take secret keys. */
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
  "mailbox",
  "domains",
  "projects",
  "members",
  "invitations",
  "audit",
  "requests",
  "secrets",
] as const;

/** The noun of every endpoint that answers with a secret, whichever resource it belongs to. */
const SECRETS = "secrets";

/** Makes a test key: it opens `POST /v1/send` too, and that mail stays in the local mailbox. No scope that writes stands beside it. */
export const TEST_SCOPE = "test:send";

/** Stands for every noun except `secrets`, which a key must name. */
const ANY = "*";

export const SCOPES: readonly string[] = [
  ...[ANY, ...SCOPE_NOUNS].flatMap((noun) => [`${noun}:read`, `${noun}:write`]),
  TEST_SCOPE,
];

/** Whether the scopes name something that writes. */
export const doWrite = (scopes: readonly string[]): boolean =>
  scopes.some((scope) => scope.endsWith(":write"));

/** The parts of an endpoint that decide which scope opens it. */
export interface ScopedEndpoint {
  name: string;
  isRead: boolean;
  isSecret: boolean;
}

/** Returns the noun that opens an endpoint. */
export function nounOf({ name, isSecret }: Pick<ScopedEndpoint, "name" | "isSecret">): string {
  return isSecret ? SECRETS : (name.split(".")[0] ?? "");
}

/** Returns the scope that an endpoint needs. */
export function scopeOf(endpoint: ScopedEndpoint): string {
  return `${nounOf(endpoint)}:${endpoint.isRead ? "read" : "write"}`;
}

/** Returns whether one of the scopes opens an endpoint. `write` includes `read`. */
export function isInScope(endpoint: ScopedEndpoint, scopes: readonly string[]): boolean {
  if (endpoint.name === "v1.send" && scopes.includes(TEST_SCOPE)) return true;
  const noun = nounOf(endpoint);
  return scopes.some((scope) => {
    const [given, right] = scope.split(":");
    const isNamed = given === noun || (given === ANY && noun !== SECRETS);
    return isNamed && (right === "write" || endpoint.isRead);
  });
}
