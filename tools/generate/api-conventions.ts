// Generates the first part of docs/api.md, the conventions of all endpoints.
import { ERROR_RULES } from "@postloft/contract/openapi/errors.ts";
import { LIMITS } from "@postloft/contract/limits/limits.ts";
import { errorLinks } from "./errors-page.ts";
import { code, fenced, linkTo, page, table, wrap } from "./markdown.ts";

export function conventions(): string {
  return page([
    wrap(
      "JSON goes in and comes out, in UTF-8. Unknown fields of a request are ignored unless the endpoint says otherwise; responses may gain fields. " +
        "`/openapi.json` is the same as OpenAPI 3.1, without the requests that other services and mail programs send, and `/docs` shows it as a page to try things on. " +
        "[errors.md](errors.md) describes the errors.",
    ),
    "## Calling",
    table(
      ["who calls", "how"],
      [
        [
          "public key",
          "`Authorization: Bearer pk_…`: tracks events, nothing else; may stand in a page or an app",
        ],
        ["secret key", "`Authorization: Bearer sk_…`: everything of its project; for servers only"],
        [
          "session",
          `the cookie of ${linkTo("POST /auth/login")}, and \`X-Project-Id\` where the endpoint belongs to a project`,
        ],
      ],
    ),
    fenced(
      "sh",
      'URL=http://localhost:3000 SECRET_KEY=sk_… PUBLIC_KEY=pk_…\ncurl "$URL/contacts?limit=2" -H "Authorization: Bearer $SECRET_KEY"',
    ),
    wrap(
      `Under a key the requests of a minute are counted: \`RateLimit-Limit\`, \`RateLimit-Remaining\` and \`RateLimit-Reset\` ` +
        `(seconds) tell where you stand, a 429 carries \`Retry-After\`. Every answer carries \`X-Request-ID\`; send your own and it is kept.`,
    ),
    wrap(
      "Everything is found under `/api/…` too, and resources under `/v1/…` (`/v1/contacts`), for clients that expect it there.",
    ),
    "## Values",
    wrap(
      "Ids are UUIDs (version 7, so they sort by time). A date-time is ISO 8601: answered in UTC with milliseconds and `Z`, " +
        "taken with any offset. 1 MB is 1,048,576 bytes.",
    ),
    "## Lists",
    wrap(
      `Lists come in pages, newest first. The query takes \`limit\` (1–${LIMITS.pageSizeMaximum.value}, default ` +
        `${LIMITS.pageSizeDefault.value}) and \`cursor\`, as the page before gave it; a cursor stays good when its row is deleted.`,
    ),
    fenced("json", '{ "data": [], "cursor": "…", "hasMore": true, "total": 1234 }'),
    wrap(
      "`hasMore` tells whether there is a next page. `total` is counted for the first page; later pages say 0.",
    ),
    "## Repeating a request",
    wrap(
      `After a timeout nobody knows whether a request was done. Send every POST with an \`Idempotency-Key\` (up to ` +
        `${LIMITS.idempotencyKeyLength.value} printable ASCII characters, with an API key). The same request with the same key is done once, ` +
        `and its repeats get the first response for ${LIMITS.idempotencyHours.value} hours, with \`Idempotency-Replayed: true\`. ` +
        `The key with another body or path is ${errorLinks(["IDEMPOTENCY_KEY_REUSED"])}. ` +
        "A request that fails leaves its key free. Repeat it as soon as you like, also while the first one may still be running.",
    ),
    "## Errors",
    wrap(`Beside the codes that an endpoint names, these can come (${code("error.code")}):`),
    table(
      ["when", "codes"],
      ERROR_RULES.map(({ when, codes }) => [when, errorLinks(codes)]),
    ),
  ]).trimEnd();
}
