// What a scoped key may open: a noun of the API and how much of it.
// Before it: nothing. After it: keys.ts takes scopes, server/src/platform/http-caller.ts enforces them.

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
  "webhooks",
] as const;

/** Makes a test key: it opens `POST /v1/send` too, and that mail stays in the local mailbox. No scope that writes stands beside it. */
export const TEST_SCOPE = "test:send";

/** Stands for every noun. */
const ANY = "*";

export const SCOPES: readonly string[] = [
  ...[ANY, ...SCOPE_NOUNS].flatMap((noun) => [`${noun}:read`, `${noun}:write`]),
  TEST_SCOPE,
];

/** Whether the scopes name something that writes. */
export const doWrite = (scopes: readonly string[]): boolean =>
  scopes.some((scope) => scope.endsWith(":write"));

/** The scope that an endpoint asks for. */
export function scopeOf({ name, isRead }: { name: string; isRead: boolean }): string {
  return `${name.split(".")[0]}:${isRead ? "read" : "write"}`;
}

/** Whether one of the scopes opens an endpoint: whoever may write may read. */
export function isInScope(endpoint: { name: string; isRead: boolean }, scopes: readonly string[]): boolean {
  if (endpoint.name === "v1.send" && scopes.includes(TEST_SCOPE)) return true;
  const [noun = ""] = scopeOf(endpoint).split(":");
  return scopes.some((scope) => {
    const [given, right] = scope.split(":");
    return (given === ANY || given === noun) && (right === "write" || endpoint.isRead);
  });
}
