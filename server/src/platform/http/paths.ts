// Maps the path aliases of decisions §1 to one handler each: /api/* → /*, /v1/<resource> → /<resource>, /send, /track, bare POST /v1.

const RESOURCES =
  /^\/v1\/((?:contacts|templates|segments|campaigns|workflows|events|domains|emails)(?=[/?]|$).*)$/;
const SHORT = /^\/(send|track|verify)(?=[/?]|$)/;

/** Returns the path in the contract's spelling. */
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
