// Lays out all platform email as HTML and plain text. Pure.
import { escapeHtml } from "../../platform/escape-html.ts";
import type { MailLanguage } from "./mail-language.ts";

/** A paragraph, a list of points, or a quoted text. All are plain text and are escaped here. */
export type PlatformEmailBlock = string | { points: readonly string[] } | { quote: string };

export interface PlatformEmailParts {
  /** Defaults to English. */
  language?: MailLanguage;
  /** Also used as the heading. */
  subject: string;
  blocks: readonly PlatformEmailBlock[];
  /** The call to action. A button in HTML, and a separate line in plain text. */
  action?: { label: string; url: string };
  /** Small print, such as the lifetime of a link or what to do if the email was not expected. */
  footer?: string;
}

export interface PlatformEmailText {
  subject: string;
  text: string;
  html: string;
}

/**
 * Lays out a platform email with the same text in HTML and plain text. The HTML loads and runs nothing. Colors are inline for clients that
 * drop style sheets, and the style sheet overrides them in dark mode.
 */
export function layOutPlatformEmail(parts: PlatformEmailParts): PlatformEmailText {
  const { language = "en", subject, blocks, action, footer } = parts;
  const text = [
    ...blocks.map(blockAsText),
    ...(action === undefined ? [] : [`${action.label}${COLON[language]}\n${action.url}`]),
    ...(footer === undefined ? [] : [`-- \n${footer}`]),
  ];
  const body = [
    `<h1 class="ink" style="margin:0 0 16px;font-size:20px;line-height:28px;color:#1a1c20">${escapeHtml(subject)}</h1>`,
    ...blocks.map(blockAsHtml),
    ...(action === undefined ? [] : [buttonAsHtml(action)]),
    ...(footer === undefined
      ? []
      : [
          `<p class="dim" style="margin:24px 0 0;font-size:13px;line-height:20px;color:#5c6270">${escapeHtml(footer)}</p>`,
        ]),
  ];
  return {
    subject,
    text: `${text.join("\n\n")}\n`,
    html: pageOf(language, escapeHtml(subject), body.join("\n")),
  };
}

/** French puts a non-breaking space before a colon. */
const COLON: Readonly<Record<MailLanguage, string>> = { en: ":", de: ":", fr: "\u00a0:", es: ":" };

function blockAsText(block: PlatformEmailBlock): string {
  if (typeof block === "string") return block;
  return "quote" in block ? block.quote : block.points.map((point) => `- ${point}`).join("\n");
}

const PARAGRAPH = "margin:0 0 16px;font-size:16px;line-height:24px;color:#1a1c20;overflow-wrap:anywhere";

function blockAsHtml(block: PlatformEmailBlock): string {
  if (typeof block === "string") return `<p class="ink" style="${PARAGRAPH}">${escapeHtml(block)}</p>`;
  if ("quote" in block)
    return `<pre class="ink" style="${PARAGRAPH};white-space:pre-wrap;border-left:3px solid #8a91a0;padding-left:12px">${escapeHtml(block.quote)}</pre>`;
  const points = block.points.map((point) => `<li>${escapeHtml(point)}</li>`).join("");
  return `<ul class="ink" style="${PARAGRAPH};padding-left:20px">${points}</ul>`;
}

/** Repeats the address below the button for clients that show no links. */
function buttonAsHtml({ label, url }: { label: string; url: string }): string {
  const address = escapeHtml(url);
  return [
    `<p style="margin:24px 0 12px"><a href="${address}" style="display:inline-block;padding:12px 20px;border-radius:6px;background:#2452c9;color:#ffffff;font-size:16px;font-weight:600;text-decoration:none">${escapeHtml(label)}</a></p>`,
    `<p class="dim" style="margin:0 0 16px;font-size:13px;line-height:20px;color:#5c6270;overflow-wrap:anywhere">${address}</p>`,
  ].join("\n");
}

/** Centers the card with a table, because clients that render with Word support nothing else. */
function pageOf(language: MailLanguage, title: string, body: string): string {
  return `<!doctype html>
<html lang="${language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width,initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="supported-color-schemes" content="light dark">
<title>${title}</title>
<style>
:root { color-scheme: light dark; }
@media (prefers-color-scheme: dark) {
  .page { background: #14161a !important; }
  .card { background: #1f2228 !important; }
  .ink { color: #eceef2 !important; }
  .dim { color: #a6adbb !important; }
}
</style>
</head>
<body class="page" style="margin:0;padding:0;background:#f2f3f6">
<table role="presentation" class="page" width="100%" cellpadding="0" cellspacing="0" style="background:#f2f3f6"><tr><td align="center" style="padding:24px 12px">
<table role="presentation" class="card" width="100%" cellpadding="0" cellspacing="0" style="max-width:560px;background:#ffffff;border-radius:8px"><tr><td style="padding:32px;text-align:left;font-family:system-ui,-apple-system,'Segoe UI',Roboto,Helvetica,Arial,sans-serif">
${body}
</td></tr></table>
</td></tr></table>
</body>
</html>
`;
}
