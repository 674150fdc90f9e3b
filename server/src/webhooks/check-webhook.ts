// Checks the URL and the headers of a webhook, when it is saved and again before each attempt. Pure.
import { isIP } from "node:net";
import type { FieldCode } from "@postloft/contract/errors.ts";
import { LIMITS } from "@postloft/contract/limits/limits.ts";
import type { WEBHOOK_METHODS } from "@postloft/contract/workflows/graph.ts";
import { asMessage, withValues, type ErrorMessage, type Wording } from "@postloft/contract/translation.ts";
import { isPortAllowed, mayCall, NO_TARGETS, type CallTargets } from "./networks.ts";

export type WebhookMethod = (typeof WEBHOOK_METHODS)[number];

export interface WebhookFault extends ErrorMessage {
  code: FieldCode;
}

/** Names that never lead to the public internet (RFC 6761 §6.3, RFC 6762 §3, RFC 8375, ICANN's `.internal`). */
const LOCAL_NAME = /(^|\.)(localhost|localdomain|local|internal|home\.arpa)$/;
/**
 * Returns the error in a webhook URL, or null. Does not resolve names, because their addresses are checked at each call.
 *
 * @param targets what the instance admin allows. With a network, local names are valid as well
 */
export function checkWebhookUrl(text: string, targets: CallTargets = NO_TARGETS): WebhookFault | null {
  const { value: maximum } = LIMITS.webhookUrlLength;
  if (text.length > maximum)
    return { code: "too_big", ...withValues("Must have at most {most} characters.", { most: maximum }) };
  const url = URL.parse(text);
  if (url === null)
    return { code: "invalid_string", message: "Must be a URL such as https://example.com/hook." };
  const fault = faultOf(url, targets);
  return fault === null ? null : { code: "invalid_string", ...asMessage(fault) };
}

function faultOf(url: URL, { networks, ports }: CallTargets): Wording | null {
  if (url.protocol !== "https:" && url.protocol !== "http:") return "Must begin with https:// or http://.";
  if (url.username !== "" || url.password !== "")
    return "Must not contain a user name or a password. Send them in a header.";
  if (url.port !== "" && !isPortAllowed(Number(url.port), ports))
    return withValues(
      "Must not use port {port}. 80, 443 and 8000 to 8999 are allowed; the administrator can allow more with WEBHOOK_ALLOW_PORTS.",
      { port: url.port },
    );
  const host = hostOf(url);
  const isAllowed = isIP(host) === 0 ? networks.length > 0 || isPublicName(host) : mayCall(host, networks);
  return isAllowed
    ? null
    : withValues(
        "Must lead to the public internet, but {host} does not. The administrator can allow it with WEBHOOK_ALLOW_PRIVATE.",
        { host: url.hostname },
      );
}

/** Returns the host of a URL without brackets and trailing dot. URL has already normalized unusual spellings of IPv4 (WHATWG URL §3.5). */
export function hostOf(url: URL): string {
  return url.hostname.replace(/^\[|\]$/g, "").replace(/\.$/, "");
}

function isPublicName(host: string): boolean {
  return host.includes(".") && !LOCAL_NAME.test(host);
}

/** Set by the service, or meant for the connection instead of the endpoint (RFC 9110 §7.6.1). */
const OWN_HEADERS = new Set([
  "host",
  "content-length",
  "transfer-encoding",
  "connection",
  "keep-alive",
  "te",
  "trailer",
  "upgrade",
  "expect",
  "proxy-authorization",
  "proxy-connection",
  "accept-encoding",
  "webhook-id",
  "webhook-timestamp",
  "webhook-signature",
]);
/** RFC 9110 §5.6.2. */
const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
/** RFC 9110 §5.5: visible characters, spaces and tabs, one byte each. */
const VALUE = /^[\t\u0020-\u007e\u0080-\u00ff]*$/;

/** Returns the errors in webhook headers with their names. `name` is "" for an error about all headers. */
export function checkWebhookHeaders(
  headers: Readonly<Record<string, string>>,
): Array<WebhookFault & { name: string }> {
  const entries = Object.entries(headers);
  const { value: most } = LIMITS.webhookHeaders;
  if (entries.length > most)
    return [{ name: "", code: "too_big", ...withValues("Must have at most {most} headers.", { most }) }];
  const seen = new Set<string>();
  return entries.flatMap(([name, value]) => {
    const isRepeated = seen.has(name.toLowerCase());
    seen.add(name.toLowerCase());
    const fault = faultOfHeader(name, value, isRepeated);
    return fault === null ? [] : [{ name, ...fault }];
  });
}

function faultOfHeader(name: string, value: string, isRepeated: boolean): WebhookFault | null {
  const { value: longest } = LIMITS.webhookHeaderLength;
  const { value: longestName } = LIMITS.headerNameLength;
  if (!TOKEN.test(name))
    return { code: "invalid_string", message: "A header name may contain letters, digits and hyphens only." };
  if (name.length > longestName)
    return {
      code: "too_big",
      ...withValues("The name may have at most {most} characters.", { most: longestName }),
    };
  if (OWN_HEADERS.has(name.toLowerCase()))
    return { code: "custom", ...withValues("{name} is set by the service and cannot be changed.", { name }) };
  if (isRepeated) return { code: "custom", ...withValues("{name} appears twice.", { name }) };
  if (value.length > longest)
    return { code: "too_big", ...withValues("Must have at most {most} characters.", { most: longest }) };
  if (!VALUE.test(value))
    return {
      code: "invalid_string",
      message: "Must not contain line breaks, control characters or characters beyond ISO 8859-1.",
    };
  return null;
}
