// Headers of every response.

/** One year, without subdomains because they may belong to other owners. */
const HSTS = "max-age=31536000";

/** Returns the headers of a response. `origin`: the public address, which browsers use only over TLS if it is https; null if unknown. */
export function safetyHeaders(requestId: string, origin: string | null = null): Record<string, string> {
  return {
    "x-request-id": requestId,
    "x-content-type-options": "nosniff",
    "cache-control": "no-store",
    "referrer-policy": "no-referrer",
    ...(origin?.startsWith("https:") === true ? { "strict-transport-security": HSTS } : {}),
  };
}
