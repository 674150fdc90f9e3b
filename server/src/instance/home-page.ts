// Renders `GET /` for people: the state of the installation, the next step and links. Plain HTML without scripts, light and dark.
import { escapeHtml } from "../platform/escape-html.ts";
import type { Readiness } from "./health.ts";
import type { NextStep } from "./next-step.ts";

const CHECK_TEXTS: Readonly<Record<keyof Readiness["checks"], { ok: string; failing: string }>> = {
  database: { ok: "The database is reachable", failing: "The database can't be reached" },
  migrations: {
    ok: "All migrations are applied",
    failing: "Migrations are pending. Restart this process",
  },
  queue: {
    ok: "No delayed emails",
    failing:
      "Emails have been waiting for more than five minutes. Check that a process with the role worker is running",
  },
  disk: {
    ok: "Enough disk space",
    failing: "The disk of the database is full. Nothing new can be stored until you free some space",
  },
};

/** @param step the next step of the setup; null when it is complete or unknown */
export function homePage(readiness: Readiness, step: NextStep | null, staysHere: boolean): string {
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
<title>Postloft</title><meta name="robots" content="noindex"><link rel="icon" type="image/svg+xml" href="/assets/favicon.svg"><link rel="stylesheet" href="/assets/page.css"></head>
<body class="card"><main>
<h1>Postloft</h1>
<p>Transactional email, campaigns and workflows, on your own server.</p>
${step === null ? "" : stepText(step)}
<h2>${isWell ? "All systems OK" : "This server needs attention"}</h2>
<ul>${[...checks, ...warnings].join("")}</ul>
<h2>Links</h2>
<ul class="links"><li><a href="/app">Dashboard</a>: contacts, domains, API keys</li>${staysHere ? '<li><a href="/mailbox">Local mailbox</a>: emails that stay on this machine</li>' : ""}<li><a href="/docs">API documentation</a></li><li><a href="/openapi.json">OpenAPI description</a></li><li><a href="/metrics">Metrics</a> for Prometheus</li></ul>
</main></body></html>
`;
}

function stepText({ title, text, link, api }: NextStep): string {
  const further =
    link === null
      ? ""
      : `<p><a${link.isAction ? ' class="action"' : ""} href="${link.path}">${escapeHtml(link.text)}</a></p>`;
  return `<section class="next"><h2>${escapeHtml(title)}</h2><p>${escapeHtml(text)}</p>${further}${api === null ? "" : shellText(api, link?.isAction === true)}</section>`;
}

/** @param isSecond whether a link does the same, so that the commands are folded */
function shellText({ text, note, commands }: NonNullable<NextStep["api"]>, isSecond: boolean): string {
  const shell = `${note === undefined ? "" : `<p>${escapeHtml(note)}</p>`}<pre><code>${commands.map(escapeHtml).join("\n\n")}</code></pre>`;
  return isSecond
    ? `<details><summary>${escapeHtml(text)}</summary>${shell}</details>`
    : `<p>${escapeHtml(text)}</p>${shell}`;
}
