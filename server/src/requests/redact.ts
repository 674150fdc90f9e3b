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

const ID_OR_TIME = /^(?:[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}|\d{4}-\d{2}-\d{2}T[\d:.]+Z)$/i;

/**
 * Returns the redacted JSON response. Ids and times are kept, because they show what the request created. An error keeps its code and
 * sentences, whose values are replaced by their names.
 */
export function redactResponse(json: string | null): unknown {
  if (json === null) return null;
  try {
    const response: unknown = JSON.parse(json);
    const { success, error, data } = (response ?? {}) as {
      success?: unknown;
      error?: unknown;
      data?: unknown;
    };
    if (typeof error === "object" && error !== null)
      return { success: false, error: redactError(error as SentError) };
    // The `data` of an envelope is the whole response, and that of a contact is personal.
    return success === true && data !== undefined
      ? { success, data: redact(data, "", false, 0, ID_OR_TIME) }
      : redact(response, "", false, 0, ID_OR_TIME);
  } catch {
    return null;
  }
}

interface SentMessage {
  message?: unknown;
  translation?: { key?: unknown };
}
interface SentError extends SentMessage {
  code?: unknown;
  statusCode?: unknown;
  errors?: ReadonlyArray<SentMessage & { field?: unknown; code?: unknown }>;
}

/** Quotations of the request, such as a part of a template. */
const QUOTED = /"[^"]*"|“[^“”]*”/g;

/** Returns a sentence without values of the caller. One with an address is left out, in case it has some nevertheless. */
function sentence({ message, translation }: SentMessage): string {
  const text = cut(String(translation?.key ?? message ?? "").replaceAll(QUOTED, '"[…]"'));
  return text.includes("@") ? "[…]" : text;
}

function redactError({ code, statusCode, errors, ...said }: SentError) {
  const fields = errors?.slice(0, MAX_ITEMS).map(({ field, code: problem, ...own }) => ({
    field: String(field).includes("@") ? "[…]" : cut(String(field)),
    code: problem,
    message: sentence(own),
  }));
  // The message of an error with fields repeats them.
  return { code, statusCode, ...(fields === undefined ? { message: sentence(said) } : { errors: fields }) };
}

/** Returns a path with addresses replaced by the parameter names of the route. */
export function redactPath(path: string, route: string): string {
  const names = route.split("/");
  const parts = path.split("/").map((part, at) => (/@|%40/i.test(part) ? (names[at] ?? "[…]") : part));
  return cut(parts.join("/"));
}

/** @param kept texts outside personal data that are kept */
function redact(
  value: unknown,
  name: string,
  isPersonal: boolean,
  depth: number,
  kept: RegExp | null = null,
): unknown {
  if (value === null) return null;
  if (typeof value === "string")
    return !isPersonal && kept?.test(value) === true ? value : redactText(value, name, isPersonal);
  if (typeof value !== "object") {
    const isKept = !isPersonal && (typeof value !== "number" || NUMBERED.has(name));
    return isKept ? value : `[${typeof value}]`;
  }
  if (depth >= MAX_DEPTH) return "[…]";
  if (Array.isArray(value)) {
    const items = value.slice(0, MAX_ITEMS).map((item) => redact(item, name, isPersonal, depth + 1, kept));
    const rest = value.length - items.length;
    return rest === 0 ? items : [...items, `[${rest} more]`];
  }
  const entries = Object.entries(value);
  const shown = entries
    .slice(0, MAX_ITEMS)
    .map(
      ([key, item]) =>
        [
          key.includes("@") ? "[…]" : cut(key),
          redact(item, key, isPersonal || PERSONAL.has(key), depth + 1, kept),
        ] as const,
    );
  const rest = entries.length - shown.length;
  return Object.fromEntries(rest === 0 ? shown : [...shown, ["…", `[${rest} more]`]]);
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
