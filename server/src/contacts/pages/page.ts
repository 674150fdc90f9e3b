// Writes a public page: one card, one heading, one button. Plain HTML without script or foreign resource, light and dark.
// Before it: subscription-pages.ts says what stands on it. After it: a browser.
import { createHash } from "node:crypto";
import { escapeHtml } from "../../platform/escape-html.ts";
import { fillHtml, fillText, type TextValues } from "./fill-text.ts";
import type { PageTexts } from "./languages/en.ts";
import { directionOf, textsOf, type Locale } from "./locale.ts";

export type TextKey = keyof PageTexts;

export interface PageButton {
  label: TextKey;
  /** Where the form goes, and what it asks for there. */
  target: string;
  action: "subscribe" | "unsubscribe";
  /** `strong` for what the page is for, `quiet` for the way back. */
  weight: "strong" | "quiet";
}

export interface PageContent {
  /** The project's name, where it is known. */
  sender: string | null;
  heading: TextKey;
  text: TextKey;
  /** Something was just done: it is announced. */
  isNews: boolean;
  note: TextKey | null;
  button: PageButton | null;
  link: { label: TextKey; target: string } | null;
}

const STYLE = `
:root { color-scheme: light dark; --ink: #1c2330; --soft: #566072; --paper: #f4f5f7; --card: #fff; --line: #dcdfe5; --strong: #1f5fbf; --on-strong: #fff }
@media (prefers-color-scheme: dark) { :root { --ink: #eceef2; --soft: #aab2c0; --paper: #12151a; --card: #1b1f27; --line: #363d4a; --strong: #8ab8ff; --on-strong: #10131a } }
* { box-sizing: border-box }
body { margin: 0; min-height: 100vh; display: grid; place-items: center; padding: 24px 16px; background: var(--paper); color: var(--ink); font: 17px/1.55 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif }
main { width: 100%; max-width: 480px; padding: 40px 36px 32px; background: var(--card); border: 1px solid var(--line); border-radius: 16px; text-align: center; overflow-wrap: anywhere }
.sender { margin: 0 0 12px; color: var(--soft); font-size: 15px; font-weight: 600 }
h1 { margin: 0 0 12px; font-size: 25px; line-height: 1.25; text-wrap: balance }
p { margin: 0 0 12px; text-wrap: pretty }
.note { color: var(--soft); font-size: 15px }
form { margin: 24px 0 0 }
button { min-height: 48px; min-width: 200px; max-width: 100%; padding: 10px 28px; border: 2px solid var(--strong); border-radius: 10px; background: var(--strong); color: var(--on-strong); font: inherit; font-weight: 600; cursor: pointer }
button.quiet { background: none; color: var(--strong) }
button:hover { filter: brightness(1.08) }
a { display: inline-block; margin-top: 12px; padding: 10px 8px; color: var(--strong); font-size: 15px }
button:focus-visible, a:focus-visible { outline: 3px solid var(--strong); outline-offset: 3px }
@media (max-width: 420px) { main { padding: 32px 22px } button { width: 100% } }
`;

const STYLE_HASH = createHash("sha256").update(STYLE).digest("base64");

/** What every page says to the browser: nothing but this style, forms to this site only, no frame, no trace in search or history. */
export const PAGE_HEADERS = {
  "content-type": "text/html; charset=utf-8",
  "content-security-policy": `default-src 'none'; style-src 'sha256-${STYLE_HASH}'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'`,
  "x-robots-tag": "noindex, nofollow",
  "x-frame-options": "DENY",
  "cross-origin-opener-policy": "same-origin",
} as const;

/** The page in a language. `values` stand for the names in the texts; what is not known there is never asked for. */
export function writePage(locale: Locale, content: PageContent, values: TextValues): string {
  const texts = textsOf(locale);
  const { sender, heading, text, isNews, note, button, link } = content;
  const title = [fillText(texts[heading], values), ...(sender === null ? [] : [sender])].join(" – ");
  return `<!doctype html>
<html lang="${locale}" dir="${directionOf(locale)}"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(title)}</title>
<meta name="robots" content="noindex, nofollow"><meta name="referrer" content="no-referrer">
<style>${STYLE}</style></head>
<body><main>
${sender === null ? "" : `<p class="sender"><bdi>${escapeHtml(sender)}</bdi></p>`}
<div${isNews ? ' role="status"' : ""}><h1>${fillHtml(texts[heading], values)}</h1>
<p>${fillHtml(texts[text], values)}</p></div>
${note === null ? "" : `<p class="note">${fillHtml(texts[note], values)}</p>`}
${button === null ? "" : writeButton(texts, button)}
${link === null ? "" : `<a href="${escapeHtml(link.target)}">${escapeHtml(texts[link.label])}</a>`}
</main></body></html>
`;
}

function writeButton(texts: PageTexts, { label, target, action, weight }: PageButton): string {
  return (
    `<form method="post" action="${escapeHtml(target)}"><input type="hidden" name="action" value="${action}">` +
    `<button type="submit" class="${weight}">${escapeHtml(texts[label])}</button></form>`
  );
}
