// Renders `GET /docs/errors` with the meaning and solution of each error code. `error.docs` links to its anchors.
import { ERRORS, FIELD_CODES } from "@postloft/contract/errors.ts";
import { escapeHtml } from "../platform/escape-html.ts";

/** Returns the page, with the same content as docs/errors.md. */
export function errorsPage(): string {
  const codes = Object.entries(ERRORS).map(
    ([code, { status, message, suggestion }]) =>
      `<dt id="${code}">${status} ${code}</dt><dd>${inline(message)}</dd><dd>→ ${inline(suggestion)}</dd>`,
  );
  const fields = Object.entries(FIELD_CODES).map(
    ([code, meaning]) => `<dt id="${code}"><code>${code}</code></dt><dd>${inline(meaning)}</dd>`,
  );
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>Errors – Postloft</title><meta name="robots" content="noindex"><link rel="icon" type="image/svg+xml" href="/assets/favicon.svg"><link rel="stylesheet" href="/assets/page.css"></head>
<body class="card"><main>
<h1>Errors</h1>
<p>Programs read <code>error.code</code>; Include <code>error.requestId</code> when you contact your administrator. <a href="/docs">API documentation</a></p>
<dl>${codes.join("\n")}</dl>
<h2>Field codes in <code>error.errors</code></h2>
<dl>${fields.join("\n")}</dl>
</main></body></html>
`;
}

/** Returns HTML for text with `code` in it. */
function inline(text: string): string {
  return escapeHtml(text).replace(/`([^`]{1,200})`/g, "<code>$1</code>");
}
