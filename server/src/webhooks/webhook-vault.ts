// Encrypts the credentials in headers and URLs of webhooks, shows them as a mask, and decrypts them for a call.
import { MASKED } from "@postloft/contract/workflows/graph.ts";
import type { Sealer } from "../platform/crypto.ts";
import { withoutMustaches } from "../rendering/fill-text.ts";
import { isCredentialName, isTokenLike } from "./credential-names.ts";

type Headers = Readonly<Record<string, string>>;

const PREFIX = "sealed:";
/** The name of every credential in the path of a URL. */
const IN_PATH = "path";
/** Headers that describe the content and never authenticate. All others may hold a credential. */
const PLAIN = new Set([
  "accept",
  "accept-language",
  "cache-control",
  "content-language",
  "content-type",
  "user-agent",
]);

const isPlain = (name: string) => PLAIN.has(name.toLowerCase());

/** Each kind has its own context, so that a sealed value of one is never opened as the other. */
const contextOf = (kind: "headers" | "url", projectId: string) => `webhook ${kind} ${projectId}`;

export interface WebhookVault {
  /** Returns headers as they are stored. A masked value keeps the one of the same name in `stored`; without one it stays masked. */
  seal(projectId: string, input: Headers, stored?: Headers): Record<string, string>;
  /** Returns headers as they are sent. @throws when they were sealed under another application secret */
  open(projectId: string, stored: Headers): Record<string, string>;
  /**
   * Returns a URL as it is stored. A masked value keeps the one of the same name in `stored` if the origin is the same, so that nobody sends a
   * credential that they cannot read to a host of their choice; otherwise it stays masked. Credentials in the path keep their order.
   */
  sealUrl(projectId: string, input: string, stored?: string): string;
  /** Returns a URL as it is called. @throws when it was sealed under another application secret */
  openUrl(projectId: string, stored: string): string;
}

export function createWebhookVault(sealer: Sealer): WebhookVault {
  const open = (value: string, context: string) =>
    value.startsWith(PREFIX)
      ? sealer.open(Buffer.from(value.slice(PREFIX.length), "base64"), context)
      : value;
  /** False also for what was sealed under another application secret: nobody can read it any longer. */
  const isSealOf = (value: string, sealed: string, context: string) => {
    try {
      return sealed.startsWith(PREFIX) && open(sealed, context) === value;
    } catch {
      return false;
    }
  };
  /** Returns a value as it is stored. An equal value keeps its text, so that a version which changes nothing shows no change. */
  function store(input: string, before: string | undefined, context: string): string {
    if (isMask(input) && (before === undefined || isMask(before))) return MASKED;
    if (
      before !== undefined &&
      (isMask(input) ? before.startsWith(PREFIX) : isSealOf(input, before, context))
    )
      return before;
    // Values that were stored before they were encrypted are encrypted now.
    const value = isMask(input) ? (before ?? input) : input;
    return PREFIX + sealer.seal(value, context).toString("base64url");
  }
  return {
    seal(projectId, input, stored = {}) {
      const context = contextOf("headers", projectId);
      const kept = new Map(Object.entries(stored).map(([name, value]) => [name.toLowerCase(), value]));
      return mapValues(input, (name, value) => {
        const before = kept.get(name.toLowerCase());
        if (isPlain(name)) return value === MASKED ? (before ?? MASKED) : value;
        return store(value, before, context);
      });
    },
    open: (projectId, stored) =>
      mapValues(stored, (name, value) =>
        isPlain(name) ? value : open(value, contextOf("headers", projectId)),
      ),
    sealUrl(projectId, input, stored = "") {
      const context = contextOf("url", projectId);
      const kept = URL.parse(input)?.origin === URL.parse(stored)?.origin ? credentialsIn(stored) : [];
      return mapCredentials(input, (name, value) => {
        const at = kept.findIndex((one) => one.name === name);
        const [before] = at === -1 ? [] : kept.splice(at, 1);
        return store(value, before?.value, context);
      });
    },
    openUrl: (projectId, stored) =>
      mapCredentials(stored, (_name, value) => open(value, contextOf("url", projectId))),
  };
}

/** Returns stored headers as they may be shown, with a mask for everything that may be a credential. */
export function maskHeaders(stored: Headers): Record<string, string> {
  return mapValues(stored, (name, value) => (isPlain(name) ? value : MASKED));
}

/** Returns a stored URL as it may be shown, with masks for its credentials. */
export function maskUrl(stored: string): string {
  return mapCredentials(stored, () => MASKED);
}

/** Returns the names of headers whose value is missing, since only a mask was imported. */
export function listMaskedNames(stored: Headers): string[] {
  return Object.entries(stored).flatMap(([name, value]) => (value === MASKED ? [name] : []));
}

/** Returns the query parameters without a value, because an import has only masks, and `path` for each such part of the path. */
export function listMaskedParameters(stored: string): string[] {
  return credentialsIn(stored).flatMap(({ name, value }) => (isMask(value) ? [name] : []));
}

/** A browser writes the mask in percent-encoding. */
const isMask = (value: string) => value === MASKED || value.toUpperCase() === encodeURIComponent(MASKED);

function mapValues(headers: Headers, change: (name: string, value: string) => string) {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, change(name, value)]));
}

function credentialsIn(url: string): Array<{ name: string; value: string }> {
  const found: Array<{ name: string; value: string }> = [];
  mapCredentials(url, (name, value) => {
    found.push({ name, value });
    return value;
  });
  return found;
}

/**
 * Replaces the credentials in the path and the query of a URL and leaves every other character as it is. Signs inside of variables, such as
 * `??` and `{{#if …}}`, are not signs of the URL.
 */
function mapCredentials(url: string, change: (name: string, value: string) => string): string {
  const signs = withoutMustaches(url, "{");
  const [, origin = "", path = "", query = ""] =
    /^([^/?#]*\/\/[^/?#]*)?([^?#]*)(\?[^#]*)?/s.exec(signs) ?? [];
  const [queryAt, endAt] = [origin.length + path.length, origin.length + path.length + query.length];
  const inPath = (sign: string, part: string) =>
    part.startsWith(PREFIX) || isMask(part) || isTokenLike(sign) ? change(IN_PATH, part) : part;
  const inQuery = (sign: string, parameter: string) => {
    const at = sign.indexOf("=");
    const [name, value] = [parameter.slice(0, Math.max(at, 0)), parameter.slice(at + 1)];
    return at === -1 || value === "" || !isCredentialName(decoded(name))
      ? parameter
      : `${name}=${change(decoded(name), value)}`;
  };
  // Without an origin, it is no URL that could be called.
  const changedPath =
    origin === ""
      ? url.slice(0, queryAt)
      : url.slice(0, origin.length) + mapParts(path, url.slice(origin.length, queryAt), "/", inPath);
  const changedQuery =
    query === "" ? "" : `?${mapParts(query.slice(1), url.slice(queryAt + 1, endAt), "&", inQuery)}`;
  return changedPath + changedQuery + url.slice(endAt);
}

/** Changes the parts of a text between separators. `signs` is the text with its variables blanked out, which have no separators. */
function mapParts(
  signs: string,
  text: string,
  separator: string,
  change: (sign: string, part: string) => string,
): string {
  let from = 0;
  const parts = signs.split(separator).map((sign) => {
    const part = text.slice(from, from + sign.length);
    from += sign.length + separator.length;
    return change(sign, part);
  });
  return parts.join(separator);
}

/** Returns the name as its reader sees it, or as it is written if that is no percent-encoding. */
function decoded(name: string): string {
  try {
    return decodeURIComponent(name);
  } catch {
    return name;
  }
}
