// Path aliases of decisions §1: /api/* → /*, /v1/<resource> → /<resource>, /send, /track, bare POST /v1. One handler each, many spellings.

const RESOURCES =
  /^\/v1\/((?:contacts|templates|segments|campaigns|workflows|events|domains|emails)(?=[/?]|$).*)$/;
const SHORT = /^\/(send|track|verify)(?=[/?]|$)/;

/** The path as the contract spells it. */
export function plainPath(url: string): string {
  const path = withoutApi(url);
  const resource = RESOURCES.exec(path)?.[1];
  if (resource !== undefined) return `/${resource}`;
  if (SHORT.test(path)) return `/v1${path}`;
  return path.replace(/^\/v1\/?(?=\?|$)/, "/v1/track");
}

function withoutApi(url: string): string {
  if (url === "/api" || url.startsWith("/api?")) return `/${url.slice(4)}`;
  return url.startsWith("/api/") ? url.slice(4) : url;
}
