// Reduces a request to its structure and to names from the API, without secrets and personal data. Pure.

/** Fields that name objects of the project and are not personal. */
const NAMING = new Set([
  "event",
  "type",
  "status",
  "template",
  "segmentId",
  "contactId",
  "campaignId",
  "workflowId",
  "audienceType",
  "field",
  "operator",
  "language",
]);
/** Below these fields only names and types are kept, because they contain personal data. */
const PERSONAL = new Set(["data", "variables", "value", "headers", "updates"]);
/** Fields that contain an address. Only its domain is kept. */
const ADDRESSED = new Set([
  "email",
  "newEmail",
  "customEmail",
  "address",
  "emails",
  "to",
  "cc",
  "bcc",
  "from",
  "defaultFrom",
  "reply",
  "replyTo",
]);
/** Matches only plain addresses, because a similar text may be a password or a URL with one. */
const ADDRESS = /^[^@\s:/?#"<>]+@((?:[\p{L}\p{N}-]+\.)+[\p{L}\p{N}-]+)$/u;
/** Number fields of the API. Other numbers may be accounts or codes. */
const NUMBERED = new Set([
  "limit",
  "page",
  "pageSize",
  "x",
  "y",
  "priority",
  "version",
  "amount",
  "sendingRate",
  "eventRetentionDays",
  "emailRetentionDays",
]);
const MAX_TEXT_LENGTH = 200;
const MAX_ITEMS = 20;
const MAX_DEPTH = 8;
const MAX_BODY_BYTES = 16_384;

/** Returns the redacted body, or null if it is not JSON or too large. */
export function redactBody(bytes: Buffer): unknown {
  if (bytes.length === 0 || bytes.length > MAX_BODY_BYTES) return null;
  try {
    return redact(JSON.parse(bytes.toString("utf8")) as unknown, "", false, 0);
  } catch {
    return null;
  }
}

/** Returns a path with addresses replaced by the parameter names of the route. */
export function redactPath(path: string, route: string): string {
  const names = route.split("/");
  const parts = path.split("/").map((part, at) => (/@|%40/i.test(part) ? (names[at] ?? "[…]") : part));
  return cut(parts.join("/"));
}

function redact(value: unknown, name: string, isPersonal: boolean, depth: number): unknown {
  if (value === null) return null;
  if (typeof value === "string") return redactText(value, name, isPersonal);
  if (typeof value !== "object") {
    const isKept = !isPersonal && (typeof value !== "number" || NUMBERED.has(name));
    return isKept ? value : `[${typeof value}]`;
  }
  if (depth >= MAX_DEPTH) return "[…]";
  if (Array.isArray(value)) {
    const kept = value.slice(0, MAX_ITEMS).map((item) => redact(item, name, isPersonal, depth + 1));
    const rest = value.length - kept.length;
    return rest === 0 ? kept : [...kept, `[${rest} more]`];
  }
  const entries = Object.entries(value);
  const kept = entries
    .slice(0, MAX_ITEMS)
    .map(
      ([key, item]) =>
        [
          key.includes("@") ? "[…]" : cut(key),
          redact(item, key, isPersonal || PERSONAL.has(key), depth + 1),
        ] as const,
    );
  const rest = entries.length - kept.length;
  return Object.fromEntries(rest === 0 ? kept : [...kept, ["…", `[${rest} more]`]]);
}

function redactText(text: string, name: string, isPersonal: boolean): string {
  if (isPersonal) return `[text of ${text.length}]`;
  const domain = ADDRESSED.has(name) ? ADDRESS.exec(text)?.[1] : undefined;
  if (domain !== undefined) return `[…]@${cut(domain)}`;
  if (NAMING.has(name) && !text.includes("@")) return cut(text);
  return `[text of ${text.length}]`;
}

/** Matches our keys and signing secrets wherever a program put them by mistake. */
const SECRET = /(?<![A-Za-z0-9])(?:[ps]k_[\w-]{8,}|whsec_[\w+/=-]{8,})/g;

/** Removes secrets from a text and makes it valid for jsonb, without NUL and lone surrogates. */
export const cut = (text: string) =>
  text.replace(SECRET, "[secret]").slice(0, MAX_TEXT_LENGTH).toWellFormed().replaceAll("\0", "�");
