// Reduces a request to its shape and to values that name things of the API, without secrets and personal data. Pure.

/** Texts that name something of the project; nothing a person would mind. */
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
/** Below these only names and types are kept: what a project knows of people. */
const PERSONAL = new Set(["data", "variables", "value", "headers", "updates"]);
/** Fields of the API that hold an address, of which the domain is kept. */
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
/** Nothing but a plain address: what looks like one may be a password, or a URL with one in it. */
const ADDRESS = /^[^@\s:/?#"<>]+@((?:[\p{L}\p{N}-]+\.)+[\p{L}\p{N}-]+)$/u;
/** Fields of the API that hold a number; another one may be an account or a code. */
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

/** The body as it may be kept; null where it is no JSON or too large to be worth a look. */
export function redactBody(bytes: Buffer): unknown {
  if (bytes.length === 0 || bytes.length > MAX_BODY_BYTES) return null;
  try {
    return redact(JSON.parse(bytes.toString("utf8")) as unknown, "", false, 0);
  } catch {
    return null;
  }
}

/** A path without addresses: in their place stands the name that the route has for them. */
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

/** A key or a signing secret of ours, wherever a program put it by mistake. */
const SECRET = /(?<![A-Za-z0-9])(?:[ps]k_[\w-]{8,}|whsec_[\w+/=-]{8,})/g;

/** Returns a text without secrets, and as PostgreSQL's JSON takes it: without NUL and lone surrogates. */
export const cut = (text: string) =>
  text.replace(SECRET, "[secret]").slice(0, MAX_TEXT_LENGTH).toWellFormed().replaceAll("\0", "�");
