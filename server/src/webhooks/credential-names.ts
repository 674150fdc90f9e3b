// Recognizes credentials by their names, in query parameters and JSON, and tokens in paths by their characters. Pure.

const WORDS = new Set([
  "token",
  "key",
  "apikey",
  "secret",
  "signature",
  "sig",
  "password",
  "passwd",
  "pwd",
  "auth",
  "authorization",
  "credential",
  "credentials",
]);

/** Whether a name is that of a credential, such as `token`, `api_key`, `accessToken` or `X-Client-Secret`. */
export function isCredentialName(name: string): boolean {
  const words = name
    .replaceAll(/([a-z0-9])([A-Z])/g, "$1 $2")
    .toLowerCase()
    .split(/[^a-z0-9]+/);
  return words.some((word) => WORDS.has(word));
}

const TOKEN_LENGTH = 20;
/** The least characters of a random piece between punctuation. Shorter ones are versions, such as `v2beta1`. */
const RANDOM_LENGTH = 8;
const UUID = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i;
/** The ID of a document in some databases. */
const OBJECT_ID = /^[\da-f]{24}$/i;

/**
 * Whether a part of a path looks like a random token, as in the webhooks of Slack, Discord, Telegram and Make. Words and numbers that
 * people chose don't mix letters and digits. IDs do, and are no credentials.
 */
export function isTokenLike(part: string): boolean {
  if (part.length < TOKEN_LENGTH || !/^[\w.:~-]+$/.test(part) || UUID.test(part) || OBJECT_ID.test(part))
    return false;
  return part
    .split(/[^a-z\d]/i)
    .some((piece) => piece.length >= RANDOM_LENGTH && /\d/.test(piece) && /[a-z]/i.test(piece));
}

/** Credentials are short, and a body may be large. */
const MAX_VALUES = 10_000;

/**
 * Returns the path of the first literal text in JSON that stands under the name of a credential, such as `auth.token`; null if there is none
 * within the first 10,000 values.
 */
export function findCredential(json: unknown): string | null {
  const waiting: Array<{ path: string; name: string; value: unknown }> = [
    { path: "", name: "", value: json },
  ];
  for (let at = 0; at < waiting.length && at < MAX_VALUES; at++) {
    const { path, name, value } = waiting[at] ?? {};
    if (typeof value === "string" && isCredentialName(name ?? "") && value !== "" && !value.includes("{{"))
      return path ?? "";
    if (typeof value !== "object" || value === null) continue;
    // An element of a list has the name of the list.
    for (const [key, inner] of Object.entries(value).slice(0, MAX_VALUES))
      waiting.push({
        path: path === "" ? key : `${path}.${key}`,
        name: Array.isArray(value) ? (name ?? "") : key,
        value: inner,
      });
  }
  return null;
}
