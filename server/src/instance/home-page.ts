// `GET /` for a person: what this is, whether it is well, where to go on. Plain HTML, no script, light and dark.
// Before it: health.ts. After it: a browser.
import type { Readiness } from "./health.ts";

const CHECK_TEXTS: Readonly<Record<keyof Readiness["checks"], { ok: string; failing: string }>> = {
  database: { ok: "The database answers", failing: "The database does not answer" },
  migrations: {
    ok: "The tables are up to date",
    failing: "The tables are not up to date: restart this process",
  },
  queue: {
    ok: "No mail waits longer than it should",
    failing: "Mail waits for more than five minutes: is a process with the role worker running?",
  },
  disk: {
    ok: "There is room on the disk",
    failing: "The disk of the database is full: nothing new can be stored until there is room",
  },
};

const STYLE = `
:root { color-scheme: light dark; --ink: #1c2330; --soft: #566072; --paper: #f7f7f4; --card: #fff; --line: #dfe1e6; --good: #1a7f4b; --bad: #b3261e; --link: #1f5fbf; }
@media (prefers-color-scheme: dark) { :root { --ink: #e9ebef; --soft: #a4adbb; --paper: #14171c; --card: #1c2027; --line: #333a45; --good: #5fd39a; --bad: #ff8a80; --link: #8ab8ff; } }
* { box-sizing: border-box }
body { margin: 0; min-height: 100vh; display: grid; place-items: center; padding: 24px; background: var(--paper); color: var(--ink); font: 16px/1.55 system-ui, sans-serif }
main { width: 100%; max-width: 640px; background: var(--card); border: 1px solid var(--line); border-radius: 14px; padding: 36px }
h1 { margin: 0 0 4px; font-size: 26px; letter-spacing: -.01em } p { margin: 0 0 20px; color: var(--soft) }
h2 { font-size: 15px; margin: 28px 0 8px } ul { list-style: none; margin: 0; padding: 0 } li { padding: 4px 0 }
.mark { display: inline-block; width: 1.4em; font-weight: 700 } .ok .mark { color: var(--good) } .failing .mark, .warning .mark { color: var(--bad) }
a { color: var(--link) } code { font: 14px ui-monospace, monospace } pre { margin: 0; padding: 12px 14px; overflow-x: auto; border: 1px solid var(--line); border-radius: 8px; background: var(--paper) }
@media (max-width: 480px) { main { padding: 24px } }`;

export function homePage(readiness: Readiness, baseUrl: string): string {
  const checks = Object.entries(readiness.checks).map(([name, state]) => {
    const text = CHECK_TEXTS[name as keyof Readiness["checks"]][state];
    return `<li class="${state}"><span class="mark" aria-hidden="true">${state === "ok" ? "✓" : "✕"}</span>${text}</li>`;
  });
  const warnings = readiness.warnings.map(
    ({ message }) =>
      `<li class="warning"><span class="mark" aria-hidden="true">!</span>${escapeHtml(message)}</li>`,
  );
  const isWell = readiness.ready && warnings.length === 0;
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>Postloft</title><meta name="robots" content="noindex"><style>${STYLE}</style></head>
<body><main>
<h1>Postloft</h1>
<p>Transactional mail, campaigns and workflows, on your own machine.</p>
<h2>${isWell ? "This installation is well" : "This installation needs attention"}</h2>
<ul>${[...checks, ...warnings].join("")}</ul>
<h2>Where to go</h2>
<ul><li><a href="/docs">API documentation</a>, to read and to try</li><li><a href="/openapi.json">OpenAPI description</a></li><li><a href="/metrics">Metrics</a> for Prometheus</li></ul>
<h2>First call</h2>
<pre><code>curl ${escapeHtml(baseUrl)}/v1/track \\
  -H "Authorization: Bearer &lt;API key&gt;" \\
  -H "Content-Type: application/json" \\
  -d '{"email": "ada@example.com", "event": "signed-up"}'</code></pre>
</main></body></html>
`;
}

function escapeHtml(text: string): string {
  return text.replace(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`);
}
